"""Prove that no line of JSON Lines repeats a key, in less time than parsing takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from registry.decode.exact_json import key_ends, parse_exact

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["keys_surely_differ"]

_WINDOW = 24
"""Bytes before the end of a key that are looked at."""
_HASHED = 16
_WORD = 8
_LOW = np.uint64(0x7F7F7F7F7F7F7F7F)
_ONES = np.uint64(0x0101010101010101)
# Odd numbers without a pattern: hashes that collide cost time, nothing else.
_FACTORS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))
_LINE_FACTOR = np.uint64(0x165667B19E3779F9)


def keys_surely_differ(block: bytearray, line_ends: NDArray[np.int64]) -> bool:
    """Return whether no line repeats a key; a False may be wrong, as with nested objects.

    Args:
        block: Lines of JSON objects.
        line_ends: The positions of their line ends.

    Raises:
        ValueError: `parse_exact` refuses a line in the first bytes.
        RecursionError: it is nested too deeply.
    """
    quotes = key_ends(block) - 1
    starts = np.searchsorted(quotes, line_ends)
    # There is no window before the first keys: parse their lines.
    first = min(int(np.searchsorted(line_ends, _WINDOW)), len(line_ends) - 1)
    for line in block[: line_ends[first]].split(b"\n"):
        parse_exact(line.decode())
    quotes, counts = quotes[starts[first] :], np.diff(starts[first:])
    if (np.frombuffer(block, np.uint8)[quotes] != ord('"')).any():  # a space before the colon
        return False
    hashes = _hash_keys(block, quotes)
    if hashes is None:
        return False
    if len(counts) and len(hashes) == len(counts) * counts[0] and (counts == counts[0]).all():
        lines = hashes.reshape(len(counts), -1)
        if (lines == lines[0]).all():  # as in most files; the rest takes as long as all before
            return len(np.unique(lines[0])) == len(lines[0])
    hashes += np.repeat(np.arange(len(counts), dtype=np.uint64) * _LINE_FACTOR, counts)
    hashes.sort()
    return not np.any(hashes[1:] == hashes[:-1])


def _hash_keys(block: bytes | bytearray, quotes: NDArray[np.int64]) -> NDArray[np.uint64] | None:
    """Return a hash of the last bytes of each key; None if a key has an escape.

    An escape may be another spelling of a character. It has up to six bytes, so one that starts
    before the window ends before the bytes that are hashed.
    """
    # The eight bytes at each position as an integer, without a copy.
    words = np.ndarray(len(block) - _WORD + 1, "<u8", block, strides=(1,))
    hashes = np.zeros(len(quotes), np.uint64)
    in_key = np.ones(len(quotes), bool)
    for distance in range(_WORD, _WINDOW + 1, _WORD):
        word = words[quotes - distance]
        opening = _flags(word, '"')
        word = np.where(in_key, _after_last(opening, word), np.uint64(0))
        if _flags(word, "\\").any():
            return None
        if distance <= _HASHED:
            hashes += word * _FACTORS[distance // _WORD - 1]
        in_key &= opening == 0
        if not in_key.any():
            break
    return hashes


def _flags(words: NDArray[np.uint64], character: str) -> NDArray[np.uint64]:
    """Return words with the highest bit of each byte set that is an ASCII character."""
    # As in "Hacker's Delight", 6-1: no carry leaves a byte, so each flag is exact.
    changed = words ^ (_ONES * np.uint64(ord(character)))
    return ~(((changed & _LOW) + _LOW) | changed | _LOW)


def _after_last(flags: NDArray[np.uint64], words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return words with the bytes up to the last flagged one set to zero."""
    for shift in (8, 16, 32):
        flags = flags | (flags >> np.uint64(shift))
    return words & ~((flags >> np.uint64(7)) * np.uint64(0xFF))
