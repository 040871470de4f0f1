"""A file of the cache, of which parts are read to private memory and checked there.

What was checked can't change any more: a disk that returns other bytes later, and a process that
overwrites, cuts or removes the file, affect only parts that were not read yet. A mapped file would
give the damage to whoever reads it next, or end this process by SIGBUS.
"""

from __future__ import annotations

import binascii
import contextlib
import mmap
import os
import stat
import sys
import weakref
from array import array
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from registry.base.fs import HashedFile
from registry.cache.folders import checksum
from registry.errors import CacheError, DamagedEntryError
from registry.store import LazyModule

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from registry.cache.cache import Cache, CacheEntry, OnDamage
else:
    np = LazyModule("numpy")

__all__ = [
    "CheckedFile",
    "StoredArray",
    "checksums_of",
    "open_array",
    "pack_numbers",
    "store_arrays",
    "unpack_numbers",
]

_CHUNK = 1 << 14
"""Numbers of an array that have a checksum together: few enough for one random access."""


class CheckedFile:
    """A file that stays open, so that it may be removed; any thread or forked process reads it."""

    def __init__(self, path: Path, on_damage: OnDamage | None = None) -> None:
        """Open a file.

        Args:
            path: The file.
            on_damage: Called with the path, the inode and the reason if the file is damaged; it
                returns the error. None if the file is not in the cache.

        Raises:
            CacheError: it can't be read.
        """
        self._path, self._on_damage, self._inode = path, on_damage, 0
        try:
            # Without waiting for the other end, should it be a pipe.
            self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise self.damage("is gone") from error
        except OSError as error:
            raise CacheError(f"{path}: can't be read: {error}") from error
        weakref.finalize(self, os.close, self._descriptor)
        found = os.fstat(self._descriptor)
        self._inode = found.st_ino
        self.size = found.st_size
        """Number of bytes when it was opened."""
        if not stat.S_ISREG(found.st_mode):
            raise self.damage("is gone")
        if not self.size:
            raise self.damage("is empty")

    def damage(self, reason: str) -> CacheError:
        """Quarantine the entry of the file; return the error."""
        if self._on_damage is None:
            return CacheError(f"{self._path}: {reason}")
        return self._on_damage(self._path, self._inode, reason)

    def read(self, start: int, end: int, expected: int) -> bytes:
        """Return the bytes from start to end; raise an error if they do not have a checksum."""
        if not 0 <= start <= end <= self.size:
            raise self.damage(f"has no bytes {start:,} to {end:,}")
        try:
            data = _read_at(self._descriptor, start, end - start)
        except OSError as error:  # the disk can't read it, or a server no longer has it
            raise self.damage(f"can't be read: {error}") from error
        if len(data) < end - start:
            left = os.fstat(self._descriptor).st_size
            raise self.damage(f"was cut to {left:,} of {self.size:,} bytes")
        if checksum(data) != expected:
            raise self.damage(f"the bytes {start:,} to {end:,} differ from those that were written")
        return data


def _read_at(descriptor: int, start: int, size: int) -> bytes:
    """Return bytes of a file: fewer only at its end."""
    parts = []
    while size and (part := os.pread(descriptor, size, start)):  # at most 2 GB at a time
        parts.append(part)
        start, size = start + len(part), size - len(part)
    return b"".join(parts)


