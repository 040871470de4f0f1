"""The parts of a long text that tell its encoding: what is around bytes that are not ASCII."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

__all__ = ["excerpts"]

_MOST_AS_IT_IS = 1 << 16
_PLACES = 16
_EXCERPTS = 32
"""How many of one place."""
_BEFORE, _AFTER, _LONGEST = 40, 80, 1 << 12
_ODD = re.compile(rb"[\x80-\xff]")
# In no encoding that has characters of several bytes is one of these the second or a later byte.
_BREAK = re.compile(rb"[\t\n\r \",;]")


def excerpts(data: bytes) -> bytes:
    """Return a text, of which a long one is reduced to excerpts from many places.

    No excerpt begins or ends within a character.
    """
    if len(data) <= _MOST_AS_IT_IS:
        return data
    size = -(-len(data) // _PLACES)
    places = (_odd_parts(data, start, start + size) for start in range(0, len(data), size))
    return b"\n".join(part for place in places for part in islice(place, _EXCERPTS)) or data


def _odd_parts(data: bytes, start: int, stop: int) -> Iterator[bytes]:
    """Yield what is around the bytes of a place that are not ASCII; it may start anywhere."""
    aligned = _BREAK.search(data, start, stop)
    while aligned is not None and (odd := _ODD.search(data, aligned.end(), stop)) is not None:
        at = odd.start()
        end = _BREAK.search(data, at + _AFTER, at + _LONGEST)
        if end is not None:
            yield data[max(aligned.end(), at - _BEFORE) : end.start()]
        aligned = end or _BREAK.search(data, at + _LONGEST, stop)
