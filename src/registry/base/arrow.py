"""Convert between numpy and Arrow arrays without importing pandas.

`pa.array`, `pa.scalar` and `to_numpy` import pandas if it is installed, which takes longer than
everything else in opening a dataset. The functions here do not.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Iterator, Sequence
from itertools import chain
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "SCALARS",
    "SCAN_BYTES",
    "array_of",
    "blank_strings",
    "byte_positions",
    "contains_literal",
    "int64_array",
    "is_text",
    "list_offsets",
    "ranges",
    "repeat_string",
    "starts_with_visible_ascii",
    "string_hashes",
    "string_scalar",
    "system_memory",
    "to_numpy_int64",
]

SCALARS: dict[type, pa.DataType] = {
    str: pa.large_string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
}
"""Type of Python → the type of its Arrow columns."""

# Small enough for the processor's cache; see `byte_positions`.
SCAN_BYTES = 1 << 16

_HASHED_BYTES = 128
"""Longer strings are hashed one by one."""
_ZEROS = np.zeros(8, np.uint8)
_FACTOR, _HALF, _RANGE = np.uint64(0x9E3779B97F4A7C15), np.uint64(32), 1 << 64

# A character that `str.strip` keeps.
_NOT_SPACE = (
    r"[^\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}"
    r"\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]"
)


def int64_array(numbers: NDArray[Any]) -> pa.Array:
    """Return integers as an int64 array; contiguous int64 input is shared, not copied."""
    values = np.ascontiguousarray(numbers, dtype=np.int64)
    return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(values)])


def to_numpy_int64(column: pa.Array) -> NDArray[np.int64]:
    """Return an integer column without nulls as int64; int64 columns are shared, not copied."""
    values = column if column.type == pa.int64() else column.cast(pa.int64())
    return np.frombuffer(values.buffers()[1], np.int64, len(values), 8 * values.offset)


def is_text(kind: pa.DataType) -> bool:
    """Return whether a type is that of strings."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def array_of(values: Sequence[Any], *, missing: object = None) -> pa.Array | None:
    """Return str, int, float, bool or lists of str as an Arrow column; None for other values.

    Args:
        values: Values of one type; None is a null.
        missing: Another value that is a null.
    """
    types = set(map(type, values))
    absent = type(missing) in types
    types -= {NoneType, type(missing)}
    if not types:
        return pa.nulls(len(values), pa.large_string())
    if len(types) > 1:
        return None
    (kind,) = types
    if absent:
        values = [None if value is missing else value for value in values]
    if kind is list:
        items = set(map(type, chain.from_iterable(value for value in values if value)))
        if not items <= {str, NoneType}:
            return None
        wanted = pa.large_list(pa.large_string())
    elif kind in SCALARS:
        wanted = SCALARS[kind]
    else:
        return None
    try:
        return pa.array(values, wanted)
    # An integer beyond 64 bits, or half of a surrogate pair.
    except (OverflowError, UnicodeEncodeError, pa.ArrowException):
        return None


def repeat_string(text: str, count: int) -> pa.Array:
    """Return a large_string array with the same string `count` times."""
    data = text.encode()
    offsets = np.arange(count + 1, dtype=np.int64) * len(data)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data * count)]
    return pa.Array.from_buffers(pa.large_string(), count, buffers)


@functools.lru_cache(maxsize=1 << 8)  # a few constants of a mapping, for each of its blocks
def string_scalar(text: str) -> pa.Scalar:
    """Return a string as a large_string scalar."""
    return repeat_string(text, 1)[0]


def list_offsets(column: pa.Array) -> NDArray[np.int64]:
    """Return the offsets of a large_list, large_string or large_binary array.

    Row `i` has the items (or bytes) from `offsets[i]` to `offsets[i + 1]`, so there is one more
    offset than there are rows.
    """
    buffer = column.buffers()[1]
    if buffer is None:  # an array of nulls may have no offsets
        return np.zeros(len(column) + 1, np.int64)
    return np.frombuffer(buffer, np.int64, len(column) + 1, 8 * column.offset)


