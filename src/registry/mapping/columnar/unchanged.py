"""Find values that coercion to a field leaves as they are, without a call for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

__all__ = ["are_unchanged"]

_FIELDS: dict[str, frozenset[type]] = {
    "target": frozenset({str}),
    "id": frozenset({str, int}),
    "setup": frozenset({str}),
}
"""Field → the exact types of values that it stores as they are."""


def are_unchanged(field: str, values: Sequence[Any]) -> bool:
    """Return whether values of an expression surely are those of a field; a False may be wrong."""
    types = set(map(type, values))
    if types <= _FIELDS.get(field, frozenset()):
        return True
    if field != "target" or types != {list}:
        return False
    items = list(chain.from_iterable(values))
    # A blank item is left out of a list that the manifest builds.
    return set(map(type, items)) <= {str} and all(map(str.strip, items))
