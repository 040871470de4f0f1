"""Work is done again if another process removed what it reads in the cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.cache.cache import Cache
from registry.cache.retry import again_if_lost
from registry.errors import CacheError, DamagedEntryError


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def test_work_is_done_again(cache: Cache) -> None:
    results: list[str | Exception] = [
        DamagedEntryError("is gone"),
        FileNotFoundError(2, "No such file", str(cache.root / "blobs" / "x")),
        "made",
    ]

    def work() -> str:
        result = results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    assert again_if_lost(work, cache) == "made"


def test_what_is_gone_each_time_is_an_error(cache: Cache) -> None:
    with pytest.raises(CacheError, match=r"No such file .*/cache/x' \(does another process clear"):
        again_if_lost((cache.root / "x").read_bytes, cache)

    def damaged() -> None:
        raise DamagedEntryError("is damaged")

    with pytest.raises(DamagedEntryError, match="is damaged"):
        again_if_lost(damaged, cache)


def test_other_missing_file_is_an_error_at_once(cache: Cache, tmp_path: Path) -> None:
    calls: list[int] = []

    def work() -> bytes:
        calls.append(1)
        return (tmp_path / "data.csv").read_bytes()

    with pytest.raises(FileNotFoundError):
        again_if_lost(work, cache)
    assert calls == [1]
