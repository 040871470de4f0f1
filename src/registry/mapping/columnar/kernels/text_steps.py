"""Operations on columns of strings, as `mapping.operations.text` does with each string."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow.arrays import list_offsets
from registry.base.arrow.strings import byte_positions, contains_literal
from registry.mapping.columnar.kernels.arrays import (
    LARGEST_COLUMN,
    NoKernelError,
    as_text_lists,
    bool_array,
    list_of,
    text_of,
)
from registry.mapping.columnar.kernels.patterns import first_match, replace_matches

__all__ = [
    "capitalize",
    "find",
    "lines",
    "lower",
    "replace",
    "split",
    "strip",
    "substitute",
    "upper",
]

# What `str.strip` removes. pyarrow's own whitespace lacks some of it.
_ASCII_WHITESPACE = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f "
_WHITESPACE = (
    _ASCII_WHITESPACE
    + "\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"
    + "".join(map(chr, range(0x2000, 0x200B)))
)
# At what `str.splitlines` splits besides the newline.
_LINE_ENDS = r"[\r\x0b\x0c\x1c\x1d\x1e]|\xc2\x85|\xe2\x80[\xa8\xa9]"


def _is_ascii(text: pa.Array) -> bool:
    return bool(pc.all(pc.string_is_ascii(text)).as_py())


def _ascii(values: pa.Array) -> pa.Array:
    """Return strings if all are ASCII: beyond, pyarrow and Python differ in case."""
    text = text_of(values)
    if not _is_ascii(text):
        raise NoKernelError
    return text


def lower(values: pa.Array, argument: Any) -> pa.Array:
    """Return strings in lower case."""
    return pc.ascii_lower(_ascii(values))


def upper(values: pa.Array, argument: Any) -> pa.Array:
    """Return strings in upper case."""
    return pc.ascii_upper(_ascii(values))


def capitalize(values: pa.Array, argument: Any) -> pa.Array:
    """Return strings with only the first character in upper case."""
    return pc.ascii_capitalize(_ascii(values))


def strip(values: pa.Array, argument: str | None) -> pa.Array:
    """Return strings without whitespace, or the characters given, at both ends."""
    text = text_of(values)
    if argument == "":
        return text
    if not (argument or "").isascii() or not _is_ascii(text):
        return pc.utf8_trim(text, characters=_WHITESPACE if argument is None else argument)
    return pc.ascii_trim(text, characters=_ASCII_WHITESPACE if argument is None else argument)


def replace(values: pa.Array, argument: dict[str, str]) -> pa.Array:
    """Return strings with substrings replaced."""
    text = text_of(values)
    # In sequence, as the operation does: a later pair may match an earlier replacement.
    for old, new in argument.items():
        if text.nbytes * max(len(new), 1) > LARGEST_COLUMN and len(new) > len(old):
            raise NoKernelError
        text = pc.replace_substring(text, pattern=old, replacement=new)
    return text


def split(values: pa.Array, argument: str) -> pa.Array:
    """Return the lists of the parts of strings between separators."""
    text = text_of(values)
    if len(argument) > 1 or not argument.isascii():
        return as_text_lists(pc.split_pattern(text, pattern=argument))
    # All strings at once: the parts are what remains of their bytes without the separators.
    ends = list_offsets(text)
    buffer = text.buffers()[2]
    data = buffer[int(ends[0]) : int(ends[-1])].to_pybytes() if buffer is not None else b""
    ends = ends - ends[0]
    places = byte_positions(argument, data)
    before = np.searchsorted(places, ends)
    rows = np.arange(len(text) + 1)
    # A part ends at each separator and at the end of each string.
    offsets = np.zeros(len(places) + len(text) + 1, np.int64)
    offsets[before + rows] = ends - before
    is_separator = np.ones(len(offsets), np.bool_)
    is_separator[before + rows] = False
    offsets[is_separator] = places - np.arange(len(places))
    rest = pa.py_buffer(data.replace(argument.encode(), b""))
    parts = pa.Array.from_buffers(
        pa.large_string(), len(offsets) - 1, [None, pa.py_buffer(offsets), rest]
    )
    return list_of(before + rows, parts)


def lines(values: pa.Array, argument: Any) -> pa.Array:
    """Return the lists of the lines of strings."""
    text = text_of(values)
    ends = list_offsets(text)
    data = text.buffers()[2]
    if data is not None and contains_literal(data[int(ends[0]) : int(ends[-1])], _LINE_ENDS):
        raise NoKernelError
    # Unlike a separator, a newline at the end of a string begins no further line.
    parts = split(text, "\n")
    offsets, items = list_offsets(parts), parts.values
    last = offsets[1:] - 1
    is_line = np.ones(len(items), np.bool_)
    is_line[last] = np.diff(list_offsets(items))[last] > 0
    kept = np.concatenate([[0], np.cumsum(is_line)])[offsets]
    return list_of(kept, items.filter(bool_array(is_line)))


def find(values: pa.Array, argument: Any) -> pa.Array:
    """Return the first match of a pattern in each string."""
    options = {"pattern": argument} if isinstance(argument, str) else argument
    if options.get("all"):
        raise NoKernelError
    found = first_match(text_of(values), options["pattern"])
    if found.null_count and not options.get("optional"):
        raise NoKernelError  # an error, which its record reports
    return found


def substitute(values: pa.Array, argument: dict[str, str]) -> pa.Array:
    """Return strings with the matches of a pattern replaced."""
    text, to = text_of(values), argument.get("to", "")
    if text.nbytes * (len(to) + 1) > LARGEST_COLUMN:
        raise NoKernelError
    return replace_matches(text, argument["pattern"], to)
