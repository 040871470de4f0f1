"""Which samples a list or an array selects, and a random order of them."""

from __future__ import annotations

import operator
import random
import re
from collections.abc import Sequence
from typing import Any, Protocol, SupportsIndex, TypeGuard

from registry.errors import count_text

__all__ = [
    "ArrayLike",
    "Positions",
    "int_of",
    "is_index",
    "position_in",
    "positions_of",
    "shuffle_list",
]


class ArrayLike(Protocol):
    """An array of numpy, pandas, polars, PyTorch and others."""

    def tolist(self) -> Any:
        """Return the values as a list."""


Positions = Sequence[int] | ArrayLike
"""Positions of samples, negative ones from the end; or a bool for each sample, null for False."""


def is_index(selected: Any) -> TypeGuard[SupportsIndex]:
    """Return whether something is a single position."""
    # PyTorch takes an array of one integer for an integer too.
    return hasattr(selected, "__index__") and not getattr(selected, "ndim", 0)


def positions_of(selected: Any, count: int) -> list[int]:
    """Return the positions, from 0, that a list or an array selects among `count` samples.

    Raises:
        IndexError: a position is out of range, or there are not as many bools as samples.
        TypeError: it is no list, and no array of integers or bools with one dimension.
    """
    values = selected
    for name in ("tolist", "to_list", "to_pylist"):  # of numpy, polars and pyarrow
        if hasattr(values, name):
            values = getattr(values, name)()
            break
    if not isinstance(values, list | range):
        raise TypeError(
            "a dataset is indexed by an int, a slice, or a list or an array of integers or bools,"
            f" not by a {type(selected).__name__}"
        )
    kinds = set(map(type, values))
    # As in pandas (NA), polars and pyarrow, a comparison with null is null, and selects nothing.
    nulls = {kind for kind in kinds if kind.__name__ in {"NAType", "NoneType"}}
    if kinds and kinds <= {bool, *nulls}:
        if len(values) != count:
            samples = count_text(count, "sample")
            raise IndexError(f"{count_text(len(values), 'bool')} for a dataset of {samples}")
        return [position for position, value in enumerate(values) if value is True]
    if bool in kinds:
        raise TypeError("a dataset is indexed by integers or by bools, not by both")
    return [position_in(value, count) for value in values]


def position_in(index: SupportsIndex, count: int) -> int:
    """Return a position, from 0, among `count` samples.

    Raises:
        IndexError: it is out of range.
    """
    position = operator.index(index)
    if not -count <= position < count:
        raise IndexError(f"index {position} of a dataset of {count_text(count, 'sample')}")
    return position % count


def shuffle_list(items: list[Any], seed: int | None) -> None:
    """Shuffle a list in place; without a seed by the global random state, as Inspect does."""
    (random if seed is None else random.Random(seed)).shuffle(items)


def int_of(identifier: int | str) -> int | None:
    """Return the int that an id is the text of, as in the column of ids; None if it is not one."""
    if isinstance(identifier, str) and re.fullmatch("0|-?[1-9][0-9]{0,18}", identifier):
        return int(identifier)
    return None
