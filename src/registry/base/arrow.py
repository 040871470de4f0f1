"""Arrow arrays by their buffers, and the bytes of their strings."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "SCAN_BYTES",
    "blank_strings",
    "byte_positions",
    "contains_literal",
    "count_byte",
    "int64_array",
    "is_text",
    "list_offsets",
    "ranges",
    "repeat_string",
    "starts_with_visible_ascii",
    "string_hashes",
    "string_scalar",
    "to_array",
    "to_numpy_int64",
]

_FEW_VALUES = 1 << 13
"""Up to so many are converted here; more of them justify the import of pandas."""
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


def to_array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return what `pa.array` returns for a list of a known type, or raise what it raises."""
    # Without pyarrow, which would import pandas first.
    is_faster = len(values) <= _FEW_VALUES and "pandas" not in sys.modules
    convert = _CONVERTERS.get(kind) if is_faster else None
    found = None if convert is None else convert(values)
    return pa.array(values, kind) if found is None else found


def _text_array(values: Sequence[str | None]) -> pa.Array | None:
    types: set[type] = {str}
    present = values
    try:
        joined = "".join(values)  # type: ignore[arg-type]
    except TypeError:  # looking at each type first would take longer than to join most lists
        types = set(map(type, values))
        if not types <= {str, NoneType}:
            return None
        present = [value or "" for value in values]
        joined = "".join(present)  # type: ignore[arg-type]
    if joined.isascii():
        data, lengths = joined.encode(), map(len, present)  # type: ignore[arg-type]
    else:
        try:
            encoded = list(map(str.encode, present))  # type: ignore[arg-type]
        except UnicodeEncodeError:
            return None
        data, lengths = b"".join(encoded), map(len, encoded)
    buffers = [_validity(values, types), _offsets_buffer(lengths, len(values)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), len(values), buffers)


def _bytes_array(values: Sequence[bytes | None]) -> pa.Array | None:
    types = set(map(type, values))
    if not types <= {bytes, NoneType}:
        return None
    present = [value or b"" for value in values] if NoneType in types else values
    offsets = _offsets_buffer(map(len, present), len(values))  # type: ignore[arg-type]
    data = pa.py_buffer(b"".join(present))  # type: ignore[arg-type]
    buffers = [_validity(values, types), offsets, data]
    return pa.Array.from_buffers(pa.large_binary(), len(values), buffers)


def _number_array(kind: pa.DataType, wanted: type, width: Any) -> _Convert:
    def convert(values: Sequence[Any]) -> pa.Array | None:
        types = set(map(type, values))
        if not types <= {wanted, NoneType}:
            return None
        present = (
            [0 if value is None else value for value in values] if NoneType in types else values
        )
        try:
            data = np.array(present, width)
        except OverflowError:
            return None
        buffers = [_validity(values, types), pa.py_buffer(data)]
        return pa.Array.from_buffers(kind, len(values), buffers)

    return convert


def _bool_array(values: Sequence[Any]) -> pa.Array | None:
    types = set(map(type, values))
    if not types <= {bool, NoneType}:
        return None
    data = np.packbits(np.array([value or False for value in values], np.bool_), bitorder="little")
    buffers = [_validity(values, types), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.bool_(), len(values), buffers)


def _text_lists(values: Sequence[list[str] | None]) -> pa.Array | None:
    types = set(map(type, values))
    if not types <= {list, NoneType}:
        return None
    present = [value or [] for value in values] if NoneType in types else values
    items = _text_array(list(chain.from_iterable(present)))  # type: ignore[arg-type]
    if items is None:
        return None
    offsets = _offsets_buffer(map(len, present), len(values))  # type: ignore[arg-type]
    buffers = [_validity(values, types), offsets]
    return pa.Array.from_buffers(_TEXT_LIST, len(values), buffers, children=[items])


def _offsets_buffer(lengths: Iterable[int], count: int) -> pa.Buffer:
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(np.fromiter(lengths, np.int64, count), out=offsets[1:])
    return pa.py_buffer(offsets)


def _validity(values: Sequence[object], types: set[type]) -> pa.Buffer | None:
    if NoneType not in types:
        return None
    bits = np.array([value is not None for value in values], np.bool_)
    return pa.py_buffer(np.packbits(bits, bitorder="little"))


_Convert = Callable[[Sequence[Any]], pa.Array | None]
_TEXT_LIST = pa.large_list(pa.large_string())
_CONVERTERS: dict[pa.DataType, _Convert] = {
    pa.large_string(): _text_array,
    pa.large_binary(): _bytes_array,
    pa.int64(): _number_array(pa.int64(), int, np.int64),
    pa.float64(): _number_array(pa.float64(), float, np.float64),
    pa.bool_(): _bool_array,
    _TEXT_LIST: _text_lists,
}
"""Type → its conversion from lists, None for values that it leaves to pyarrow."""


def to_numpy_int64(column: pa.Array) -> NDArray[np.int64]:
    """Return an integer column without nulls as int64; int64 columns are shared, not copied."""
    values = column if column.type == pa.int64() else column.cast(pa.int64())
    return np.frombuffer(values.buffers()[1], np.int64, len(values), 8 * values.offset)


def is_text(kind: pa.DataType) -> bool:
    """Return whether a type is that of strings."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def repeat_string(text: str, count: int) -> pa.Array:
    """Return a large_string array with the same string `count` times."""
    data = text.encode()
    offsets = np.zeros(count + 1, np.int64)
    if data:  # memory that nobody writes to takes no time
        offsets += np.arange(count + 1) * len(data)
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


def ranges(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return `range(length)` for each of the lengths, concatenated."""
    ends = np.cumsum(lengths)
    return np.arange(lengths.sum()) - np.repeat(ends - lengths, lengths)


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


def count_byte(character: str, data: bytes | bytearray) -> int:
    """Return how often an ASCII character is in bytes; `count` takes longer where it is often."""
    codes = np.frombuffer(data, np.uint8)
    return sum(
        int(np.count_nonzero(codes[start : start + SCAN_BYTES] == ord(character)))
        for start in range(0, len(codes), SCAN_BYTES)
    )


def contains_literal(data: pa.Buffer | bytes, literal: str) -> bool:
    """Return whether bytes contain a literal, which must have no regex metacharacters."""
    import pyarrow.compute as pc  # slow to import, and only builds need it

    ends = pa.py_buffer(np.array([0, len(data)], np.int64))
    array = pa.Array.from_buffers(pa.large_binary(), 1, [None, ends, pa.py_buffer(data)])
    # RE2 searches for a literal with `memchr`; `match_substring` compares byte by byte.
    return bool(pc.match_substring_regex(array, literal)[0].as_py())


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

    if column.null_count == len(column):
        return np.zeros(0, np.int64)
    candidates = np.flatnonzero(~starts_with_visible_ascii(column))
    if not len(candidates):
        return candidates
    # Often all of them are empty, as targets that a scorer does not need.
    if not column.null_count and not np.diff(list_offsets(column))[candidates].any():
        return candidates
    texts = column.take(int64_array(candidates))
    # The search ends at the first character that isn't whitespace, however long the text.
    is_blank = pc.invert(pc.match_substring_regex(texts, _NOT_SPACE))
    return candidates[to_numpy_int64(pc.indices_nonzero(is_blank))]


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
