"""Make many records of a few: the same forms and lengths, and no longer text twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

__all__ = ["expanded"]

_LONG = 40
"""Texts up to this length are names, letters or numbers, which also repeat in real files."""
_FIXED = ("[", "{", "http", "data:")
"""Starts of texts that a number at their end would break."""


def expanded(records: Sequence[dict[str, Any]], count: int) -> Iterator[dict[str, Any]]:
    """Yield `count` records: the given ones by turns, each longer text with a number at its end."""
    for number in range(count):
        yield _numbered(records[number % len(records)], number)


def _numbered(value: Any, number: int) -> Any:
    if isinstance(value, str):
        varies = len(value) > _LONG and not value.startswith(_FIXED)
        return f"{value} {number}" if varies else value
    if isinstance(value, list):
        return [_numbered(item, number) for item in value]
    if isinstance(value, dict):
        return {key: _numbered(item, number) for key, item in value.items()}
    return value
