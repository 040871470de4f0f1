"""Pruning removes what a crash left behind, clearing everything."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from registry.cache.cache import Cache
from registry.cache.housekeeping import clear, prune


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def test_pruning_removes_temporary_folders_older_than_a_day(cache: Cache) -> None:
    prune(cache)
    for name, age in (("old", 25 * 3600), ("new", 23 * 3600)):
        folder = cache.root / "v2" / "tmp" / name
        folder.mkdir(parents=True)
        (folder / "file").write_bytes(b"x")
        os.utime(folder, (time.time() - age, time.time() - age))
    prune(cache)
    assert [path.name for path in (cache.root / "v2" / "tmp").iterdir()] == ["new"]


def test_clearing_removes_everything_of_this_cache_version(cache: Cache) -> None:
    assert clear(cache) == 0
    meta = {"first_bad": None}
    with cache.temporary() as folder:
        size = cache.publish(folder, "views", "sha256:ab", meta).size
    (cache.root / "v0").mkdir()
    assert clear(cache) == size
    assert [path.name for path in cache.root.iterdir()] == ["v0"]
    assert cache.find("views", "sha256:ab") is None
