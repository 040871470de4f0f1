"""Pruning removes what a crash left behind and what is selected, clearing everything."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from unittest.mock import Mock

import pytest

from registry.base.fs import write_cached
from registry.cache import housekeeping
from registry.cache.cache import Cache
from registry.cache.contents import Item, contents, paths_of
from registry.cache.housekeeping import (
    DAY,
    Removal,
    clear,
    keep_to_size,
    prune,
    prune_old_leftovers,
)
from registry.errors import CacheError
from registry.progress import Deadline, Report, silent
from tests.cache.entries import HOUR, age, blob, export, key, leave, records, samples, view


def working(cache: Cache, key: str) -> AbstractContextManager[Report]:
    return cache.working("samples", key, dataset="d", report=silent, deadline=Deadline())


def names(removal: Removal) -> set[str]:
    return {one.name for one in removal.removed}


# --- what a crash left ---


def test_leftovers_of_any_age_are_pruned(cache: Cache) -> None:
    entry = samples(cache, "a")
    write_cached(cache.versioned / "sources" / "1.json", lambda file: file.write(b"{}"))
    left = leave(cache.versioned, 0)
    removal = prune(cache, dry_run=True)
    assert removal.bytes == 4 * len(left)
    assert all(path.exists() for path in left.values())
    assert names(prune(cache)) == {path.name for path in left.values()} == names(removal)
    assert not any(path.exists() for path in left.values())
    assert entry.is_dir()
    assert (cache.versioned / "sources" / "1.json").exists()
    assert prune(cache).removed == []


@pytest.mark.parametrize(("hours", "is_left"), [(23, True), (25, False)])
def test_a_day_is_waited_where_nobody_asked(cache: Cache, hours: int, is_left: bool) -> None:
    housekeeping.prune_old_leftovers(cache)
    left = leave(cache.versioned, hours * HOUR)
    housekeeping.prune_old_leftovers(cache)
    assert {path.exists() for path in left.values()} == {is_left}


def test_a_folder_is_as_old_as_the_newest_file_in_it(cache: Cache) -> None:
    folder = leave(cache.versioned, 25 * HOUR)["folder of a build"]
    age(folder / "samples.narrow", HOUR)
    age(folder, 25 * HOUR)
    housekeeping.prune_old_leftovers(cache)
    assert [path.name for path in (cache.versioned / "tmp").iterdir()] == [folder.name]


@pytest.mark.parametrize("remove", [prune, clear])
def test_what_a_running_process_holds_stays(
    cache: Cache, remove: Callable[[Cache], Removal]
) -> None:
    with cache.temporary() as folder, working(cache, "ab"):
        (folder / "file").write_bytes(b"")
        removal = remove(cache)
        assert (folder / "file").exists()
        assert len(removal.in_use) == 2
        assert removal.errors == {}
    assert names(prune(cache)) == {"samples-ab.lock"}


def test_links_are_removed_without_what_they_lead_to(cache: Cache, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_bytes(b"")
    link = cache.versioned / "tmp" / "link"
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "kept")
    os.utime(link, (0, 0), follow_symlinks=False)  # whether it is held can't be told
    assert names(prune(cache)) == {"link"}
    assert (tmp_path / "kept" / "file").exists()


# --- what is selected ---


def fill(cache: Cache) -> dict[str, Path]:
    """Write entries that were used 1, 2, … hours ago, of 1,000 bytes and their metadata."""
    paths = {
        "samples a": samples(cache, "a"),
        "samples b": samples(cache, "b"),
        "records": records(cache, "r"),
        "blob": blob(cache, b"x" * 1000),
        "export": export(cache, "e", of="a"),
    }
    for hours, path in enumerate(paths.values(), 1):
        age(path / "meta.json" if path.is_dir() else path, hours * HOUR)
    paths["view of b"] = view(cache, "v", of="b")
    age(paths["view of b"] / "meta.json", 1.5 * HOUR)
    return paths


def left_after(cache: Cache, paths: dict[str, Path], removal: Removal) -> list[str]:
    assert removal.errors == {}
    left = [name for name, path in paths.items() if path.exists()]
    assert names(removal) == {path.name for name, path in paths.items() if name not in left}
    return left


@pytest.mark.parametrize(
    ("hours", "left"),
    [
        (6, ["samples a", "samples b", "records", "blob", "export", "view of b"]),
        (4.5, ["samples a", "samples b", "records", "blob", "view of b"]),
        (3.5, ["samples a", "samples b", "records", "view of b"]),
        (1.7, ["samples a", "samples b", "view of b"]),  # the view was used since
        (1.2, ["samples a"]),
        (0, []),
    ],
)
def test_what_was_not_used_for_a_time_is_pruned(
    cache: Cache, hours: float, left: list[str]
) -> None:
    paths = fill(cache)
    assert left_after(cache, paths, prune(cache, older=hours * HOUR)) == left


@pytest.mark.parametrize(("kept", "left"), [(9, 5), (4, 4), (3, 3), (2, 1), (1, 0), (0, 0)])
def test_what_was_used_last_is_kept_up_to_a_size(cache: Cache, kept: int, left: int) -> None:
    paths = fill(cache)
    removal = prune(cache, keep_size=kept * 2000)
    order = ["samples a", "samples b", "view of b", "records", "blob", "export"]
    found = left_after(cache, paths, removal)
    assert sum(item.total for item in contents(cache)) <= kept * 2000
    assert [name for name in order if name in found] == order[: len(found)]
    assert len(found) >= left


def test_a_size_is_kept_by_what_was_not_used_for_two_hours(cache: Cache) -> None:
    paths = fill(cache)
    leftovers = leave(cache.versioned, 3 * HOUR)
    size = sum(item.total for item in contents(cache))
    removal, left_bytes = keep_to_size(cache, size)
    assert (removal.removed, left_bytes) == ([], size)
    removal, left_bytes = keep_to_size(cache, 0)
    assert [one.kind for one in removal.removed] == ["exports", "blobs", "records"]
    assert left_bytes == sum(item.total for item in contents(cache)) > 0
    assert all(path.exists() for path in leftovers.values())
    left = [name for name, path in paths.items() if path.exists()]
    assert left == ["samples a", "samples b", "view of b"]


def test_what_is_not_referenced_is_pruned(cache: Cache) -> None:
    paths = fill(cache)

    def is_referenced(item: Item) -> bool:
        return item.kind == "records" or item.key == key("b")

    removal = prune(cache, is_referenced=is_referenced)
    assert left_after(cache, paths, removal) == ["samples b", "records", "view of b"]
    assert {one.reason for one in removal.removed} == {"no dataset of the catalog uses it"}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(50, "less than a minute"), (90, "1 minute"), (7200, "2 hours"), (30 * 86_400, "30 days")],
)
def test_reason_has_the_time_in_a_unit_that_fits(cache: Cache, seconds: int, text: str) -> None:
    used = time.time() - seconds - 0.5
    os.utime(samples(cache, "a") / "meta.json", (used, used))
    (removed,) = prune(cache, older=0).removed
    assert removed.reason == f"not used for {text}"


def test_a_dry_run_lists_the_same_and_removes_nothing(cache: Cache) -> None:
    paths = fill(cache)
    planned = prune(cache, older=0, dry_run=True)
    assert all(path.exists() for path in paths.values())
    assert prune(cache, older=0).removed == planned.removed


def test_an_entry_that_is_being_made_is_kept(cache: Cache) -> None:
    entry = samples(cache, "a")
    with working(cache, key("a")):
        assert entry in prune(cache, older=0).in_use
    assert entry.exists()


def test_open_files_of_a_pruned_entry_can_be_read(cache: Cache) -> None:
    with (samples(cache, "a") / "file").open("rb") as opened:
        prune(cache, older=0)
        assert opened.read() == b"x" * 1000
    assert contents(cache) == []
    assert list((cache.versioned / "tmp").iterdir()) == []


# --- clear ---


def test_clearing_removes_everything_also_of_older_formats(cache: Cache) -> None:
    assert clear(cache).bytes == 0
    fill(cache)
    leave(cache.versioned, 0)
    for name in ("v0", "v99", "vx"):
        (cache.root / name / "samples").mkdir(parents=True)
        (cache.root / name / "samples" / "file").write_bytes(b"12345")
    size = 5 + sum(path.stat().st_size for path in cache.versioned.rglob("*") if path.is_file())
    removal = clear(cache)
    assert removal.bytes == size
    assert removal.newer == [cache.root / "v99"]
    left = [path for path in cache.root.rglob("*") if path.is_file()]
    # A newer release may use its own format now.
    assert sorted(path.parts[-3] for path in left) == ["v99", "vx"]


def test_chosen_items_are_cleared_with_their_views(cache: Cache) -> None:
    paths = fill(cache)
    chosen = [item for item in contents(cache) if item.key == key("b")]
    removal = housekeeping.clear_items(cache, chosen)
    assert left_after(cache, paths, removal) == ["samples a", "records", "blob", "export"]
    assert removal.bytes == chosen[0].total


@pytest.fixture
def removal(cache: Cache) -> Removal:
    cache.versioned.mkdir(parents=True)
    return Removal(folder=cache.versioned)


def test_an_item_is_removed_with_its_views(cache: Cache, removal: Removal) -> None:
    paths = [samples(cache, "a"), view(cache, "v", of="a")]
    (item,) = contents(cache)
    removal.remove_item(item, "why")
    assert [(one.kind, one.dataset, one.reason) for one in removal.removed] == [
        ("samples", "a", "why"),
        ("views", "a", "why"),
    ]
    assert removal.bytes == item.total
    assert not any(path.exists() for path in paths)
    named = {"kind": "samples", "name": paths[0].name, "dataset": "a"}
    assert vars(removal.removed[0]) == {**named, "bytes": item.bytes, "reason": "why"}


def test_what_is_gone_already_was_not_removed(cache: Cache, removal: Removal) -> None:
    samples(cache, "a")
    (item,) = contents(cache)
    shutil.rmtree(item.path)
    removal.remove_item(item, "why")
    assert (removal.removed, removal.errors) == ([], {})


@pytest.mark.parametrize(("age_of_file", "is_removed"), [(DAY + 60, True), (DAY - 60, False)])
def test_what_changed_lately_is_kept_on_request(
    removal: Removal, age_of_file: float, is_removed: bool
) -> None:
    path = removal.folder / "file"
    path.write_bytes(b"x")
    age(path, age_of_file)
    removal.remove_unheld(path, "old", older=DAY)
    assert bool(removal.removed) == is_removed == (not path.exists())


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_without_locks_all_is_cleared_but_what_may_be_being_written(
    cache: Cache, removal: Removal, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def flock(descriptor: int, operation: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", flock)
    entry = samples(cache, "a")
    new, old = entry.with_name(".new"), entry.with_name(".old")
    for path in (new, old):
        path.write_bytes(b"x")
    age(old, DAY + 60)
    removal.clear(entry, is_temporary=False)
    for path in (new, old):
        removal.clear(path, is_temporary=True)
    assert [one.name for one in removal.removed] == [entry.name, ".old"]
    assert [path.exists() for path in (entry, new, old)] == [False, True, False]
    assert list(removal.errors) == [new]
    assert "nobody can tell whether a process is writing it" in removal.errors[new]
    removal.remove_unheld(new, "left")
    assert new.exists()


@pytest.mark.parametrize("look", [contents, paths_of, prune, clear, prune_old_leftovers])
def test_a_folder_of_another_user_is_an_error_with_a_hint(
    cache: Cache, monkeypatch: pytest.MonkeyPatch, look: Callable[[Cache], object]
) -> None:
    samples(cache, "a")
    denied = PermissionError(13, "Permission denied", str(cache.versioned / "views"))
    monkeypatch.setattr(Path, "iterdir", Mock(side_effect=denied))
    with pytest.raises(CacheError, match=r"can't read the cache: .*/views' \(REGISTRY_CACHE_DIR"):
        look(cache)


# A user without rights, because root may remove anything.
REMOVE = """
import os, sys
from pathlib import Path
from registry.cache.cache import Cache
from registry.cache.housekeeping import clear
os.setgid(65534); os.setuid(65534)
removal = clear(Cache(Path(sys.argv[1])))
print(removal.bytes, *removal.errors.values(), sep="|")
"""


def test_what_can_not_be_removed_is_reported(cache: Cache) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    entry = samples(cache, "a")
    for path in [cache.root, *cache.root.rglob("*")]:
        path.chmod(0o755)
    for path in cache.root.parents[:-2]:
        path.chmod(0o755)
    command = [sys.executable, "-c", REMOVE, str(cache.root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "0|Permission denied\n", done.stderr
    assert (entry / "file").read_bytes() == b"x" * 1000
