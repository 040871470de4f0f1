"""Settings: arguments before the environment, and the nearest index before the built-in one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from registry.cli import main
from registry.errors import RegistryError
from registry.settings import (
    INDEX_NAME,
    Remote,
    Settings,
    builtin_root,
    deadline_seconds,
    find_root,
    lock_file_of,
    lock_limit,
    most_jobs,
    read_timeout,
    remote_cache,
)

BASE = {"REGISTRY_CACHE_DIR": "/cache"}


def settings(environ: dict[str, str] | None = None, **arguments: Any) -> Settings:
    return Settings.from_environment(environ={**BASE, **(environ or {})}, **arguments)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / INDEX_NAME).write_text("version: 1\n", encoding="utf-8")
    (tmp_path / "a" / "b").mkdir(parents=True)
    return tmp_path


def test_nearest_index_in_parent_folders_is_the_root(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_root(root / "a" / "b") == find_root(root) == root / INDEX_NAME
    (root / "a" / INDEX_NAME).write_text("version: 1\n", encoding="utf-8")
    assert find_root(root / "a" / "b") == root / "a" / INDEX_NAME
    monkeypatch.chdir(root / "a" / "b")
    assert settings().index == root / "a" / INDEX_NAME


def test_folder_with_the_name_of_an_index_is_ignored(root: Path) -> None:
    (root / "a" / INDEX_NAME).mkdir()
    assert find_root(root / "a" / "b") == root / INDEX_NAME
    (root / "a" / "b" / INDEX_NAME).symlink_to("gone")  # but no broken link
    assert find_root(root / "a" / "b") == root / "a" / "b" / INDEX_NAME


def test_built_in_index_is_the_root_without_a_local_index() -> None:
    assert find_root(Path("/")) == builtin_root()
    assert builtin_root().is_file()


def test_argument_takes_precedence_over_the_environment(root: Path) -> None:
    other = {"REGISTRY_ROOT": str(root)}
    assert settings(other).index == root / INDEX_NAME
    assert settings(other, root="/x/datasets.yaml").index == Path("/x/datasets.yaml")
    assert settings({"REGISTRY_ROOT": ""}, root=root).index == root / INDEX_NAME


def test_root_is_a_folder_or_a_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(root))
    monkeypatch.chdir(root)
    assert settings(root=root / "a").index == root / "a" / INDEX_NAME
    assert settings(root="other.yaml").index == Path.cwd() / "other.yaml"
    assert settings(root="~").index == root / INDEX_NAME
    assert settings(root="~nobody-here/x").index == Path.cwd() / "~nobody-here" / "x"
    with pytest.raises(RegistryError, match=r"'a\\x00b' has a NUL, which no path has"):
        settings(root="a\0b")


def test_cache_folder_follows_the_settings(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("XDG_CACHE_HOME", "/home/me/cache")
    monkeypatch.chdir(root)
    assert settings({"REGISTRY_CACHE_DIR": "~/x"}).cache_dir == Path("/home/me/x")
    assert settings({"REGISTRY_CACHE_DIR": "x"}).cache_dir == Path.cwd() / "x"
    assert settings({"REGISTRY_CACHE_DIR": "../x"}).cache_dir == Path.cwd().parent / "x"
    assert settings({"REGISTRY_CACHE_DIR": "/a/../x"}).cache_dir == Path("/x")
    assert settings({"REGISTRY_CACHE_DIR": ""}).cache_dir.name == "registry"


@pytest.mark.parametrize("found", [RuntimeError("could not determine"), "~/.cache/registry"])
def test_cache_without_a_home_folder_must_be_named(
    monkeypatch: pytest.MonkeyPatch, found: str | RuntimeError
) -> None:
    def folder(*_: object, **__: object) -> str:
        if isinstance(found, str):
            return found
        raise found

    monkeypatch.setattr("platformdirs.user_cache_dir", folder)
    with pytest.raises(RegistryError, match=r"no home folder.*set REGISTRY_CACHE_DIR"):
        Settings.from_environment(environ={})


SWITCHES = [
    ("offline", "REGISTRY_OFFLINE"),
    ("offline", "HF_HUB_OFFLINE"),
    ("locked", "REGISTRY_LOCKED"),
    ("frozen", "REGISTRY_FROZEN"),
]


@pytest.mark.parametrize(("field", "variable"), SWITCHES)
@pytest.mark.parametrize(
    ("value", "on"),
    [
        *[(value, True) for value in ("1", "true", "TRUE", "yes", "On")],
        *[(value, False) for value in ("", "0", "false", "no", "Off")],
    ],
)
def test_switches_are_read_from_the_environment(
    field: str, variable: str, value: str, on: bool
) -> None:
    made = settings({variable: value})
    assert getattr(made, field) is on
    assert [one for one in ("offline", "locked", "frozen") if getattr(made, one)] == [field] * on
    if variable == "HF_HUB_OFFLINE":  # of another package, for which any other value is off
        assert not settings({variable: f"{value}2"}).offline
    else:
        with pytest.raises(RegistryError, match=f"{variable} is neither on nor off: '{value}2'"):
            settings({variable: f"{value}2"})


@pytest.mark.parametrize(("field", "variable"), SWITCHES)
def test_switch_as_argument_takes_precedence(field: str, variable: str) -> None:
    assert getattr(settings({variable: "1"}, **{field: False}), field) is False
    assert getattr(settings({variable: "0"}, **{field: True}), field) is True


def test_lockfile_is_next_to_its_index() -> None:
    assert lock_file_of(Path("/x/datasets.yaml")) == Path("/x/datasets.lock")
    assert settings(root="/x/other.yml").lock_file == Path("/x/other.lock")


@pytest.mark.parametrize("given", ["8MB", "-1", "1.5", "٣", "9" * 400])
def test_a_limit_that_is_no_number_is_an_error(given: str) -> None:
    message = f"REGISTRY_MAX_LOCK_MIB is not a whole number from 0 to 999999999: '{given}'"
    with pytest.raises(RegistryError, match=re.escape(message)):
        lock_limit({"REGISTRY_MAX_LOCK_MIB": given})
    assert lock_limit({"REGISTRY_MAX_LOCK_MIB": ""}) == lock_limit({}) == 8 << 20
    assert lock_limit({"REGISTRY_MAX_LOCK_MIB": "9"}) == 9 << 20


def test_processes_of_a_build_are_as_many_as_cores_unless_they_are_set() -> None:
    assert most_jobs({"REGISTRY_JOBS": "3"}) == 3
    assert most_jobs({}) == most_jobs({"REGISTRY_JOBS": ""}) >= 1
    default = re.escape(f"'0' (the default is {most_jobs({})})")
    with pytest.raises(RegistryError, match=f"JOBS is not a whole number from 1 to.*{default}"):
        most_jobs({"REGISTRY_JOBS": "0"})


def test_a_size_of_any_length_is_a_size_or_an_error() -> None:
    assert settings({"REGISTRY_CACHE_SIZE": "1.5gib"}).cache_size == 3 << 29
    assert settings({"REGISTRY_CACHE_SIZE": f"{'9' * 15}TB"}).cache_size == pytest.approx(1e27)
    for given in ("20", "GB", "1.GB", "1e3MB", f"{'9' * 400}TB"):
        with pytest.raises(RegistryError, match=f"REGISTRY_CACHE_SIZE: '{given}' is not a size"):
            settings({"REGISTRY_CACHE_SIZE": given})


def test_a_working_folder_that_was_removed_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(RegistryError, match=r"working folder.*\(change to a folder that exists\)"):
        settings(root="/x")
    for command in ("init", "init x", "import x.py", "receipt x"):
        assert main(command.split()) == 1
        assert "change to a folder that exists" in capsys.readouterr().err


def test_times_of_the_network_are_settings() -> None:
    assert (deadline_seconds({}), read_timeout({})) == (1800, 60)
    given = {"REGISTRY_DEADLINE": "5", "REGISTRY_READ_TIMEOUT": "2"}
    assert (deadline_seconds(given), read_timeout(given)) == (5, 2)
    with pytest.raises(
        RegistryError, match="REGISTRY_READ_TIMEOUT is not a whole number from 1 to"
    ):
        read_timeout({"REGISTRY_READ_TIMEOUT": "0"})  # clients disagree on what it would mean


KEY = "0123456789abcdef"


def test_remote_cache_is_none_unless_it_is_named() -> None:
    assert remote_cache({}) is None
    assert remote_cache({"REGISTRY_REMOTE_CACHE": "", "REGISTRY_REMOTE_TRUST": "ci"}) is None
    assert remote_cache({"REGISTRY_REMOTE_CACHE": "s3://b"}) == Remote(url="s3://b")


def test_remote_cache_with_writers() -> None:
    found = remote_cache(
        {
            "REGISTRY_REMOTE_CACHE": "/shared",
            "REGISTRY_REMOTE_TRUST": "ci, nightly_2,anyone",
            "REGISTRY_REMOTE_WRITER": "ci",
            "REGISTRY_REMOTE_KEY_CI": KEY,
            "REGISTRY_REMOTE_KEY_NIGHTLY_2": KEY[::-1],
            "REGISTRY_REMOTE_TIMEOUT": "5",
        }
    )
    assert found == Remote(
        url="/shared",
        keys=(("ci", KEY), ("nightly_2", KEY[::-1])),
        trusts_all=True,
        signs_as=("ci", KEY),
        seconds=5,
    )


@pytest.mark.parametrize("setting", ["TRUST", "WRITER"])
@pytest.mark.parametrize(
    ("name", "key", "message"),
    [
        ("ci", "", "REGISTRY_REMOTE_KEY_CI has no key of at least 16 characters"),
        ("ci", "short", "REGISTRY_REMOTE_KEY_CI has no key of at least 16 characters"),
        ("CI", KEY, "has the name 'CI'"),
        ("c-i", KEY, "has the name 'c-i'"),
    ],
)
def test_writers_need_a_name_and_a_key(setting: str, name: str, key: str, message: str) -> None:
    environ = {"REGISTRY_REMOTE_CACHE": "/s", f"REGISTRY_REMOTE_{setting}": name}
    with pytest.raises(RegistryError, match=message) as raised:
        remote_cache({**environ, "REGISTRY_REMOTE_KEY_CI": key})
    assert not key or key not in str(raised.value)
