"""Whole columns as the fields of samples: what `values` does with each record's value."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow import (
    int64_array,
    list_offsets,
    ranges,
    repeat_string,
    starts_with_visible_ascii,
    string_scalar,
)
from registry.manifest.expressions import Expression
from registry.mapping.columnar.expressions import (
    NoKernelError,
    as_text,
    evaluate,
    is_text,
    is_text_list,
)
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.store.schema import METADATA_TYPES, MetadataType

__all__ = ["FIELD_KERNELS", "metadata_type_of_column", "of_metadata_type"]

Columns = dict[str, pa.Array]

_TEXTS = METADATA_TYPES["str_list"]


def _input(expression: Expression, view: RecordBatchView) -> Columns:
    column = evaluate(expression, view)
    if not is_text(column.type) or column.null_count:
        raise NoKernelError
    text = as_text(column)
    if view.count and not (np.diff(list_offsets(text)) > 0).all():
        raise NoKernelError
    return {"input": text}


def _target(expression: Expression, view: RecordBatchView) -> Columns:
    column = evaluate(expression, view)
    if column.null_count == view.count:
        return {"target": repeat_string("", view.count)}
    if is_text_list(column.type):
        texts = _as_lists(column)
        if texts.null_count or texts.flatten().null_count:
            raise NoKernelError
        return {"target": pa.nulls(view.count, pa.large_string()), "targets": texts}
    return {"target": pc.fill_null(as_text(column), string_scalar(""))}


def _choices(expression: Expression, view: RecordBatchView) -> Columns:
    column = evaluate(expression, view)
    if column.null_count == view.count:
        return {}
    if not is_text_list(column.type):
        raise NoKernelError
    texts = _as_lists(column)
    items = texts.flatten()
    if items.null_count:
        raise NoKernelError
    blank = ~starts_with_visible_ascii(items)
    doubtful = np.flatnonzero(blank)
    if len(doubtful):
        cells = items.take(int64_array(doubtful)).to_pylist()
        blank[doubtful] = [not cell.strip() for cell in cells]
    return {"choices": _without_blank_ends(texts, items, blank) if blank.any() else texts}


def _as_lists(column: pa.Array) -> pa.LargeListArray:
    """Return lists of texts whose nulls span no items: those of a row are told by its place."""
    texts = column.cast(_TEXTS)
    return texts.take(int64_array(np.arange(len(texts)))) if texts.null_count else texts


def _without_blank_ends(
    texts: pa.LargeListArray, items: pa.Array, blank: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> pa.LargeListArray:
    """Leave out the blank items at the end of each list."""
    if texts.null_count:
        raise NoKernelError
    starts = list_offsets(texts) - list_offsets(texts)[0]
    whole = np.diff(starts)
    lengths = whole.copy()
    while True:
        last = np.maximum(starts[:-1] + lengths - 1, 0)
        ends_blank = (lengths > 0) & blank[last]
        if not ends_blank.any():
            break
        lengths[ends_blank] -= 1
    kept = np.flatnonzero(ranges(whole) < np.repeat(lengths, whole))
    ends = int64_array(np.concatenate([[0], np.cumsum(lengths)]))
    return pa.LargeListArray.from_arrays(ends, items.take(int64_array(kept)))


def _id(expression: Expression, view: RecordBatchView) -> Columns:
    column = evaluate(expression, view)
    if column.null_count == view.count:
        return {}
    if is_text(column.type):
        return {"id": as_text(column)}
    if pa.types.is_integer(column.type) and not pa.types.is_uint64(column.type):
        return {"id_number": column.cast(pa.int64())}
    raise NoKernelError


def _absent(expression: Expression, view: RecordBatchView) -> Columns:
    """Return nothing for a column without any value; what has some is read by record."""
    if evaluate(expression, view).null_count < view.count:
        raise NoKernelError
    return {}


FIELD_KERNELS: dict[str, Callable[[Expression, RecordBatchView], Columns]] = {
    "input": _input,
    "target": _target,
    "choices": _choices,
    "id": _id,
    "sandbox": _absent,
    "files": _absent,
    "setup": _absent,
}
"""Field → its columns of the samples file; a column that is left out is null."""


def metadata_type_of_column(column: pa.Array) -> MetadataType | None:
    """Return the kind of the values of a column; None for types that only records can tell."""
    types = pa.types
    if is_text(column.type):
        return "str"
    if is_text_list(column.type):
        return "str_list"
    if types.is_integer(column.type) and not types.is_uint64(column.type):
        return "int"
    if types.is_float32(column.type) or types.is_float64(column.type):
        return "float"
    return "bool" if types.is_boolean(column.type) else None


def of_metadata_type(column: pa.Array, kind: MetadataType) -> pa.Array | None:
    """Return a column as values of a kind, or None where its values are of another."""
    if column.null_count == len(column):
        return pa.nulls(len(column), METADATA_TYPES[kind])
    if kind == "json" or metadata_type_of_column(column) != kind:
        return None
    return _as_lists(column) if kind == "str_list" else column.cast(METADATA_TYPES[kind])
