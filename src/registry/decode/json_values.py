"""Decode lines of JSON objects to Python values, only the keys that are wanted."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Iterator, Sequence
from itertools import repeat
from operator import attrgetter, contains, itemgetter
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from registry.base.arrow.strings import byte_positions
from registry.base.gc import gc_paused
from registry.decode.exact_json import MAX_DEPTH, has_unique_keys, surely_has_unique_keys
from registry.decode.frame import MISSING, NotColumnarError, ValueFrame, Wanted

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "ValueDecoder",
    "decode_few",
    "dotted_keys",
    "line_ends",
]
_decode = msgspec.json.Decoder(dict[str, Any]).decode
_decode_objects = msgspec.json.Decoder(dict[str, Any]).decode_lines
_MOST_FIELDS = 64
"""Keys of lines for which a type is created."""
_UNNAMABLE = re.compile(r'[\\"\x00-\x1f]')
"""Characters of keys that msgspec gives to no field of a struct."""


class ValueDecoder:
    """Decodes blocks of lines that are one object each.

    msgspec returns the values of the `json` module, or refuses; in values of other keys it checks
    the syntax without creating them.
    """

    def __init__(self, wanted: Wanted) -> None:
        """Decode the keys that the wanted columns and paths may start with; None for all keys."""
        self._keys = [] if wanted is None else sorted({key for one in wanted for key in _keys(one)})
        self._is_whole = wanted is None
        self._has_fields = wanted is not None and not any(map(_UNNAMABLE.search, self._keys))
        self._decoder = _decoder_of(tuple(self._keys) if self._has_fields else None)

    def decode(self, block: bytearray, count: int) -> ValueFrame:
        """Return the objects of a block.

        Raises:
            NotColumnarError: it is not JSON, or has another number of objects.
        """
        with gc_paused():
            try:
                found = self._decoder.decode_lines(block)
            except (msgspec.DecodeError, ValueError, RecursionError) as error:
                raise NotColumnarError("invalid JSON") from error
            if len(found) != count:
                raise NotColumnarError("not one object per line")
            if self._is_whole:
                return ValueFrame(count, {}, found, size=len(block))
            columns = {key: self._column(number, found) for number, key in enumerate(self._keys)}
        known = {key: values for key, values in columns.items() if values is not None}
        return ValueFrame(count, known, size=len(block))

    def _column(self, number: int, found: list[Any]) -> list[Any] | None:
        if not self._has_fields:
            return _values(self._keys[number], found)
        values = list(map(attrgetter(_field(number)), found))
        # Counting compares every value, and most columns have one in the first line.
        if (not values or values[0] is MISSING) and values.count(MISSING) == len(values):
            return None
        return values


def decode_few(block: bytes, wanted: Wanted) -> ValueFrame:
    """Return the objects of a few lines, all of whose values are created.

    This takes less time than finding out how columns can be read, and that they are exact.

    Raises:
        NotColumnarError: a line is not exactly one object, or has no exact meaning.
    """
    try:
        keys, found = _decode_exactly(block, whole=wanted is None)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise NotColumnarError("a value without an exact meaning") from error
    if wanted is None:
        return ValueFrame(len(found), {}, found, size=len(block))
    names = sorted({key for one in wanted for key in _keys(one)})
    if keys:
        places = {name: keys.index(name) for name in names if name in keys}
        fields = {name: attrgetter(_field(place)) for name, place in places.items()}
        columns = {name: list(map(field, found)) for name, field in fields.items()}
    else:
        columns = {key: values for key in names if (values := _values(key, found)) is not None}
    return ValueFrame(len(found), columns, size=len(block))


def _decode_exactly(block: bytes, *, whole: bool) -> tuple[tuple[str, ...], list[Any]]:
    """Return the objects of lines: as structs with some keys, or without keys as dicts."""
    ends = line_ends(block)
    keys = () if whole else tuple(_decode(block[: ends[0]]))
    found = _decode_equal_keys(block, keys)
    if found is None:
        keys, found = (), _decode_objects(block)
    if len(found) != len(ends):
        raise NotColumnarError("not one object per line")
    count = len(keys) * len(found) if keys else sum(map(len, found))
    if _may_be_deep(block, ends) or not surely_has_unique_keys(block, found, count):
        keys, found = (), _decode_objects(block) if keys else found
        if not has_unique_keys(block, found):
            raise NotColumnarError("a key that may be repeated")
    return keys, found


def _decode_equal_keys(block: bytes, keys: tuple[str, ...]) -> list[Any] | None:
    """Return the objects as structs; None if some have other keys."""
    if not 0 < len(keys) <= _MOST_FIELDS or any(map(_UNNAMABLE.search, keys)):
        return None
    try:
        return _decoder_of(keys, required=True).decode_lines(block)
    except msgspec.ValidationError:
        return None


def line_ends(block: bytes | bytearray) -> NDArray[np.int64]:
    """Return the ends of the lines, if each of them starts and ends like an object.

    If pyarrow then finds as many rows, each line is exactly one object: two objects on a line would
    add a row, and an object on two lines would have `}` and `{` around the line end.
    """
    data = np.frombuffer(block, np.uint8)
    ends = byte_positions("\n", block)
    if len(ends) == 0 or ends[-1] != len(data) - 1:
        ends = np.append(ends, len(data))
    starts = np.concatenate([[0], ends[:-1] + 1])
    if (ends == starts).any() or (data[starts] != ord("{")).any():
        raise NotColumnarError("a line that does not start like an object")
    if (data[ends - 1] != ord("}")).any():
        raise NotColumnarError("a line that does not end like an object")
    return ends


def _may_be_deep(block: bytes, ends: NDArray[np.int64]) -> bool:
    """Return whether a line has so many brackets that it may be nested too deeply."""
    # `[` and `{` differ in this bit.
    brackets = np.flatnonzero((np.frombuffer(block, np.uint8) | 0x20) == ord("{"))
    if len(brackets) < MAX_DEPTH + len(ends):  # each line has one at least
        return False
    longest = np.diff(ends, prepend=0).max()
    return bool((brackets[MAX_DEPTH:] - brackets[:-MAX_DEPTH]).min() < longest)


def _values(key: str, found: Sequence[dict[str, Any]]) -> list[Any] | None:
    """Return the values of a key, MISSING where an object lacks it; None if all of them do."""
    with contextlib.suppress(KeyError):
        return list(map(itemgetter(key), found))
    has_key = map(contains, found, repeat(key))
    return [one.get(key, MISSING) for one in found] if True in has_key else None


def _keys(path: str) -> Iterator[str]:
    """Yield each key that an object may have for a path: `a`, `a.b` and `a.b.c` for `a.b.c`."""
    parts = path.split(".")
    return (".".join(parts[:count]) for count in range(1, len(parts) + 1))


def dotted_keys(path: str) -> Iterator[str]:
    """Yield each key with a dot that an object at some level may have for a path."""
    parts = path.split(".")
    for start in range(len(parts)):
        yield from (".".join(parts[start:end]) for end in range(start + 2, len(parts) + 1))


def _field(number: int) -> str:
    return f"f{number}"


@functools.lru_cache(maxsize=64)  # creating a type takes as long as decoding a small file
def _decoder_of(
    keys: tuple[str, ...] | None, *, required: bool = False
) -> msgspec.json.Decoder[Any]:
    """Return a decoder of dicts, or of a struct with a field per key, which may be no name.

    If `required`, it accepts only objects that have exactly these keys.
    """
    if keys is None:
        return msgspec.json.Decoder(dict[str, Any])
    names = {_field(number): key for number, key in enumerate(keys)}
    fields: list[Any] = [(name, Any) if required else (name, Any, MISSING) for name in names]
    line = msgspec.defstruct("Line", fields, rename=names, gc=False, forbid_unknown_fields=required)
    return msgspec.json.Decoder(line)
