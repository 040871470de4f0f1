"""Prove that no line of JSON Lines repeats a key, in less time than parsing takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from registry.base.arrow.strings import SCAN_BYTES, byte_positions
from registry.decode.exact_json import key_ends, parse_exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["keys_surely_differ", "string_ends"]

_WINDOW = 24
"""Bytes before the end of a key that are looked at."""
_HASHED = 16
_WORD = 8
_LOW = np.uint64(0x7F7F7F7F7F7F7F7F)
_ONES = np.uint64(0x0101010101010101)
# Odd numbers without a pattern: hashes that collide cost time, nothing else.
_FACTORS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))
_OBJECT_FACTOR = np.uint64(0x165667B19E3779F9)
_CHOICE = np.arange(1, 512, 2, dtype=np.uint64) * _FACTORS[0]
_SAMPLED = 1 << 10
"""Keys for which a factor is chosen."""
_ONE = np.uint64(1)
_SHIFT = np.uint64(58)


def keys_surely_differ(block: bytearray, line_ends: NDArray[np.int64]) -> bool:
    """Return whether no object repeats a key; a False may be wrong, as with escapes in keys.

    Args:
        block: Lines of JSON objects.
        line_ends: The positions of their line ends.

    Raises:
        ValueError: `parse_exact` refuses a line in the first bytes.
        RecursionError: it is nested too deeply.
    """
    quotes = key_ends(block) - 1
    if _equal_first_line(block, quotes, line_ends):
        return True
    # There is no window before the first keys: parse their lines.
    first = min(int(np.searchsorted(line_ends, _WINDOW)), len(line_ends) - 1)
    for line in block[: line_ends[first]].split(b"\n"):
        parse_exact(line.decode())
    starts = np.searchsorted(quotes, line_ends[first:])
    quotes = quotes[starts[0] :]
    if (np.frombuffer(block, np.uint8)[quotes] != ord('"')).any():  # a space before the colon
        return False
    hashes = _hash_keys(block, quotes)
    if hashes is None:
        return False
    lines = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return _bits_differ(hashes, lines) or _differ_by_object(block, quotes, hashes)


def _equal_first_line(
    block: bytearray, quotes: NDArray[np.int64], line_ends: NDArray[np.int64]
) -> bool:
    """Return whether each line has the keys of the first one, in its order, and none twice.

    This compares bytes instead of hashing them, and is true of most files.

    Args:
        block: Lines of JSON objects.
        quotes: The ends of all keys, and maybe some other places.
        line_ends: The positions of the line ends.
    """
    names = _names(block, quotes[: np.searchsorted(quotes, line_ends[0])].tolist())
    if names is None or len(quotes) != len(names) * len(line_ends):
        return False
    if not names:
        return True
    lines = quotes.reshape(len(line_ends), len(names))
    if (lines[1:, 0] < line_ends[:-1]).any() or (lines[:, -1] > line_ends).any():
        return False
    # What precedes a name in the second line and later are other bytes of the block, as the first
    # line has the name as well.
    words = _words(block)
    for end in range(0, max(map(len, names)), _WORD):
        columns = [place for place, name in enumerate(names) if len(name) > end]
        ends = lines[1:] if len(columns) == len(names) else lines[1:, columns]
        parts = [names[place][: len(names[place]) - end][-_WORD:] for place in columns]
        shifts = np.array([8 * (_WORD - len(part)) for part in parts], np.uint64)
        wanted = np.array([int.from_bytes(part, "little") for part in parts], np.uint64)
        if ((words[ends - (end + _WORD - 1)] >> shifts) != wanted).any():
            return False
    return True


def _names(block: bytearray, quotes: Sequence[int]) -> list[bytes] | None:
    """Return the quoted keys that end at some places; None if they are not plain and different."""
    names = [bytes(block[max(block.rfind(b'"', 0, end), 0) : end + 1]) for end in quotes]
    is_plain = all(name.endswith(b'"') and b"\\" not in name for name in names)
    return names if is_plain and len(set(names)) == len(names) else None


def _bits_differ(hashes: NDArray[np.uint64], groups: NDArray[np.int64]) -> bool:
    """Return whether six bits of a product of the hashes differ within each group."""
    # Take the factor for which the first keys of the block share the fewest bits.
    first = np.sort(hashes[:_SAMPLED])
    first = first[np.diff(first, prepend=~first[:1]) != 0]
    bits = _ONE << ((first * _CHOICE[:, None]) >> _SHIFT)
    best = np.bitwise_count(np.bitwise_or.reduce(bits, axis=1)).argmax()
    # A word per group: if all have as many bits as there are keys, no two keys share one.
    words = np.zeros(int(groups.max(initial=0)) + 1, np.uint64)
    np.bitwise_or.at(words, groups, _ONE << ((hashes * _CHOICE[best]) >> _SHIFT))
    return int(np.bitwise_count(words).sum()) == len(hashes)


def _differ_by_object(
    block: bytearray, quotes: NDArray[np.int64], hashes: NDArray[np.uint64]
) -> bool:
    """Return whether the hashes of the keys of each object differ.

    Args:
        block: Lines of JSON objects.
        quotes: The ends of the keys, and maybe some other places.
        hashes: A hash of each key.
    """
    strings = string_ends(block)
    if strings is None:
        return False
    is_end = np.zeros(len(block), bool)
    is_end[strings[1::2]] = True
    is_key = is_end[quotes]
    quotes, hashes = quotes[is_key], hashes[is_key]
    braces = _brace_positions(block)
    braces = braces[np.searchsorted(strings, braces) % 2 == 0]
    is_open = np.frombuffer(block, np.uint8)[braces] == ord("{")
    depths = np.cumsum(np.where(is_open, 1, -1))
    # After each brace, the object that keys belong to: the last one that was opened at its depth.
    owners = np.zeros(len(braces), np.int64)
    for depth in range(1, int(depths.max(initial=0)) + 1):
        places = np.flatnonzero(depths == depth)
        owners[places] = np.maximum.accumulate(np.where(is_open[places], places, 0))
    objects = owners[np.searchsorted(braces, quotes) - 1]
    if _bits_differ(hashes, objects):
        return True
    hashes = np.sort(hashes + objects.astype(np.uint64) * _OBJECT_FACTOR)
    return not np.any(hashes[1:] == hashes[:-1])


def string_ends(block: bytearray) -> NDArray[np.int64] | None:
    """Return the places of the quotes that start and end strings, in turn; None if unsure."""
    codes = np.frombuffer(block, np.uint8)
    quotes = byte_positions('"', block)
    escaped = np.flatnonzero(codes[quotes - 1] == ord("\\"))
    ends = quotes[escaped]
    runs = np.ones(len(ends), np.int64)  # of backslashes before the quote
    longer = np.arange(len(ends))
    for length in range(2, _WINDOW):
        longer = longer[codes[ends[longer] - length] == ord("\\")]
        runs[longer] += 1
        if not len(longer):
            strings: NDArray[np.int64] = np.delete(quotes, escaped[runs % 2 == 1])
            return strings
    return None


def _brace_positions(block: bytearray) -> NDArray[np.int64]:
    codes = np.frombuffer(block, np.uint8)
    # `{` and `}` are two apart, and this bit of their distance from `{` tells them apart.
    parts = [
        np.flatnonzero((codes[start : start + SCAN_BYTES] - ord("{")) & 0xFD == 0) + start
        for start in range(0, len(codes), SCAN_BYTES)
    ]
    return np.concatenate(parts)


def _words(block: bytes | bytearray) -> NDArray[np.uint64]:
    """Return the eight bytes at each position as an integer, without a copy."""
    return np.ndarray(max(len(block) - _WORD + 1, 0), "<u8", block, strides=(1,))


def _hash_keys(block: bytes | bytearray, quotes: NDArray[np.int64]) -> NDArray[np.uint64] | None:
    """Return a hash of the last bytes of each key; None if a key has an escape.

    An escape may be another spelling of a character. It has up to six bytes, so one that starts
    before the window ends before the bytes that are hashed.
    """
    words = _words(block)
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
