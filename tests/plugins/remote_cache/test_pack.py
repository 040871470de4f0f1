"""Packs and the ranges of them that are downloaded together."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.cache.cache import Cache, CacheEntry
from registry.errors import CacheError
from registry.plugins.remote_cache import pack
from registry.plugins.remote_cache.pack import Windows, collect
from registry.plugins.remote_cache.record import SAMPLES, Record
from tests.cache.entries import key
from tests.plugins.remote_cache.test_remote_cache import META


def entries(cache: Cache, sizes: dict[str, int]) -> list[CacheEntry]:
    found = []
    for name, size in sizes.items():
        with cache.temporary() as folder:
            (folder / SAMPLES).write_bytes(name.encode() * size)
            meta = {**META, "name": name}
            found.append(cache.publish(folder, "samples", f"sha256:{key(name)}", meta))
    return found


def record(name: str, offset: int, size: int, packed: str | None = "1" * 64) -> Record:
    meta = {**META, "name": name}
    return Record(f"sha256:{key(name)}", meta, "0" * 64, size, pack=packed, offset=offset)


def ranges(*records: Record) -> list[tuple[int, int]]:
    windows = Windows(records, records)
    found = {id(window): window for one in records if (window := windows.of(one))}
    return [(one.start, one.size) for one in found.values()]


def test_the_same_entries_are_the_same_packs_up_to_a_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pack, "_PACK_BYTES", 10)
    found = entries(Cache(tmp_path), {"c": 6, "a": 4, "d": 30, "b": 6})
    packs = [*collect(reversed(found))]
    assert [[one.meta["name"] for one, _ in each.parts] for each in packs] == [
        ["a", "b"],
        ["c"],
        ["d"],
    ]
    sha256, records = packs[0].write(tmp_path / "first")
    assert (tmp_path / "first").read_bytes() == b"aaaabbbbbb"
    assert [(one.pack, one.offset, one.size) for one in records] == [(sha256, 0, 4), (sha256, 4, 6)]


def test_a_damaged_entry_is_not_packed(tmp_path: Path) -> None:
    (one,) = entries(Cache(tmp_path), {"a": 4})
    (one.folder / SAMPLES).write_bytes(b"aaab")
    (packed,) = collect([one])
    with pytest.raises(CacheError, match=r"doesn't have its digest \(`registry cache verify`\)"):
        packed.write(tmp_path / "first")


def test_what_is_near_is_one_range() -> None:
    near = 1 << 20
    assert ranges(record("a", 0, 10), record("b", 10 + near, 5)) == [(0, 15 + near)]
    assert ranges(record("a", 0, 10), record("b", 11 + near, 5)) == [(0, 10), (11 + near, 5)]
    assert ranges(record("a", 0, 10), record("b", 10, 5, "2" * 64)) == [(0, 10), (10, 5)]
    assert ranges(record("a", 0, 10, None)) == []


def test_no_range_is_larger_than_a_pack_whatever_an_index_says() -> None:
    huge = 64 << 20
    assert ranges(record("a", 0, huge - 1), record("b", huge - 1, 2)) == [
        (0, huge - 1),
        (huge - 1, 2),
    ]


def test_a_range_is_removed_when_all_of_it_was_taken(tmp_path: Path) -> None:
    first, second = record("a", 100, 2), record("b", 102, 3)
    windows = Windows([first, second], [first, second], tmp_path)
    window = windows.of(first)
    assert window is not None
    window.file.write_bytes(b"aabbb")
    window.take(first, tmp_path / "a")
    window.take(second, tmp_path / "b")
    assert [(tmp_path / name).read_bytes() for name in "ab"] == [b"aa", b"bbb"]
    assert not window.file.exists()
