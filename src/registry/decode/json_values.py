"""Decode lines of JSON objects to Python values, only the keys that are wanted."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import msgspec

from registry.base.gc import gc_paused
from registry.decode.frame import MISSING, NotColumnarError, ValueFrame, Wanted

__all__ = ["ValueDecoder", "dotted_keys"]

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
        known = {key: values for key, values in columns.items() if not _is_missing(values)}
        return ValueFrame(count, known, size=len(block))

    def _column(self, number: int, found: list[Any]) -> list[Any]:
        if self._has_fields:
            return list(map(attrgetter(_field(number)), found))
        key = self._keys[number]
        return [one.get(key, MISSING) for one in found]


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
def _decoder_of(keys: tuple[str, ...] | None) -> msgspec.json.Decoder[Any]:
    """Return a decoder of dicts, or of a struct with a field per key, which may be no name."""
    if keys is None:
        return msgspec.json.Decoder(dict[str, Any])
    names = {_field(number): key for number, key in enumerate(keys)}
    fields = [(name, Any, MISSING) for name in names]
    return msgspec.json.Decoder(msgspec.defstruct("Line", fields, rename=names, gc=False))


def _is_missing(values: list[Any]) -> bool:
    return values.count(MISSING) == len(values)
