"""Tell whether a sample was changed, at any depth."""

from __future__ import annotations

import marshal
import pickle
from collections.abc import Collection
from typing import Any

__all__ = ["frozen", "state_of"]

_ATOMS = frozenset({str, int, float, bool, type(None)})


def state_of(sample: Any, *, without: Collection[str] = ()) -> list[Any]:
    """Return a value that differs if any field was changed; for ours and Inspect's samples."""
    return [
        value if type(value) in _ATOMS else frozen(value)
        for name, value in sample.__dict__.items()
        if name not in without
    ]


def frozen(value: Any) -> Any:
    """Return a value that differs if a list, dict or model was changed, at any depth."""
    try:
        # Version 2 writes equal bytes for equal values; later ones depend on reference counts.
        return marshal.dumps(value, 2)
    except ValueError:  # it contains a model
        pass
    try:
        return pickle.dumps(value)
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError):
        return object()  # equal to nothing: a sample of such a value is kept
