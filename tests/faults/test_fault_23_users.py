"""A second user gets a clear error, or in a shared folder does all that the first one may do."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.conftest import CatalogRoot
from tests.faults.background import finish, start
from tests.faults.users import as_user

FIRST, SECOND, GROUP = 65531, 65532, 65530
CATALOG = """
datasets:
  data:
    source: {type: json, path: d.jsonl}
    fields: {input: q, choices: c, target: a}
    shuffle: true
    seed: 1
"""
RECORDS = [{"q": f"question {n}", "c": ["x", "y"], "a": "A"} for n in range(50)]

Run = Callable[..., tuple[int, str, str]]
"""Runs the command line as a user, with a umask."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder that every user of this machine can enter and write."""
    folder = Path(tempfile.mkdtemp(prefix="registry-tests-"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> dict[int | None, list[str]]:
    """Return the command prefix that runs a program as each user; None is root."""
    folder = tmp_path_factory.mktemp("users")
    return {None: [], **{user: as_user(user, GROUP, folder) for user in (FIRST, SECOND)}}


@pytest.fixture
def run(
    users: Mapping[int | None, list[str]],
    folder: Path,
    catalog_root: CatalogRoot,
    monkeypatch: pytest.MonkeyPatch,
) -> Run:
    """Run the command line on a catalog that all users can read, with one cache."""
    root = catalog_root({"all": CATALOG})
    (root / "d.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in RECORDS), "utf-8")
    shared = shutil.copytree(root, folder / "catalog")
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(folder / "cache"))
    monkeypatch.setenv("HOME", str(folder))

    def run(user: int | None, umask: int, *arguments: str, **environ: str) -> tuple[int, str, str]:
        command = f'umask {umask:o} && exec "$@"'
        before = [*users[user], "sh", "-c", command, "sh"]
        found = finish(start(["-m", "registry", *arguments], shared, before=before, **environ))
        assert found[0] in (0, 1), found
        assert "Traceback" not in found[2]
        return found

    return run


COMMANDS = [
    ["sync", "--json"],
    ["preview", "data"],
    ["sync", "--refresh"],
    ["lock", "--check"],
    ["cache", "list"],
    ["cache", "clear", "--yes"],
]


@pytest.mark.parametrize("owner", [None, FIRST], ids=["root", "user"])
def test_second_user_of_a_private_cache_is_told_what_to_do(
    run: Run, folder: Path, owner: int | None, *, thorough: bool
) -> None:
    assert run(owner, 0o077, "sync")[0] == 0
    before = sorted(folder.rglob("*"))
    for command in COMMANDS if thorough else COMMANDS[:2]:
        code, out, err = run(SECOND, 0o077, *command)
        assert code == 1, (command, out, err)
        assert str(folder / "cache") in out + err, (command, out, err)
        assert "REGISTRY_CACHE_DIR" in out + err, (command, out, err)
    assert sorted(folder.rglob("*")) == before
    assert run(SECOND, 0o077, "sync", REGISTRY_CACHE_DIR=str(folder / "own"))[0] == 0


def test_cache_in_a_closed_folder_is_a_clear_error(
    run: Run, folder: Path, *, thorough: bool
) -> None:
    closed = folder / "home"
    closed.mkdir(mode=0o700)
    for command in COMMANDS if thorough else COMMANDS[:1]:
        code, out, err = run(SECOND, 0o077, *command, REGISTRY_CACHE_DIR=str(closed / "cache"))
        assert code == 1, (command, out, err)
        assert "REGISTRY_CACHE_DIR" in out + err, (command, out, err)


@pytest.mark.parametrize("umask", [0o002, 0o077], ids=oct)
def test_members_of_a_group_share_a_cache(
    run: Run, folder: Path, umask: int, monkeypatch: pytest.MonkeyPatch, *, thorough: bool
) -> None:
    if umask == 0o002 and not thorough:
        pytest.skip("one umask without `make faults`")
    monkeypatch.setenv("REGISTRY_CACHE_GROUP", "1")

    def status(user: int, *arguments: str, healed: bool = False) -> str:
        code, out, err = run(user, umask, "sync", "--json", *arguments)
        assert (code, "moved to the quarantine" in err, len(err.splitlines())) == (
            0,
            healed,
            healed,
        )
        return str(json.loads(out)[0]["status"])

    assert status(FIRST) == "built"
    assert status(SECOND, "--refresh") == "built"
    assert status(FIRST) == "cached"
    # Somebody else's damaged entries are moved away and built again.
    damaged = ["samples/*/samples.arrow", "views/*/rows.npy", "samples/*/meta.json"]
    for pattern in damaged if thorough else damaged[:1]:
        (path,) = (folder / "cache").glob(f"v*/{pattern}")
        os.truncate(path, path.stat().st_size // 2)
        other = FIRST if path.stat().st_uid == SECOND else SECOND
        assert status(other, healed=True) == ("cached" if "views" in pattern else "built")
    (left,) = (folder / "cache").glob("v*/tmp")
    (left / "of-a-killed-process").mkdir()
    os.chown(left / "of-a-killed-process", FIRST, GROUP)
    for command in (["cache", "prune"], ["cache", "clear", "--yes"]):
        code, out, err = run(SECOND, umask, *command)
        assert code == 0, (command, out, err)
        assert list(left.iterdir()) == []
    assert list((folder / "cache").glob("v*/samples/*")) == []
    assert status(FIRST) == "built"
