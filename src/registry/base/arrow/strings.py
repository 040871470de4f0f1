"""Search and hash strings by the bytes of their Arrow columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from registry.base.arrow.arrays import int64_array, list_offsets, to_numpy_int64

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "SCAN_BYTES",
    "blank_strings",
    "byte_positions",
    "contains_literal",
    "starts_with_visible_ascii",
    "string_hashes",
]

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
