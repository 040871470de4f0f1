"""Old entries are removed, and nothing else."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from registry.plugins.remote_cache.prune import prune_remote
from tests.cache.entries import key
from tests.plugins.remote_cache.test_remote_cache import FINGERPRINT, entry, remote

DAY = 24 * 60 * 60
ENTRIES = "v2/samples"
SAMPLES = f"{'a' * 64}.arrow"


def write(folder: Path, name: str, days: float) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    os.utime(path, (time.time() - days * DAY,) * 2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a remote cache with entries of 40 and 3 days, one that was never finished, and more."""
    folder = tmp_path / "remote"
    for days, name in ((40, "old"), (3, "new")):
        write(folder, f"{ENTRIES}/{key(name)}/{SAMPLES}", days)
        write(folder, f"{ENTRIES}/{key(name)}/entry.json", days)
    write(folder, f"{ENTRIES}/{key('unfinished')}/{SAMPLES}.{'0' * 32}.part", 2)
    write(folder, f"{ENTRIES}/{key('uploading')}/{SAMPLES}", 0.5)
    write(folder, f"v1/samples/{key('older format')}/entry.json", 100)
    write(folder, "notes/of somebody.txt", 1000)
    write(folder, "v2/other/file", 1000)
    write(folder, "v1/samples/raw/a.csv", 1000)
    write(folder, f"v1/samples/{key('old')}/notes.txt", 1000)
    write(folder, f"mine/v1/samples/{key('old')}/entry.json", 1000)
    return folder


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_old_entries_and_unfinished_ones_are_removed(folder: Path) -> None:
    before = names(folder)
    planned = prune_remote(remote(folder), older=30 * DAY, dry_run=True)
    assert names(folder) == before
    removed = prune_remote(remote(folder), older=30 * DAY)
    assert removed == planned
    expected = [
        f"v1/samples/{key('older format')}/entry.json",
        f"{ENTRIES}/{key('unfinished')}/{SAMPLES}.{'0' * 32}.part",
        f"{ENTRIES}/{key('old')}/entry.json",  # before what it describes
        f"{ENTRIES}/{key('old')}/{SAMPLES}",
    ]
    assert sorted(one.name for one in removed) == sorted(expected)
    old = [one.name for one in removed if key("old") in one.name]
    assert old == expected[2:]
    assert before - names(folder) == {one.name for one in removed}


def test_an_entry_of_which_a_part_is_new_stays(folder: Path) -> None:
    write(folder, f"{ENTRIES}/{key('old')}/entry.json", 1)
    removed = prune_remote(remote(folder), older=30 * DAY)
    assert not any(f"{ENTRIES}/{key('old')}/" in one.name for one in removed)


def test_an_upload_that_may_still_run_stays(folder: Path) -> None:
    removed = prune_remote(remote(folder), older=0)
    assert not any(key("uploading") in one.name for one in removed)
    assert {key("old"), key("new"), key("unfinished")} <= {
        one.name.split("/")[2] for one in removed
    }


def test_what_was_pushed_again_is_young(tmp_path: Path, folder: Path) -> None:
    one = remote(folder)
    one.push(entry(tmp_path))
    for path in folder.rglob("*"):
        os.utime(path, (time.time() - 40 * DAY,) * 2)
    one.push(entry(tmp_path), replace=True)
    prune_remote(one, older=30 * DAY)
    assert one.find(FINGERPRINT, pinned=2, dataset="d") is not None
