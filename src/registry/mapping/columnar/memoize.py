"""Evaluate an expression only once for records with the same values in the columns it reads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np
import pyarrow as pa

from registry.base.arrow import to_numpy_int64
from registry.decode.frame import Frame, NotColumnarError
from registry.mapping.columnar.expressions import LARGEST_COLUMN, is_text
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.mapping.columns_used import ColumnDependencies
from registry.mapping.row import Row
from registry.mapping.sizes import size_of

__all__ = ["bounded", "evaluate_memoized"]

_Value = TypeVar("_Value")

_SECONDS = 10.0
_PROBED_ROWS = 1 << 10
"""Rows that are encoded first, as a cheap test of whether values repeat."""


def evaluate_memoized(
    evaluate: Callable[[Row], _Value],
    dependencies: ColumnDependencies,
    view: RecordBatchView,
    *,
    numbered: bool,
) -> list[_Value]:
    """Return the value of an expression for each record; records with equal values share it.

    Args:
        evaluate: The compiled expression.
        dependencies: The columns that it reads.
        view: The records.
        numbered: Whether it also reads the record number, which never repeats.
    """
    encoded = None
    if dependencies is not None and not numbered:
        batch = view.frame.batch.select(view.names_of(dependencies))
        if batch.num_columns == 1 and is_text(batch.column(0).type):
            encoded = _encode_repeated(batch.column(0))
    if encoded is None:
        return bounded(map(evaluate, view.rows(dependencies)))
    distinct = encoded.dictionary
    frame = Frame(pa.RecordBatch.from_arrays([distinct], batch.schema.names))
    numbers = np.arange(1, len(distinct) + 1)
    once = RecordBatchView(frame, view.constants, numbers, view.boundary)
    values = bounded(map(evaluate, once.rows(dependencies)))
    return bounded(values[index] for index in to_numpy_int64(encoded.indices).tolist())


def bounded(values: Iterable[_Value]) -> list[_Value]:
    """Return the values of a batch as a list.

    Raises:
        NotColumnarError: they are so large together, or take so long, that they must be mapped one
            by one, with a look at the limits after each.
    """
    found: list[_Value] = []
    size, end = 0, time.monotonic() + _SECONDS
    for value in values:
        found.append(value)
        size += len(value) if isinstance(value, str) else size_of(value)
        if size > LARGEST_COLUMN or time.monotonic() > end:
            raise NotColumnarError("values that are too large or too slow to map many at a time")
    return found


def _encode_repeated(column: pa.Array) -> pa.DictionaryArray | None:
    """Return a column dictionary-encoded if each value occurs at least twice on average."""
    # A null has no entry in the dictionary, so that its index would be wrong.
    if column.null_count:
        return None
    for part in (column.slice(0, _PROBED_ROWS), column):
        encoded = part.dictionary_encode()
        if 2 * len(encoded.dictionary) > len(encoded):
            return None
    return encoded
