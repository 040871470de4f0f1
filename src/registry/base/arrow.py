"""Arrow arrays made of numpy's and of constants.

`pa.array`, `pa.scalar` and `to_numpy` import pandas where it is installed, which takes longer than
all the rest of opening a dataset; what is here does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "begins_visibly",
    "constant_text",
    "holds_text",
    "int64_array",
    "list_offsets",
    "places_of",
    "ranges",
    "text_scalar",
    "to_numpy_int64",
]


def int64_array(numbers: NDArray[Any]) -> pa.Array:
    """Return whole numbers of 64 bits; the memory is shared where it is that already."""
    whole = np.ascontiguousarray(numbers, dtype=np.int64)
    return pa.Array.from_buffers(pa.int64(), len(whole), [None, pa.py_buffer(whole)])


def to_numpy_int64(column: pa.Array) -> NDArray[np.int64]:
    """Return a column of whole numbers without nulls; the memory is shared where it can be."""
    whole = column.cast(pa.int64())
    return np.frombuffer(whole.buffers()[1], np.int64, len(whole), 8 * whole.offset)


def constant_text(text: str, count: int) -> pa.Array:
    """Return the same text `count` times."""
    data = text.encode()
    starts = np.arange(count + 1, dtype=np.int64) * len(data)
    buffers = [None, pa.py_buffer(starts), pa.py_buffer(data * count)]
    return pa.Array.from_buffers(pa.large_string(), count, buffers)


def text_scalar(text: str) -> pa.Scalar:
    """Return a text as a scalar."""
    return constant_text(text, 1)[0]


def list_offsets(column: pa.Array) -> NDArray[np.int64]:
    """Return where the items of each row of a large list, or the bytes of a large text, start.

    There is one more than rows: where the last one ends.
    """
    buffer = column.buffers()[1]
    if buffer is None:  # nulls only
        return np.zeros(len(column) + 1, np.int64)
    return np.frombuffer(buffer, np.int64, len(column) + 1, 8 * column.offset)


def ranges(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of each item of some lists, which stand one behind the other, in its own."""
    ends = np.cumsum(lengths)
    return np.arange(lengths.sum()) - np.repeat(ends - lengths, lengths)


def begins_visibly(column: pa.Array) -> NDArray[np.bool_]:
    """Return for which large texts the first byte alone shows that there is something to see."""
    starts = list_offsets(column)
    first = np.zeros(len(column), np.uint8)
    filled = np.diff(starts) > 0
    if filled.any():
        data = np.frombuffer(column.buffers()[2], np.uint8)
        first[filled] = data[starts[:-1][filled]]
    return (first > ord(" ")) & (first < 127)


def holds_text(data: pa.Buffer | bytes, part: str) -> bool:
    """Return whether bytes hold a text without any sign of regular expressions.

    A literal is looked for with `memchr`; the kernel for plain substrings goes byte by byte.
    """
    import pyarrow.compute as pc  # as slow to import as all the rest, and only builds need it

    ends = pa.py_buffer(np.array([0, len(data)], np.int64))
    whole = pa.Array.from_buffers(pa.large_binary(), 1, [None, ends, pa.py_buffer(data)])
    return bool(pc.match_substring_regex(whole, part)[0].as_py())


_SCANNED_BYTES = 1 << 16


def places_of(character: str, data: bytes | bytearray) -> NDArray[np.int64]:
    """Return where a character of ASCII stands in bytes.

    It goes by parts that stay in the processor's cache: one large array of flags would be memory
    that was never touched before, which takes longer than the scan.
    """
    whole = np.frombuffer(data, np.uint8)
    parts = [
        np.flatnonzero(whole[start : start + _SCANNED_BYTES] == ord(character)) + start
        for start in range(0, len(whole), _SCANNED_BYTES)
    ]
    return np.concatenate([np.zeros(0, np.int64), *parts])
