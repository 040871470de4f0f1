"""Choices and targets in the order of a view, for many rows at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow import int64_array, list_offsets, ranges, to_numpy_int64
from registry.samples.letters import letter_of
from registry.store.views import letter_indexes

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["reordered"]


class _Order(NamedTuple):
    """New positions of the choices of some rows, concatenated."""

    counts: NDArray[np.int64]
    """Number of choices of each row."""
    starts: NDArray[np.int64]
    """Where each row's choices start."""
    new: NDArray[np.int64]
    """Old position of a choice → its new one."""


def reordered(batch: pa.RecordBatch, old: NDArray[np.int32]) -> dict[str, pa.Array] | None:
    """Return the columns that an order of choices changes; the others are those of the batch.

    Args:
        batch: Rows of a file, with choices.
        old: Old positions of each row's choices in their new order, concatenated.

    Returns:
        The columns; None if a target is not the letter of a choice.
    """
    choices = batch.column("choices")
    offsets = list_offsets(choices)
    counts = np.diff(offsets)
    starts = np.cumsum(counts) - counts
    new = np.empty(len(old), np.int64)
    new[np.repeat(starts, counts) + old] = ranges(counts)
    order = _Order(counts, starts, new)
    items = choices.values.take(int64_array(np.repeat(offsets[:-1], counts) + old))
    columns = {"choices": _list_like(choices, items, counts)}
    for name in ("target", "targets"):
        if name in batch.schema.names:
            made = _targets(batch.column(name), order)
            if made is None:
                return None
            columns[name] = made
    return columns


def _targets(column: pa.Array, order: _Order) -> pa.Array | None:
    """Return the new letters of a column of targets, or of lists of them."""
    rows = np.arange(len(column))
    if not pa.types.is_large_list(column.type):
        return _letters(column, rows, order)
    lengths = to_numpy_int64(pc.list_value_length(column).fill_null(0))
    letters = _letters(column.flatten(), np.repeat(rows, lengths), order)
    return None if letters is None else _list_like(column, letters, lengths)


def _letters(texts: pa.Array, rows: NDArray[np.int64], order: _Order) -> pa.Array | None:
    """Return the new letters of targets, each of which is that of a row."""
    indexes, counts = letter_indexes(texts), order.counts[rows]
    changed = (counts > 0) & (indexes >= 0)
    if (indexes[changed] >= counts[changed]).any():
        return None
    places = np.zeros(len(texts), np.int64)
    places[changed] = order.new[order.starts[rows[changed]] + indexes[changed]]
    letters = [letter_of(index) for index in range(int(counts.max(initial=0)) or 1)]
    renamed = pa.array(letters, pa.large_string()).take(int64_array(places))
    return renamed if changed.all() else pc.if_else(pa.array(changed), renamed, texts)


def _list_like(column: pa.Array, items: pa.Array, lengths: NDArray[np.int64]) -> pa.Array:
    """Return lists of items with given lengths; the nulls are those of a column."""
    offsets = int64_array(np.append(np.int64(0), np.cumsum(lengths)))
    mask = column.is_null() if column.null_count else None
    return pa.LargeListArray.from_arrays(offsets, items, mask=mask)