class StoredArray:
    """Numbers in a file; those that are selected are read and checked when they are first used."""

    def __init__(
        self,
        file: CheckedFile,
        code: Literal["i", "q"],
        count: int,
        checksums: Sequence[int],
        restore: Callable[[], NDArray[Any]],
    ) -> None:
        """Create an array over the end of a `.npy` file.

        Args:
            file: The file.
            code: Type of the numbers: `i` for 32 bits, `q` for 64.
            count: How many there are.
            checksums: Those that `checksums_of` returned.
            restore: Returns the same numbers, computed again, if the file is damaged.
        """
        size = count * array(code).itemsize
        if file.size < size:
            raise file.damage(f"has {file.size:,} of {size:,} bytes")
        self._file: CheckedFile | None = file
        self._checksums, self._restore = checksums, restore
        # Pages that hold nothing take no memory. It is not an array of numpy, which most processes
        # that read a single sample never import.
        private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        self._memory = memoryview(mmap.mmap(-1, size or 1, private))[:size]
        self._values = self._memory.cast(code)
        self._start, self._total = file.size - size, count
        self._is_checked = bytearray(len(checksums))

    def __len__(self) -> int:
        """Return how many numbers there are; none is read."""
        return len(self._values)

    @overload
    def __getitem__(self, selected: int) -> int: ...

    @overload
    def __getitem__(self, selected: slice | NDArray[np.int64]) -> NDArray[Any]: ...

    def __getitem__(self, selected: int | slice | NDArray[np.int64]) -> int | NDArray[Any]:
        """Return a number, those of a slice, or those at positions."""
        if isinstance(selected, int):
            return self.tolist(selected, selected + 1)[0]
        self._make_sure(selected)
        # A copy, as the caller may change it.
        return np.array(np.asarray(self._values)[selected])

    def tolist(self, start: int, end: int) -> list[int]:
        """Return the numbers from start to end; numpy is not needed."""
        self._make_sure(slice(start, end))
        return self._values[start:end].tolist()

    def _make_sure(self, selected: slice | NDArray[np.int64]) -> None:
        """Check the numbers that are selected; compute all again if they are damaged."""
        if self._file is not None:
            try:
                self._check(self._file, selected)
            except DamagedEntryError:
                self.replace_by(self._restore())

    def first(self, count: int) -> StoredArray:
        """Return the first numbers as an array of its own; none is read."""
        made = StoredArray.__new__(StoredArray)
        made.__dict__.update(self.__dict__, _values=self._values[:count])
        return made

    def replace_by(self, same: StoredArray | NDArray[Any]) -> None:
        """Read the same numbers from another file, or from memory."""
        if isinstance(same, StoredArray):
            self.__dict__.update(same.__dict__)
        else:
            self._values, self._file = same[: len(self)].data, None

    def _check(self, file: CheckedFile, selected: slice | NDArray[np.int64]) -> None:
        if isinstance(selected, slice):
            start, stop, step = selected.indices(len(self._values))
            if step < 0:
                start, stop = stop + 1, start + 1
            first, end = start // _CHUNK, -(-stop // _CHUNK)
            if 0 not in self._is_checked[first:end]:
                return
            chunks: Sequence[int] = range(first, end)
        else:
            chunks = np.unique(selected % max(len(self._values), 1) // _CHUNK).tolist()
        for number in chunks:
            if not self._is_checked[number]:
                self._check_chunk(file, number)

    def _check_chunk(self, file: CheckedFile, number: int) -> None:
        width = self._values.itemsize
        start, end = number * _CHUNK * width, min((number + 1) * _CHUNK, self._total) * width
        place, expected = self._start, self._checksums[number]
        self._memory[start:end] = file.read(place + start, place + end, expected)
        self._is_checked[number] = 1


def store_arrays(
    cache: Cache, fingerprint: str, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]
) -> None:
    """Store arrays as a view. Without a writable cache, they are computed each time."""
    checksums = {name: pack_numbers(checksums_of(values)) for name, values in arrays.items()}
    with contextlib.suppress(CacheError), cache.temporary() as folder:
        digests = {}
        for name, values in arrays.items():
            path = folder / f"{name}.npy"
            # To an ordinary file numpy writes by itself, and its error of a full disk has no number
            # by which it is known.
            with HashedFile(path) as written:
                np.save(written, values)
            digests[path.name] = written.sha256
        full_meta = {**meta, "checksums": checksums}
        cache.publish(folder, "views", fingerprint, full_meta, digests=digests)


def open_array(
    cache: Cache,
    entry: CacheEntry,
    name: str,
    code: Literal["i", "q"],
    count: int,
    compute: Callable[[], NDArray[Any]],
) -> StoredArray:
    """Return an array that `store_arrays` stored, and `compute` returns again if it is damaged."""
    packed = entry.meta["checksums"][name]

    def restore() -> NDArray[Any]:
        values = compute()
        if pack_numbers(checksums_of(values)) != packed:  # and some of them have been used already
            raise CacheError(
                f"a damaged view can't be continued: its {name} are in another order now (has numpy"
                " or the code of the shuffle changed? open the dataset again)"
            )
        return values

    on_damage = partial(cache.damaged, "views", entry.meta["fingerprint"])
    file = CheckedFile(entry.folder / f"{name}.npy", on_damage)
    return StoredArray(file, code, count, unpack_numbers(packed), restore)


def checksums_of(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the checksums of the parts of an array."""
    starts = range(0, len(values), _CHUNK)
    return np.array([checksum(values[start : start + _CHUNK].data) for start in starts], np.uint64)


def pack_numbers(numbers: NDArray[np.uint64]) -> str:
    """Return numbers as a string, which JSON reads fifty times as fast as a list."""
    return binascii.b2a_base64(numbers.astype("<u8").tobytes(), newline=False).decode()


def unpack_numbers(text: str) -> array[int]:
    """Return the numbers that `pack_numbers` wrote, flat."""
    numbers = array("Q", binascii.a2b_base64(text))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