def string_hashes(column: pa.Array) -> NDArray[np.uint64]:
    """Return a hash of each string of a large_string array; it differs between processes."""
    offsets = list_offsets(column)
    lengths, first = np.diff(offsets), int(offsets[0])
    data = np.frombuffer(column.buffers()[2] or b"", np.uint8)[first : offsets[-1]]
    # The eight bytes from each position on, as an integer; zeros follow the last string.
    words = np.ndarray((len(data) + 1,), "<u8", np.append(data, _ZEROS), strides=(1,))
    starts = offsets[:-1] - first
    hashes = lengths.astype(np.uint64)
    shortest, longest = int(lengths.min(initial=_HASHED_BYTES)), int(lengths.max(initial=0))
    for place in range(0, min(longest, _HASHED_BYTES), 8):
        rows = slice(None) if place < shortest else np.flatnonzero(lengths > place)
        word = words[starts[rows] + place]
        if place + 8 > shortest:  # without the bytes after the string
            word <<= 8 * np.maximum(place + 8 - lengths[rows], 0).astype(np.uint64)
        mixed = (hashes[rows] ^ word) * _FACTOR
        hashes[rows] = mixed ^ (mixed >> _HALF)
    for row in np.flatnonzero(lengths > _HASHED_BYTES).tolist():
        hashes[row] = hash(data[starts[row] : starts[row] + lengths[row]].tobytes()) % _RANGE
    return hashes


def ranges(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return `range(length)` for each of the lengths, concatenated."""
    ends = np.cumsum(lengths)
    return np.arange(lengths.sum()) - np.repeat(ends - lengths, lengths)


def starts_with_visible_ascii(column: pa.Array) -> NDArray[np.bool_]:
    """Return for each row of a large_string array whether its first byte is visible ASCII.

    If so, the string is not whitespace. If not (a character beyond ASCII, whitespace, an empty
    string, a null), the caller must check the whole string.
    """
    offsets = list_offsets(column)
    filled = offsets[1:] > offsets[:-1]
    if filled.all() and len(column):
        first_bytes = np.frombuffer(column.buffers()[2], np.uint8)[offsets[:-1]]
    else:
        first_bytes = np.zeros(len(column), np.uint8)
        if filled.any():
            data = np.frombuffer(column.buffers()[2], np.uint8)
            first_bytes[filled] = data[offsets[:-1][filled]]
    return (first_bytes > ord(" ")) & (first_bytes < 127)


def blank_strings(column: pa.Array) -> NDArray[np.int64]:
    """Return the rows of a large_string array that are empty or only whitespace, not the nulls."""
    import pyarrow.compute as pc  # slow to import, and only builds need it

    candidates = np.flatnonzero(~starts_with_visible_ascii(column))
    if column.null_count == len(column) or not len(candidates):
        return candidates[:0]
    # Often all of them are empty, as targets that a scorer does not need.
    if not column.null_count and not np.diff(list_offsets(column))[candidates].any():
        return candidates
    texts = column.take(int64_array(candidates))
    # The search ends at the first character that isn't whitespace, however long the text.
    is_blank = pc.invert(pc.match_substring_regex(texts, _NOT_SPACE))
    return candidates[to_numpy_int64(pc.indices_nonzero(is_blank))]


def contains_literal(data: pa.Buffer | bytes, literal: str) -> bool:
    """Return whether bytes contain a literal, which must have no regex metacharacters."""
    import pyarrow.compute as pc  # slow to import, and only builds need it

    ends = pa.py_buffer(np.array([0, len(data)], np.int64))
    array = pa.Array.from_buffers(pa.large_binary(), 1, [None, ends, pa.py_buffer(data)])
    # RE2 searches for a literal with `memchr`; `match_substring` compares byte by byte.
    return bool(pc.match_substring_regex(array, literal)[0].as_py())


def byte_positions(character: str, data: bytes | bytearray) -> NDArray[np.int64]:
    """Return the positions of an ASCII character in bytes."""
    codes = np.frombuffer(data, np.uint8)
    # In parts that fit in the processor's cache: a bool for each byte of `data` would be new
    # memory, and touching it for the first time takes longer than the search.
    parts = [
        np.flatnonzero(codes[start : start + SCAN_BYTES] == ord(character)) + start
        for start in range(0, len(codes), SCAN_BYTES)
    ]
    return np.concatenate([np.zeros(0, np.int64), *parts])


_lock = threading.Lock()
_users = 0
"""Number of blocks, in all threads, that use the memory of the system."""
_usual: pa.MemoryPool | None = None
"""What the process used before the first of them."""


@contextlib.contextmanager
def system_memory() -> Iterator[None]:
    """Let Arrow allocate by `malloc` until all such blocks end.

    mimalloc keeps what one thread allocates and another frees, as in a build: 30 to 60 MB, of no
    use to its time. An allocator that somebody has chosen stays.
    """
    global _users, _usual  # noqa: PLW0603 (the allocator is the state of the process too)
    with _lock:
        pool, is_chosen = pa.default_memory_pool(), "ARROW_DEFAULT_MEMORY_POOL" in os.environ
        if _users == 0 and pool.backend_name == "mimalloc" and not is_chosen:
            _usual = pool
            pa.set_memory_pool(pa.system_memory_pool())
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0 and _usual is not None:
                pa.set_memory_pool(_usual)
                _usual = None
