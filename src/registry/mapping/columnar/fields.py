"""Coerce whole columns to the fields of samples, as `mapping.coerce` does with each value."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow.arrays import (
    int64_array,
    is_text,
    list_offsets,
    ranges,
    repeat_string,
    string_scalar,
)
from registry.base.arrow.strings import blank_strings
from registry.manifest.expressions import Expression, Messages
from registry.mapping.columnar.expressions import evaluate
from registry.mapping.columnar.kernels.arrays import (
    NoKernelError,
    as_text_lists,
    is_text_list,
    list_of,
    str_of_values,
    text_of,
    to_large_string,
)
from registry.mapping.columnar.kernels.list_steps import items_of, without_items
from registry.mapping.columnar.kernels.messages import conversations
from registry.mapping.columnar.kernels.text_steps import split, strip
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.mapping.field_mapper import is_list_of_columns
from registry.store.schema import (
    METADATA_TYPES,
    MetadataType,
)

__all__ = ["FIELD_KERNELS", "cast_to_metadata_type", "metadata_type_of_column"]

FieldColumns = dict[str, pa.Array]
"""Column of the samples file → its values, for one field; an omitted column is null."""

# Whitespace other than the space, which `str.split` breaks at.
_BREAKS = (
    r"[\t-\r\x1c-\x1f\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]"
)


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
        lists = as_text_lists(column)
        items = lists.flatten()
        if lists.null_count or items.null_count:
            raise NoKernelError  # a null list is "", a null item "None" or an error
        if is_list_of_columns(expression) and len(blank := blank_strings(items)):
            is_blank = np.zeros(len(items), np.bool_)
            is_blank[blank] = True
            lists = without_items(lists, items, is_blank)
        return {"target": pa.nulls(view.count, pa.large_string()), "targets": lists}
    return {"target": pc.fill_null(_str_or_null(column), string_scalar(""))}


def _str_or_null(column: pa.Array) -> pa.Array:
    """Return Python's `str` of each value, null for null and NaN."""
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.nulls(len(column), column.type), column)
    return str_of_values(column)


def _choices(expression: Expression, view: RecordBatchView) -> FieldColumns:
    column = evaluate(expression, view)
    if column.null_count == view.count:
        return {}
    if is_text(column.type):
        return {"choices": _split_choices(text_of(column))}
    if not is_text_list(column.type):
        raise NoKernelError
    lists = as_text_lists(column)
    items = lists.flatten()
    if items.null_count:
        raise NoKernelError  # "None", or an error if the manifest builds the list
    is_space = np.zeros(len(items), bool)
    is_space[blank_strings(items)] = True
    return {"choices": _trim_lists(lists, items, is_space) if is_space.any() else lists}


def _split_choices(text: pa.Array) -> pa.LargeListArray:
    """Return the parts of strings between commas, or between whitespace, without blank ones."""
    has_comma = pc.match_substring(text, pattern=",")
    if not pc.all(has_comma).as_py():
        if pc.any(pc.match_substring_regex(text.filter(pc.invert(has_comma)), _BREAKS)).as_py():
            raise NoKernelError
        text = pc.if_else(has_comma, text, pc.replace_substring(text, " ", ","))
    offsets, items = items_of(split(text, ","))
    items = strip(items, None)
    is_blank = np.diff(list_offsets(items)) == 0
    lists = list_of(offsets, items)
    return without_items(lists, items, is_blank) if is_blank.any() else lists


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


def _setup(expression: Expression, view: RecordBatchView) -> FieldColumns:
    column = evaluate(expression, view)
    return {"setup": _str_or_null(column)} if column.null_count < view.count else {}


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
    "setup": _setup,
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
    return as_text_lists(column) if kind == "str_list" else column.cast(METADATA_TYPES[kind])
