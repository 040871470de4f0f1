"""Old entries are removed, and nothing else."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from registry.cache.remote.prune import prune_shared
from tests.cache.remote.test_shared_cache import FINGERPRINT, entry, shared

DAY = 24 * 60 * 60


def write(folder: Path, name: str, days: float) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    os.utime(path, (time.time() - days * DAY,) * 2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a shared cache with entries of 40 and 3 days, one that was never finished, and more."""
    folder = tmp_path / "shared"
    for days, key in ((40, "old"), (3, "new")):
        write(folder, f"v2/samples/{key}/a.arrow", days)
        write(folder, f"v2/samples/{key}/entry.json", days)
    write(folder, "v2/samples/unfinished/a.arrow", 2)
    write(folder, "v2/samples/uploading/a.arrow", 0.5)
    write(folder, "v1/samples/older format/entry.json", 100)
    write(folder, "notes/of somebody.txt", 1000)
    write(folder, "v2/other/file", 1000)
    return folder


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_old_entries_and_unfinished_ones_are_removed(folder: Path) -> None:
    before = names(folder)
    planned = prune_shared(shared(folder), older=30 * DAY, dry_run=True)
    assert names(folder) == before
    removed = prune_shared(shared(folder), older=30 * DAY)
    assert removed == planned
    assert [one.name for one in removed] == [
        "v1/samples/older format/entry.json",
        "v2/samples/old/entry.json",  # before what it describes
        "v2/samples/old/a.arrow",
        "v2/samples/unfinished/a.arrow",
    ]
    assert before - names(folder) == {one.name for one in removed}


def test_an_entry_of_which_a_part_is_new_stays(folder: Path) -> None:
    write(folder, "v2/samples/old/entry.json", 1)
    removed = prune_shared(shared(folder), older=30 * DAY)
    assert not any("v2/samples/old/" in one.name for one in removed)


def test_what_was_pushed_again_is_young(tmp_path: Path, folder: Path) -> None:
    one = shared(folder)
    one.push(entry(tmp_path))
    for path in folder.rglob("*"):
        os.utime(path, (time.time() - 40 * DAY,) * 2)
    one.push(entry(tmp_path), replace=True)
    prune_shared(one, older=30 * DAY)
    assert one.find(FINGERPRINT, pinned=2) is not None
