"""Digests of the rows of Arrow columns, to find equal rows without keeping their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from xxhash import xxh3_128_digest

from registry.base.arrow import list_offsets

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Digests", "row_digests"]

_NULL = (-1).to_bytes(8, "little", signed=True)


class Digests:
    """A collection of digests, 16 bytes each, that counts the different ones."""

    def __init__(self) -> None:
        self._data = bytearray()

    def add(self, digests: bytes) -> None:
        """Add digests, one after the other."""
        self._data += digests

    def distinct(self) -> int:
        """Return how many different digests there are."""
        halves = np.frombuffer(self._data, np.uint64).reshape(-1, 2)
        if not len(halves):
            return 0
        ordered = halves[np.lexsort((halves[:, 1], halves[:, 0]))]
        return 1 + int((ordered[1:] != ordered[:-1]).any(axis=1).sum())


def row_digests(columns: Sequence[pa.Array]) -> bytes:
    """Return a digest of each row, one after the other: equal for rows with equal values.

    Args:
        columns: Columns of one length, of large strings, or large lists of them or of structs of
            them.
    """
    # Each text follows its length, each list the number of its items: no two rows have the same
    # bytes unless they have the same values.
    parts = [part for column in columns for part in _row_parts(column)]
    return b"".join(map(xxh3_128_digest, map(b"".join, zip(*parts, strict=True))))


def _row_parts(column: pa.Array) -> Iterator[list[bytes]]:
    """Yield lists of bytes, an item per row, which together determine the values of a column."""
    if column.null_count == len(column):  # as most columns of a dataset
        yield [_NULL] * len(column)
        return
    starts = np.arange(len(column), dtype=np.int64)
    if not pa.types.is_large_list(column.type):
        yield from _text_parts(column, starts, starts + 1)
        return
    offsets, lengths = list_offsets(column), _lengths(column)
    yield _spans(lengths, starts, starts + 1)
    first, ends = offsets[:-1], np.where(lengths < 0, offsets[:-1], offsets[1:])
    items = column.values
    is_struct = pa.types.is_struct(items.type)
    texts = items.flatten() if is_struct else [items]
    for text in texts:
        yield from _text_parts(text, first, ends)


def _text_parts(
    column: pa.Array, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> Iterator[list[bytes]]:
    """Yield lengths, then bytes, of the texts in each of some ranges."""
    lengths = _lengths(column)
    yield _spans(lengths, starts, ends)
    if column.null_count:  # a null may have bytes
        column = column.fill_null("")
    offsets = list_offsets(column)
    data = np.frombuffer(column.buffers()[2] or b"", np.uint8)
    yield _spans(data, offsets[starts], offsets[ends])


def _lengths(column: pa.Array) -> NDArray[np.int64]:
    """Return the length of each text or list; -1 for null, which is not an empty one."""
    lengths = np.diff(list_offsets(column))
    if column.null_count:
        lengths[column.is_null().to_numpy(zero_copy_only=False)] = -1
    return lengths


def _spans(
    items: NDArray[np.int64] | NDArray[np.uint8],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> list[bytes]:
    """Return the bytes of each of some ranges of items."""
    if not len(starts):
        return []
    first, last, size = int(starts.min()), int(ends.max()), items.itemsize
    data = items[first:last].tobytes()  # of `bytes`, slices are faster than of a memoryview
    bounds = zip(((starts - first) * size).tolist(), ((ends - first) * size).tolist(), strict=True)
    return [data[start:end] for start, end in bounds]
