"""Limit the strings that expressions make: few words of a manifest could fill any memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from types import NoneType
from typing import Any

from registry.base.digest import levels
from registry.boundary.boundary import MAX_TEXT
from registry.errors import MappingError

__all__ = ["are_short", "check_size", "join", "sample_size", "size_of", "sizes_of"]

_FLAT = frozenset({str, list, dict})
_PLAIN = _FLAT | {int, float, bool, NoneType}
_MOST_FLAT = 1 << 20
"""Items of lists and dicts that are looked at together; shared lists may have any number."""


def join(separator: str, parts: Iterable[str]) -> str:
    """Return `separator.join(parts)`; a MappingError if it is too long."""
    found = list(parts)
    size = sum(map(len, found)) + len(separator) * len(found)
    if size > MAX_TEXT:
        check_size(size)
    return separator.join(found)


def are_short(columns: Sequence[Sequence[str]]) -> bool:
    """Return whether all strings of columns, joined to one, would not be too long."""
    return sum(sum(map(len, column)) for column in columns) <= MAX_TEXT


def check_size(size: int) -> None:
    """Raise a MappingError for a string that would be too long."""
    if size > MAX_TEXT:
        raise MappingError(
            f"gives a string of more than {MAX_TEXT:,} characters (shorten the values, or leave"
            " out what repeats them)"
        )


def size_of(value: Any) -> int:
    """Return about how many bytes a value takes when it is written; never less than a fifth."""
    kind = type(value)
    if kind is str:
        return len(value)
    if kind is dict:
        return sum(len(str(key)) + size_of(item) for key, item in value.items()) + 8
    if kind is list or kind is tuple:
        return sum(map(size_of, value)) + 8
    if isinstance(value, bytes):
        return len(value)
    fields = getattr(value, "__dict__", None)  # a message, or a part of one
    return size_of(fields) if fields else 8


def sizes_of(values: Sequence[Any]) -> int:
    """Return the sum of what `size_of` returns for values, faster."""
    size = 0
    for items, kinds, lists, dicts in levels(values):
        if kinds == {str}:
            return size + sum(map(len, items))
        if sum(map(len, lists)) + sum(map(len, dicts)) > _MOST_FLAT:
            return size + sum(map(size_of, items))
        texts = [item for item in items if type(item) is str] if str in kinds else ()
        size += sum(map(len, texts)) + 8 * (len(lists) + len(dicts))
        size += sum(map(len, map(str, chain.from_iterable(dicts))))
        if kinds <= _PLAIN:
            size += 8 * (len(items) - len(texts) - len(lists) - len(dicts))
        else:
            size += sum(size_of(item) for item in items if type(item) not in _FLAT)
    return size


def sample_size(fields: Mapping[str, Any]) -> int:
    """Return about how many bytes the fields of a sample take, as `size_of` counts them."""
    # Without a call for each str, as this runs for every sample: most fields are None or a str.
    size = 0
    for value in fields.values():
        kind = type(value)
        if value is None:
            continue
        if kind is str:
            size += len(value)
        elif kind is list:
            size += 8
            for item in value:
                size += len(item) if type(item) is str else size_of(item)
        elif kind is dict:
            size += 8
            for key, item in value.items():
                size += len(str(key)) + (len(item) if type(item) is str else size_of(item))
        else:
            size += size_of(value)
    return size
