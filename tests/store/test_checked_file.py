"""Files of the cache: a part is checked when it is read, and what was read never changes."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from registry.cache.cache import OnDamage
from registry.cache.folders import checksum
from registry.errors import CacheError, DamagedEntryError
from registry.store import checked_file
from registry.store.checked_file import (
    CheckedFile,
    StoredArray,
    checksums_of,
    pack_numbers,
    unpack_numbers,
)

NUMBERS = np.arange(100, dtype=np.int32)[::-1].copy()
PARTS: list[Any] = [
    slice(None),
    slice(None, None, -1),
    slice(5, 95, 7),
    slice(90, 3, -4),
    slice(50, 50),
    slice(200, 300),
    slice(9, 10),
    np.array([99, 0, 15, 16, 0]),
    np.array([-1, -100]),
    np.array([], np.int64),
]


def fail() -> Any:
    pytest.fail("computed again")


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checked_file, "_CHUNK", 16)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    np.save(tmp_path / "rows.npy", NUMBERS)
    return tmp_path / "rows.npy"


def flip(path: Path, number: int) -> None:
    """Change a number of the array."""
    content = bytearray(path.read_bytes())
    content[len(content) - 4 * (len(NUMBERS) - number)] ^= 1
    path.write_bytes(content)


def stored(path: Path, restore: Any = fail) -> StoredArray:
    return StoredArray(
        CheckedFile(path, on_damage()), "i", len(NUMBERS), checksums_of(NUMBERS).tolist(), restore
    )


def on_damage(seen: list[tuple[Path, int, str]] | None = None) -> OnDamage:
    def note(path: Path, inode: int, reason: str) -> DamagedEntryError:
        if seen is not None:
            seen.append((path, inode, reason))
        return DamagedEntryError(f"{path}: {reason}")

    return note


# --- files ---


def test_intact_parts_are_read(path: Path) -> None:
    file = CheckedFile(path)
    content = path.read_bytes()
    for start, end in ((0, 0), (0, 10), (10, file.size), (file.size, file.size)):
        assert file.read(start, end, checksum(content[start:end])) == content[start:end]


@pytest.mark.parametrize(
    ("start", "end"), [(0, 10), (-1, 10), (10, 5), (0, 10_000), (10_000, 10_001)]
)
def test_other_parts_are_damage(path: Path, start: int, end: int) -> None:
    seen: list[tuple[Path, int, str]] = []
    message = r"has no bytes|differ from those that were written"
    with pytest.raises(DamagedEntryError, match=message):
        CheckedFile(path, on_damage(seen)).read(start, end, 1)
    assert [one[:2] for one in seen] == [(path, path.stat().st_ino)]


def test_file_that_is_cut_later_is_damage(path: Path) -> None:
    file = CheckedFile(path, on_damage())
    os.truncate(path, 500)
    with pytest.raises(DamagedEntryError, match=r"was cut to 500 of 528 bytes"):
        file.read(490, 528, 0)
    assert file.read(490, 500, checksum(path.read_bytes()[490:])) == path.read_bytes()[490:]


def test_unreadable_bytes_are_damage(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_to_read(*_: object) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    file = CheckedFile(path, on_damage())
    monkeypatch.setattr(os, "pread", fail_to_read)
    with pytest.raises(DamagedEntryError, match=r"rows\.npy: can't be read: .* Input/output error"):
        file.read(0, 10, 0)


def test_file_is_closed_with_the_last_reference_to_it(path: Path) -> None:
    file = CheckedFile(path)
    descriptor = file._descriptor
    os.fstat(descriptor)
    del file
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_file_that_is_removed_or_replaced_remains_readable(path: Path) -> None:
    array = stored(path)
    path.unlink()
    path.write_bytes(b"other")
    assert (array[:] == NUMBERS).all()


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: os.truncate(path, 0), "folder"])
def test_missing_file_is_damage(path: Path, harm: Any) -> None:
    if harm == "folder":
        path.unlink()
        path.mkdir()
    else:
        harm(path)
    with pytest.raises(DamagedEntryError, match=r"is (gone|empty)"):
        CheckedFile(path, on_damage())
    with pytest.raises(CacheError, match=r"rows\.npy: is (gone|empty)"):
        CheckedFile(path)


# --- arrays ---


@pytest.mark.parametrize("part", PARTS, ids=str)
def test_array_has_the_numbers_of_the_file(path: Path, part: Any) -> None:
    assert stored(path)[part].tolist() == NUMBERS[part].tolist()
    of_first = part % 20 if isinstance(part, np.ndarray) else part
    assert stored(path).first(20)[of_first].tolist() == NUMBERS[:20][of_first].tolist()


def test_length_reads_nothing(path: Path) -> None:
    flip(path, 0)
    assert (len(stored(path)), len(stored(path).first(7))) == (100, 7)


@pytest.mark.parametrize("part", PARTS[:4] + PARTS[7:9], ids=str)
def test_damaged_numbers_are_computed_again(path: Path, part: Any) -> None:
    flip(path, int(NUMBERS[part][0] * -1 + 99))
    array = stored(path, lambda: NUMBERS)
    assert array[part].tolist() == NUMBERS[part].tolist()
    os.truncate(path, 0)  # not looked at any more
    assert array[:].tolist() == NUMBERS.tolist()


def test_damage_elsewhere_is_not_noticed(path: Path) -> None:
    flip(path, 50)
    array = stored(path)
    assert array[:48].tolist() == NUMBERS[:48].tolist()
    assert array[np.array([0, 99, 64])].tolist() == [99, 0, 35]


def test_array_that_is_cut_later_is_computed_again(path: Path) -> None:
    array = stored(path, lambda: NUMBERS)
    assert array[:10].tolist() == NUMBERS[:10].tolist()
    os.truncate(path, 200)
    assert array[:].tolist() == NUMBERS.tolist()


def test_numbers_that_were_read_do_not_change_with_the_file(path: Path) -> None:
    array = stored(path)
    part, selected = array.first(40), array[10:20]
    assert array[:32].tolist() == NUMBERS[:32].tolist()
    path.write_bytes(bytes(path.stat().st_size))
    assert array[:32].tolist() == NUMBERS[:32].tolist()
    assert part.tolist(3, 30) == NUMBERS[3:30].tolist()
    os.truncate(path, 0)
    assert selected.tolist() == NUMBERS[10:20].tolist()
    assert array[np.array([0, 31])].tolist() == NUMBERS[[0, 31]].tolist()


def test_short_file_is_damage(path: Path) -> None:
    os.truncate(path, 399)
    with pytest.raises(DamagedEntryError, match="has 399 of 400 bytes"):
        stored(path)


# --- numbers in meta.json ---


def test_packed_numbers_are_restored() -> None:
    numbers = np.array([0, 1, 2**64 - 1], np.uint64)
    assert unpack_numbers(pack_numbers(numbers)).tolist() == numbers.tolist()
    assert unpack_numbers(pack_numbers(numbers[:0])).tolist() == []
