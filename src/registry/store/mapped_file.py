"""A file of the cache in mapped memory, whose parts are checked before they are first used.

Another process may cut a mapped file; touching what is gone would end this process by SIGBUS, which
Python can't handle. So the size is compared before each access. What remains is a cut between the
comparison and the access, and a disk that can't be read.
"""

from __future__ import annotations

import binascii
import mmap
import os
import sys
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from registry.cache.checksum import checksum
from registry.errors import CacheError, DamagedEntryError
from registry.store.lazy import LazyModule

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from registry.cache.cache import OnDamage
else:
    np = LazyModule("numpy")

__all__ = ["MappedFile", "StoredArray", "checksums_of", "pack_numbers", "unpack_numbers"]

_CHUNK = 1 << 14
"""Numbers of an array that have a checksum together: few enough for one random access."""


class MappedFile:
    """A file mapped to memory, so that processes share its pages and it may be removed."""

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
            with open(path, "rb", buffering=0) as file:
                self._inode = os.fstat(file.fileno()).st_ino
                self.map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
            raise self.damage("is gone") from error
        except ValueError as error:
            raise self.damage("is empty") from error
        except OSError as error:
            raise CacheError(f"{path}: can't be read: {error}") from error
        self.size = len(self.map)
        """Number of bytes when it was opened."""

    def damage(self, reason: str) -> CacheError:
        """Quarantine the entry of the file; return the error."""
        if self._on_damage is None:
            return CacheError(f"{self._path}: {reason}")
        return self._on_damage(self._path, self._inode, reason)

    def check_size(self) -> None:
        """Raise an error if the file was cut since it was opened."""
        if self.map.size() < self.size:
            raise self.damage(f"was cut to {self.map.size():,} of {self.size:,} bytes")

    def check(self, start: int, end: int, expected: int) -> None:
        """Raise an error if the bytes from start to end do not have a checksum."""
        self.check_size()
        if not 0 <= start <= end <= self.size or expected != checksum(
            memoryview(self.map)[start:end]
        ):
            raise self.damage(f"the bytes {start:,} to {end:,} differ from those that were written")


class StoredArray:
    """Numbers in a mapped file; those that are selected are checked before they are first read."""

    def __init__(
        self,
        file: MappedFile,
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
        self._file: MappedFile | None = file
        self._checksums, self._restore = checksums, restore
        # Not an array of numpy, which most processes that read a single sample never import.
        self._values = memoryview(file.map)[file.size - size :].cast(code)
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
        # A copy, as a slice may be kept, and the file cut meanwhile.
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

    def _check(self, file: MappedFile, selected: slice | NDArray[np.int64]) -> None:
        file.check_size()
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

    def _check_chunk(self, file: MappedFile, number: int) -> None:
        width = self._values.itemsize
        start, end = number * _CHUNK, min((number + 1) * _CHUNK, self._total)
        file.check(self._start + start * width, self._start + end * width, self._checksums[number])
        self._is_checked[number] = 1


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
