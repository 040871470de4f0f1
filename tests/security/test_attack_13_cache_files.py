"""Attack 13: another user of the machine reads or writes the files of the cache."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import Ran, run_each
from tests.conftest import Https
from tests.faults.users import as_user
from tests.git_repository import write_files

DATA = b"input,target\nOne?,1\nTwo?,2\n"
NOBODY = 65534


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder that every user can reach."""
    made = Path(tempfile.mkdtemp(prefix="registry-tests-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def catalog(folder: Path, https: Https) -> Path:
    """Return a catalog of a local and a remote file, which fills all parts of the cache."""
    url = https.put("/remote.csv", DATA, etag="1")
    manifest = (
        "datasets:\n  local: {source: {type: csv, path: local.csv}}\n"
        f"  remote: {{source: {{type: csv, path: '{url}'}}}}\n"
        "  shuffled: {extends: remote, shuffle: true, seed: 1}\n"
    )
    index = "version: 1\ninclude: [m/*.yaml]\n"
    files: dict[str, str | bytes] = {
        "m/a.yaml": manifest,
        "datasets.yaml": index,
        "local.csv": DATA,
    }
    return write_files(folder / "catalog", files)


def run(catalog: Path, umask: int, *commands: str, **variables: str) -> Ran:
    return run_each(
        catalog,
        [line.split() for line in commands],
        environment={"REGISTRY_CACHE_DIR": str(catalog.parent / "cache"), **variables},
        before=f"__import__('os').umask({umask})",
    )


def modes(cache: Path) -> dict[str, set[int]]:
    """Return the modes of the folders and of the files of a cache, with those of its parts."""
    found: dict[str, set[int]] = {"folder": {stat.S_IMODE(cache.stat().st_mode)}, "file": set()}
    for path in cache.rglob("*"):
        kind = "folder" if path.is_dir() else "file"
        found[kind].add(stat.S_IMODE(path.stat().st_mode))
    return found


def fill(catalog: Path, umask: int, **variables: str) -> Path:
    """Write each kind of file to the cache."""
    done = run(catalog, umask, "validate", "sync", "lock", "sync --refresh", "list", **variables)
    assert done.code == 0, done.text
    cache = catalog.parent / "cache"
    parts = {path.name for path in cache.glob("v*/*")}
    assert {"blobs", "index", "locks", "samples", "sources", "tmp", "views"} <= parts
    return cache


@pytest.mark.parametrize("umask", [0o000, 0o077], ids=oct)
@pytest.mark.parametrize(
    ("variables", "folder_mode", "file_mode"),
    [({}, 0o700, 0o600), ({"REGISTRY_CACHE_GROUP": "1"}, 0o2770, 0o660)],
    ids=["private", "shared by a group on request"],
)
def test_the_modes_of_the_cache_do_not_depend_on_the_umask(
    catalog: Path, umask: int, variables: dict[str, str], folder_mode: int, file_mode: int
) -> None:
    found = modes(fill(catalog, umask, **variables))
    assert found == {"folder": {folder_mode}, "file": {file_mode}}


def test_a_cache_that_everyone_can_write_is_refused(catalog: Path) -> None:
    cache = catalog.parent / "cache"
    cache.mkdir()
    cache.chmod(0o777)
    for verb in ("sync", "validate", "preview local", "cache list"):
        done = run(catalog, 0o022, verb)
        assert done.code == 1, (verb, done)
        assert "is writable by every user of this machine" in done.err
        assert "chmod o-w" in done.err
    assert list(cache.iterdir()) == []


def test_another_user_reads_nothing(catalog: Path, tmp_path: Path) -> None:
    prefix = as_user(NOBODY, NOBODY, tmp_path)
    cache = fill(catalog, 0o000)
    found = subprocess.run(
        [*prefix, "find", str(cache), "-type", "f"], capture_output=True, check=False
    )
    assert found.stdout == b""
    assert b"Permission denied" in found.stderr


def test_a_cache_that_another_user_prepared_is_refused(catalog: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder to another user")
    cache = fill(catalog, 0o022)
    os.chown(cache, NOBODY, -1)
    # Root runs this test, and root may not trust it either.
    done = run(catalog, 0o022, "preview local --offline")
    assert done.code == 1
    assert "belongs to another user (if you trust its owner and group" in done.err
    trusting = run(catalog, 0o022, "preview local --offline", REGISTRY_CACHE_GROUP="1")
    assert trusting.code == 0, trusting.err


def test_a_member_of_the_group_uses_the_cache(catalog: Path, tmp_path: Path) -> None:
    prefix = as_user(NOBODY, os.getgid(), tmp_path)
    fill(catalog, 0o022, REGISTRY_CACHE_GROUP="1")
    command = [*prefix, sys.executable, "-I", "-m", "registry", "preview", "remote", "--offline"]
    cache = {"REGISTRY_CACHE_DIR": str(catalog.parent / "cache"), "REGISTRY_CACHE_GROUP": "1"}
    how: dict[str, Any] = {"cwd": catalog, "env": {**os.environ, **cache}, "umask": 0o077}
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", timeout=120, check=False, **how
    )
    assert done.returncode == 0, done.stderr
    assert "One?" in done.stdout
