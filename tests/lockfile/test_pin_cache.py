"""A pin is looked up in the cache: the lockfile is parsed once, and never after it changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry import Catalog, LockError
from registry.base.fs import best_effort_path, read_best_effort, write_best_effort
from registry.base.materials import Material
from registry.lockfile import pin_cache
from registry.lockfile.models import CommitPin, Lock, Pin, parse_lock, write_lock
from registry.lockfile.pin_cache import CatalogPins
from registry.settings import Settings
from tests.lockfile.pins import DIGEST, pin_of

SHA = "0123456789abcdef" * 4
PINS = {
    name: pin_of(
        number,
        sources=(Material(location=f"{name} ü.csv", etag='"e"', size=number, sha256=SHA),),
        columns=("q", "a: b"),
    )
    for number, name in enumerate(["2wiki", "qa", "qa-small"])
}


@pytest.fixture
def path(path: Path) -> Path:
    write_lock(path, Lock(PINS))
    return path


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Collect the lockfiles that are parsed from now on."""
    found: list[bytes] = []

    def counted(data: bytes, file: str) -> Lock:
        found.append(data)
        return parse_lock(data, file)

    monkeypatch.setattr(pin_cache, "parse_lock", counted)
    return found


@pytest.fixture
def read(path: Path, tmp_path: Path) -> Any:
    return lambda name: pin_cache.CachedPins.read(path, tmp_path / "cache").get(name)


def test_all_pins_are_found_with_one_parse_of_the_lockfile(read: Any, parsed: list[bytes]) -> None:
    assert {name: read(name) for name in PINS} == PINS
    assert len(parsed) == 1


@pytest.mark.parametrize("pins", [{}, PINS])
def test_unpinned_dataset_has_no_pin(
    path: Path, read: Any, pins: dict[str, Pin], parsed: list[bytes]
) -> None:
    write_lock(path, Lock(pins))
    for _ in range(2):
        assert [read(name) for name in ("q", "small", "spec", "datasets")] == [None] * 4
    assert len(parsed) == 1


def test_without_a_lockfile_there_is_no_pin_and_nothing_is_cached(
    path: Path, read: Any, tmp_path: Path
) -> None:
    path.unlink()
    assert read("qa") is None
    assert not (tmp_path / "cache").exists()


def test_changed_lockfile_is_detected_immediately(path: Path, read: Any) -> None:
    assert read("qa") == PINS["qa"]
    text = path.read_text(encoding="utf-8").replace("samples: 1\n", "samples: 7\n")
    path.write_text(text, encoding="utf-8")
    assert read("qa").samples == 7
    path.unlink()
    assert read("qa") is None


def test_rewritten_identical_lockfile_is_not_parsed_again(
    path: Path, read: Any, parsed: list[bytes]
) -> None:
    read("qa")
    write_lock(path, Lock(PINS))
    assert read("qa") == PINS["qa"]
    assert len(parsed) == 1


def test_changed_code_causes_the_lockfile_to_be_parsed_again(
    read: Any, parsed: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    read("qa")
    monkeypatch.setattr(pin_cache, "package_version_key", lambda: "other")
    assert read("qa") == PINS["qa"]
    assert len(parsed) == 2


@pytest.mark.parametrize("body", [b"", b"[]\n", b"{}\n", b"null\n", b"x", b'{"key": 1}\n'])
def test_cached_file_of_a_different_format_is_replaced(
    path: Path, tmp_path: Path, read: Any, body: bytes
) -> None:
    read("qa")
    place = best_effort_path(path, tmp_path / "cache", "lock")
    before = read_best_effort(place)
    write_best_effort(place, body)
    assert read("qa") == PINS["qa"]
    assert read_best_effort(place) == before


def test_damaged_cached_file_is_replaced(path: Path, tmp_path: Path, read: Any) -> None:
    read("qa")
    place = best_effort_path(path, tmp_path / "cache", "lock")
    before = place.read_bytes()
    place.write_bytes(before.replace(b'"samples":1', b'"samples":2'))
    assert read("qa") == PINS["qa"]
    assert place.read_bytes() == before


def test_unwritable_cache_does_not_change_results(read: Any, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("no folder", encoding="utf-8")
    assert [read("qa"), read("qa")] == [PINS["qa"]] * 2


@pytest.mark.parametrize("old", ["samples: 1\n", "spec: sha256"])
def test_invalid_lockfile_is_an_error_each_time(path: Path, read: Any, old: str) -> None:
    path.write_text(path.read_text(encoding="utf-8").replace(old, "x: 1\n"), encoding="utf-8")
    for _ in range(2):
        with pytest.raises(LockError, match=r"The lockfile (is invalid|was written)"):
            read("qa")


TABLE = "{source: {type: csv, path: x.csv}}"


def pin(samples: int) -> Pin:
    return pin_of(samples, sources=(Material(location="x.csv", size=1, sha256="0" * 64),))


COMMIT = CommitPin(spec=DIGEST, sources=(Material(location="x", revision="0" * 40),), format=1)


def index(folder: Path, *names: str, include: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    datasets = ", ".join(f"{name}: {TABLE}" for name in names)
    gone = f"gone-from-{folder.name}: {{removed: {{reason: Its server is gone}}}}"
    text = f"version: 1\ninclude: [{include}]\ndatasets: {{{gone}, {datasets}}}\n"
    (folder / "datasets.yaml").write_text(text, encoding="utf-8")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site" / "lock_lib"
    index(folder, "theirs", "both", "commit", "floating")
    (folder / "__init__.py").touch()
    pins = {"theirs": pin(1), "both": pin(2), "mine": pin(3), "gone-from-lock_lib": pin(5)}
    write_lock(folder / "datasets.lock", Lock(pins, {"commit": COMMIT}))
    monkeypatch.syspath_prepend(str(folder.parent))
    return folder


@pytest.fixture
def root(tmp_path: Path, package: Path) -> Path:
    folder = tmp_path / "own"
    index(folder, "mine", include=f"'package:{package.name}'")
    write_lock(folder / "datasets.lock", Lock({"both": pin(4)}))
    return folder


def rows(root: Path) -> Lock:
    catalog = Catalog.open(root)
    return CatalogPins.read(catalog, Settings.from_environment(root=root)).rows(catalog)


def test_a_package_pins_its_own_datasets_alone(root: Path) -> None:
    lock = rows(root)
    assert {name: one.samples for name, one in lock.pins.items()} == {"theirs": 1, "both": 4}
    assert dict(lock.commits) == {"commit": COMMIT}


def test_without_any_lockfile_nothing_is_locked(root: Path, package: Path) -> None:
    (root / "datasets.lock").unlink()
    (package / "datasets.lock").unlink()
    assert rows(root) == Lock()


def test_an_invalid_lockfile_of_a_package_is_an_error_with_its_file(
    root: Path, package: Path
) -> None:
    (package / "datasets.lock").write_text("version: 1\ndatasets: []\n", encoding="utf-8")
    with pytest.raises(LockError, match=r"lock_lib/datasets\.lock:2"):
        rows(root)
