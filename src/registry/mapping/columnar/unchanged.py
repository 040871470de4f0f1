"""Find values that coercion to a field leaves as they are, without a call for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from types import NoneType
from typing import Any

__all__ = ["are_unchanged"]

_FIELDS: dict[str, frozenset[type]] = {
    "target": frozenset({str, list}),
    "choices": frozenset({list, NoneType}),
    "id": frozenset({str, int, NoneType}),
    "setup": frozenset({str, NoneType}),
}
"""Field → the exact types of values that it stores as they are, if the items of lists are str."""


def are_unchanged(field: str, values: Sequence[Any]) -> bool:
    """Return whether values of an expression surely are those of a field; a False may be wrong."""
    types = set(map(type, values))
    if not types <= _FIELDS.get(field, frozenset()):
        return False
    if list not in types:
        return True
    lists = values if len(types) == 1 else [one for one in values if type(one) is list]
    if not set(map(type, chain.from_iterable(lists))) <= {str}:
        return False
    # A blank item is left out of a target that the manifest builds, and at the end of choices.
    is_target = field == "target"
    kept = chain.from_iterable(lists) if is_target else [one[-1] for one in lists if one]
    return all(map(str.strip, kept))
