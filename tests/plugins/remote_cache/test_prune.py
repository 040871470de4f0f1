"""What is removed from a remote cache, and what nobody may remove."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from registry.cache.cache import Cache
from registry.plugins.remote_cache.prune import prune_remote
from tests.cache.entries import key
from tests.plugins.remote_cache.test_remote_cache import (
    DAY,
    ENTRIES,
    FINGERPRINT,
    STORED,
    entry,
    remote,
)


def write(pruned: Path, name: str, days: float) -> None:
    path = pruned / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    os.utime(path, (time.time() - days * DAY,) * 2)


@pytest.fixture
def pruned(tmp_path: Path) -> Path:
    """Give a remote cache with entries of 40 and 3 days, one that was never finished, and more."""
    pruned = tmp_path / "remote"
    for days, name in ((40, "old"), (3, "new")):
        write(pruned, f"{ENTRIES}/{key(name)}/{STORED}", days)
        write(pruned, f"{ENTRIES}/{key(name)}/entry.json", days)
    write(pruned, f"{ENTRIES}/{key('unfinished')}/{STORED}.{'0' * 32}.part", 2)
    write(pruned, f"{ENTRIES}/{key('uploading')}/{STORED}", 0.5)
    write(pruned, f"v1/samples/{key('older format')}/entry.json", 100)
    write(pruned, "notes/of somebody.txt", 1000)
    write(pruned, "v3/other/file", 1000)
    write(pruned, "v1/samples/raw/a.csv", 1000)
    write(pruned, f"v1/samples/{key('old')}/notes.txt", 1000)
    write(pruned, f"mine/v1/samples/{key('old')}/entry.json", 1000)
    return pruned


def names(pruned: Path) -> set[str]:
    return {path.relative_to(pruned).as_posix() for path in pruned.rglob("*") if path.is_file()}


def test_old_entries_and_unfinished_ones_are_removed(pruned: Path) -> None:
    before = names(pruned)
    planned = prune_remote(remote(pruned), older=30 * DAY, dry_run=True)
    assert names(pruned) == before
    removed = prune_remote(remote(pruned), older=30 * DAY)
    assert removed == planned
    expected = [
        f"v1/samples/{key('older format')}/entry.json",
        f"{ENTRIES}/{key('unfinished')}/{STORED}.{'0' * 32}.part",
        f"{ENTRIES}/{key('old')}/entry.json",  # before what it describes
        f"{ENTRIES}/{key('old')}/{STORED}",
    ]
    assert sorted(one.name for one in removed) == sorted(expected)
    old = [one.name for one in removed if key("old") in one.name]
    assert old == expected[2:]
    assert before - names(pruned) == {one.name for one in removed}


def test_an_entry_of_which_a_part_is_new_stays(pruned: Path) -> None:
    write(pruned, f"{ENTRIES}/{key('old')}/entry.json", 1)
    removed = prune_remote(remote(pruned), older=30 * DAY)
    assert not any(f"{ENTRIES}/{key('old')}/" in one.name for one in removed)


def test_an_upload_that_may_still_run_stays(pruned: Path) -> None:
    removed = prune_remote(remote(pruned), older=0)
    assert not any(key("uploading") in one.name for one in removed)
    assert {key("old"), key("new"), key("unfinished")} <= {
        one.name.split("/")[2] for one in removed
    }


def test_what_was_pushed_again_is_young(tmp_path: Path, pruned: Path) -> None:
    one = remote(pruned)
    one.push(entry(tmp_path))
    for path in pruned.rglob("*"):
        os.utime(path, (time.time() - 40 * DAY,) * 2)
    one.push(entry(tmp_path), replace=True)
    prune_remote(one, older=30 * DAY)
    assert one.find(FINGERPRINT, pinned=2, dataset="d") is not None


def test_an_old_pack_stays_while_a_newer_index_names_it(tmp_path: Path) -> None:
    folder = tmp_path / "remote"
    folder.mkdir()
    one, own, cache = remote(folder), entry(tmp_path), Cache(tmp_path / "writer")
    one.pack([own], lock="1" * 64, cache=cache)
    for path in folder.rglob("*"):
        os.utime(path, (time.time() - 40 * DAY,) * 2)
    # The same samples are the same pack, which is not stored again.
    assert one.pack([own], lock="2" * 64, cache=cache).objects == 1
    assert [one.name.rpartition("/")[2] for one in prune_remote(one, older=30 * DAY)] == [
        f"{'1' * 64}.json"
    ]
    assert one.find(FINGERPRINT, pinned=2, dataset="d") is not None
    for path in folder.rglob("*"):
        os.utime(path, (time.time() - 40 * DAY,) * 2)
    assert len(prune_remote(one, older=30 * DAY)) == 3
    assert not any(path.is_file() for path in folder.rglob("*"))
