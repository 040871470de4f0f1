"""Records that are alike to an expression: what it gives for them is worked out once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import pyarrow as pa

from registry.base.arrow import to_numpy_int64
from registry.decode.frame import Frame
from registry.mapping.columnar.expressions import is_text
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.mapping.columns_used import Reads
from registry.mapping.row import Row

__all__ = ["evaluated"]

_Value = TypeVar("_Value")

_LOOKED_AT = 1 << 10
"""Rows that show whether values repeat, before all of them are compared."""


def evaluated(
    evaluate: Callable[[Row], _Value], reads: Reads, view: RecordBatchView, *, numbered: bool
) -> list[_Value]:
    """Return what an expression gives for each record of a view; like records share it.

    Args:
        evaluate: The expression, compiled.
        reads: The columns that it reads.
        view: The records.
        numbered: Whether it reads their numbers too.
    """
    texts = None if numbered or reads is None else _repeated_text(view, reads)
    if texts is None:
        return [evaluate(row) for row in view.rows(reads)]
    values = [evaluate(row) for row in _each_once(texts, view).rows(reads)]
    places = to_numpy_int64(texts.column(0).indices)
    return [values[place] for place in places.tolist()]


def _repeated_text(view: RecordBatchView, reads: frozenset[str]) -> pa.RecordBatch | None:
    """Return the one column that is read as a dictionary, if it is text that repeats."""
    batch = view.frame.batch.select(view.names_read(reads))
    if batch.num_columns != 1 or not is_text(batch.column(0).type) or batch.column(0).null_count:
        return None
    for column in (batch.column(0).slice(0, _LOOKED_AT), batch.column(0)):
        encoded = column.dictionary_encode()
        if 2 * len(encoded.dictionary) > len(encoded):
            return None
    return pa.RecordBatch.from_arrays([encoded], batch.schema.names)


def _each_once(texts: pa.RecordBatch, view: RecordBatchView) -> RecordBatchView:
    """Return the view of one record for each text."""
    distinct = texts.column(0).dictionary
    batch = pa.RecordBatch.from_arrays([distinct], texts.schema.names)
    return RecordBatchView(Frame(batch), view.constants, np.arange(1, len(distinct) + 1))
