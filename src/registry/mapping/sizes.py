"""Limit the strings that expressions make: few words of a manifest could fill any memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from registry.boundary.limits import MAX_TEXT
from registry.errors import MappingError

__all__ = ["check_size", "join", "sample_size", "size_of"]


def join(separator: str, parts: Iterable[str]) -> str:
    """Return `separator.join(parts)`; a MappingError if it is too long."""
    found = list(parts)
    size = sum(map(len, found)) + len(separator) * len(found)
    if size > MAX_TEXT:
        check_size(size)
    return separator.join(found)


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
