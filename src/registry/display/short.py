"""Values with long texts shortened, for rich and for a shell."""

from __future__ import annotations

from itertools import islice
from typing import Any

__all__ = ["Short"]

_LONGEST = 500
_MOST_ITEMS = 30


class Short:
    """The start of a text or of a value, and how many characters follow, as rich writes it."""

    def __init__(self, shown: str, rest: int) -> None:
        self._shown = shown
        self._rest = rest

    def __repr__(self) -> str:
        return f"{self._shown}+{self._rest}"

    @classmethod
    def of(cls, value: Any) -> Any:
        """Return a value, or a copy in which long texts and lists are shortened."""
        if type(value) is dict:
            items = islice(value.items(), _MOST_ITEMS)
            more = {More(len(value) - _MOST_ITEMS): ...} if len(value) > _MOST_ITEMS else {}
            return {_leaf(key): _leaf(one) for key, one in items} | more
        if type(value) is list:
            rest = [More(len(value) - _MOST_ITEMS)] if len(value) > _MOST_ITEMS else []
            return [*map(_leaf, value[:_MOST_ITEMS]), *rest]
        return _leaf(value)


def _leaf(value: Any) -> Any:
    """Return a value, or the start of it if it is long, whatever is in it."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else _short_text(value)
    text = repr(value)
    return value if len(text) <= _LONGEST else Short(text[:_LONGEST], len(text) - _LONGEST)


def _short_text(text: str) -> Short:
    return Short(repr(text[:_LONGEST]), len(text) - _LONGEST)


class More:
    """Stands for items that are left out."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __repr__(self) -> str:
        return f"… {self._count:,} more"
