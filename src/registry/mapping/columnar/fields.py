"""Coerce whole columns to the fields of samples, as `mapping.coerce` does with each value."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow import (
    blank_strings,
    int64_array,
    list_offsets,
    ranges,
    repeat_string,
    string_scalar,
)
from registry.manifest.expressions import Expression, Messages
from registry.mapping.columnar.expressions import (
    NoKernelError,
    evaluate,
    is_text,
    is_text_list,
    to_large_string,
)
from registry.mapping.columnar.kernels.messages import conversations
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.mapping.field_mapper import is_list_of_columns
from registry.store.schema import METADATA_TYPES, MetadataType

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FIELD_KERNELS", "cast_to_metadata_type", "metadata_type_of_column"]

FieldColumns = dict[str, pa.Array]
"""Column of the samples file → its values, for one field; an omitted column is null."""

_STRING_LISTS = METADATA_TYPES["str_list"]


def _input(expression: Expression, view: RecordBatchView) -> FieldColumns:
    if isinstance(expression, Messages):
        return {"messages": conversations(expression, view, evaluate)}
    column = evaluate(expression, view)
    if not is_text(column.type) or column.null_count:
        raise NoKernelError
    text = to_large_string(column)
    if view.count and not (np.diff(list_offsets(text)) > 0).all():
        raise NoKernelError  # an empty input is an error, which its record reports
    return {"input": text}


def _target(expression: Expression, view: RecordBatchView) -> FieldColumns:
    column = evaluate(expression, view)
    if column.null_count == view.count:
        return {"target": repeat_string("", view.count)}
    if is_text_list(column.type):
        lists = _as_lists(column)
        items = lists.flatten()
        if lists.null_count or items.null_count:
            raise NoKernelError  # a null list is "", a null item "None" or an error
        if is_list_of_columns(expression) and len(blank := blank_strings(items)):
            lists = _without_items(lists, items, blank)
        return {"target": pa.nulls(view.count, pa.large_string()), "targets": lists}
    return {"target": pc.fill_null(to_large_string(column), string_scalar(""))}


def _choices(expression: Expression, view: RecordBatchView) -> FieldColumns:
    column = evaluate(expression, view)
    if column.null_count == view.count:
        return {}
    if not is_text_list(column.type):
        raise NoKernelError
    lists = _as_lists(column)
    items = lists.flatten()
    if items.null_count:
        raise NoKernelError  # "None", or an error if the manifest builds the list
    is_space = np.zeros(len(items), bool)
    is_space[blank_strings(items)] = True
    return {"choices": _trim_lists(lists, items, is_space) if is_space.any() else lists}


def _as_lists(column: pa.Array) -> pa.LargeListArray:
    """Return lists of strings in which a null has no items.

    In Arrow, a null list may cover items. `flatten` drops these, so that the offsets of the lists
    would no longer be positions in its result.
    """
    lists = column.cast(_STRING_LISTS)
    return lists.take(int64_array(np.arange(len(lists)))) if lists.null_count else lists


def _without_items(
    lists: pa.LargeListArray, items: pa.Array, dropped: NDArray[np.int64]
) -> pa.LargeListArray:
    """Remove items from lists, of which none is null."""
    kept = np.ones(len(items), bool)
    kept[dropped] = False
    starts = list_offsets(lists) - list_offsets(lists)[0]
    ends = np.concatenate([[0], np.cumsum(kept)])[starts]
    taken = items.take(int64_array(np.flatnonzero(kept)))
    return pa.LargeListArray.from_arrays(int64_array(ends), taken)


def _trim_lists(
    lists: pa.LargeListArray, items: pa.Array, is_space: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> pa.LargeListArray:
    """Remove the whitespace-only items at the end of each list."""
    if lists.null_count:  # `from_arrays` below would turn them into empty lists
        raise NoKernelError
    starts = list_offsets(lists) - list_offsets(lists)[0]
    full = np.diff(starts)
    lengths = full.copy()
    # Each round shortens every list that still ends in whitespace by one item; few rounds do.
    while True:
        last = np.maximum(starts[:-1] + lengths - 1, 0)
        ends_in_space = (lengths > 0) & is_space[last]
        if not ends_in_space.any():
            break
        lengths[ends_in_space] -= 1
    kept = np.flatnonzero(ranges(full) < np.repeat(lengths, full))
    ends = int64_array(np.concatenate([[0], np.cumsum(lengths)]))
    return pa.LargeListArray.from_arrays(ends, items.take(int64_array(kept)))


def _id(expression: Expression, view: RecordBatchView) -> FieldColumns:
    column = evaluate(expression, view)
    if column.null_count == view.count:
        return {}
    if is_text(column.type):
        return {"id": to_large_string(column)}
    if pa.types.is_integer(column.type) and not pa.types.is_uint64(column.type):
        return {"id_number": column.cast(pa.int64())}
    raise NoKernelError  # `to_id` decides for each value, such as floats that are integers


def _absent(expression: Expression, view: RecordBatchView) -> FieldColumns:
    """Return no columns if every value is null, the usual case and the only one with a kernel."""
    if evaluate(expression, view).null_count < view.count:
        raise NoKernelError
    return {}


def _description(expression: Expression, view: RecordBatchView) -> FieldColumns:
    column = evaluate(expression, view)
    if column.null_count == view.count:
        return {}
    if not is_text(column.type):
        raise NoKernelError  # an error, which its record reports
    text = to_large_string(column)
    empty = pc.equal(text, string_scalar(""))
    return {"description": pc.if_else(empty, pa.scalar(None, text.type), text)}


FIELD_KERNELS: dict[str, Callable[[Expression, RecordBatchView], FieldColumns]] = {
    "input": _input,
    "target": _target,
    "choices": _choices,
    "id": _id,
    "sandbox": _absent,
    "files": _absent,
    "setup": _absent,
    "checkpoint": _absent,
    "description": _description,
}
"""Field → the function that returns its columns, or raises NoKernelError."""


def metadata_type_of_column(column: pa.Array) -> MetadataType | None:
    """Return the metadata type of a column; None if it depends on the values."""
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


def cast_to_metadata_type(column: pa.Array, kind: MetadataType) -> pa.Array | None:
    """Return a column cast to a metadata type; None if it has a different one."""
    if column.null_count == len(column):
        return pa.nulls(len(column), METADATA_TYPES[kind])
    if kind == "json" or metadata_type_of_column(column) != kind:
        return None
    return _as_lists(column) if kind == "str_list" else column.cast(METADATA_TYPES[kind])
