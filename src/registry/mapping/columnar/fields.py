"""Columns of a source that are a field as they are: Arrow columns that need no Python values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow import (
    blank_strings,
    int64_array,
    is_text,
    list_offsets,
    repeat_string,
    string_scalar,
)
from registry.samples.fields import NAMES
from registry.store.schema import METADATA_TYPES, MetadataType

__all__ = ["FIELD_COLUMNS", "cast_to_metadata_type", "metadata_type_of_column"]

FieldColumns = dict[str, pa.Array]
_TEXT = pa.large_string()
_TEXT_LIST = pa.large_list(_TEXT)


def is_list(kind: pa.DataType) -> bool:
    """Return whether a type is that of lists, other than lists of a fixed length."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def is_text_list(kind: pa.DataType) -> bool:
    """Return whether a type is that of lists of strings."""
    return is_list(kind) and is_text(kind.value_type)


def to_large_string(column: pa.Array) -> pa.Array:
    """Return strings as `large_string`."""
    return column if pa.types.is_large_string(column.type) else column.cast(_TEXT)


def as_text_lists(column: pa.Array) -> pa.LargeListArray:
    """Return lists of strings in which a null has no items.

    In Arrow, a null list may cover items. `flatten` drops these, so that the offsets of the lists
    would no longer be positions in its result.
    """
    lists = column.cast(_TEXT_LIST)
    return lists.take(int64_array(np.arange(len(lists)))) if lists.null_count else lists


def _input(column: pa.Array) -> FieldColumns | None:
    if not is_text(column.type) or column.null_count:
        return None
    text = to_large_string(column)
    return {"input": text} if len(text) and (np.diff(list_offsets(text)) > 0).all() else None


def _target(column: pa.Array) -> FieldColumns | None:
    if column.null_count == len(column):
        return {"target": repeat_string("", len(column))}
    if is_text(column.type):
        return {"target": pc.fill_null(to_large_string(column), string_scalar(""))}
    if is_text_list(column.type):
        lists = as_text_lists(column)
        if not lists.null_count and not lists.flatten().null_count:
            return {"target": pa.nulls(len(column), _TEXT), "targets": lists}
    return None


def _choices(column: pa.Array) -> FieldColumns | None:
    if column.null_count == len(column):
        return {}
    if not is_text_list(column.type) or column.null_count:
        return None
    lists = as_text_lists(column)
    items = lists.flatten()
    return None if items.null_count or len(blank_strings(items)) else {"choices": lists}


def _id(column: pa.Array) -> FieldColumns | None:
    if column.null_count == len(column):
        return {}
    if is_text(column.type):
        return {"id": to_large_string(column)}
    if pa.types.is_integer(column.type) and not pa.types.is_uint64(column.type):
        return {"id_number": column.cast(pa.int64())}
    return None


def _setup(column: pa.Array) -> FieldColumns | None:
    if column.null_count == len(column):
        return {}
    return {"setup": to_large_string(column)} if is_text(column.type) else None


def _absent(column: pa.Array) -> FieldColumns | None:
    return {} if column.null_count == len(column) else None


FIELD_COLUMNS: dict[str, Callable[[pa.Array], FieldColumns | None]] = {
    **dict.fromkeys((name for name in NAMES if name != "metadata"), _absent),
    "input": _input,
    "target": _target,
    "choices": _choices,
    "id": _id,
    "setup": _setup,
}
"""Field → the function that returns its columns; None if the values decide."""


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
