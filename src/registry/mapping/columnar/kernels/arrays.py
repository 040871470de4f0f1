"""Arrays of one kind of Python value: their types, masks, constants, and how they are joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow.arrays import (
    int64_array,
    is_text,
    list_offsets,
    repeat_string,
    string_scalar,
    to_array,
    to_numpy_int64,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from registry.manifest.expressions import Expression
    from registry.mapping.columnar.record_batch import RecordBatchView

    Evaluate = Callable[[Expression, RecordBatchView], pa.Array]
    """Returns the values of an expression for the records of a view."""
    Mask = NDArray[np.bool_]

__all__ = [
    "LARGEST_COLUMN",
    "NoKernelError",
    "as_text_lists",
    "bool_array",
    "check_size",
    "choose",
    "constant",
    "empty_mask",
    "is_list",
    "is_text_list",
    "list_of",
    "mask_of",
    "null_mask",
    "plain_type",
    "str_of_values",
    "text_of",
    "texts",
    "to_large_string",
    "unify",
]

LARGEST_COLUMN = 1 << 28
"""Bytes of a column that a kernel makes: several times those of all columns of a batch."""

_TEXT = pa.large_string()
_TEXT_LIST = pa.large_list(_TEXT)
_INT64 = 1 << 63


class NoKernelError(Exception):
    """An expression, or the type of its columns, has no kernel."""


def is_list(kind: pa.DataType) -> bool:
    """Return whether a type is that of lists, other than lists of a fixed length."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def is_text_list(kind: pa.DataType) -> bool:
    """Return whether a type is that of lists of strings."""
    return is_list(kind) and is_text(kind.value_type)


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the one type that stands for all columns with the same type of Python values."""
    if is_text(kind):
        return _TEXT
    if is_text_list(kind):
        return _TEXT_LIST
    if pa.types.is_integer(kind) and not pa.types.is_uint64(kind):
        return pa.int64()
    if pa.types.is_float32(kind) or pa.types.is_float64(kind):
        return pa.float64()
    if pa.types.is_boolean(kind):
        return kind
    raise NoKernelError


def to_large_string(column: pa.Array) -> pa.Array:
    """Return strings, or the decimal digits of integers, as `large_string`."""
    if not is_text(column.type) and not pa.types.is_integer(column.type):
        raise NoKernelError
    return column if pa.types.is_large_string(column.type) else column.cast(_TEXT)


def text_of(values: pa.Array) -> pa.Array:
    """Return strings without nulls as `large_string`."""
    if not is_text(values.type) or values.null_count:
        raise NoKernelError
    text = to_large_string(values)
    offsets, data = list_offsets(text), text.buffers()[2]
    if offsets[0] == 0 or data is None:
        return text
    # `ascii_lower` of pyarrow 26 returns other bytes if the first string does not begin at 0, as
    # where a part of a `string` column was cast.
    starts = pa.py_buffer(offsets - offsets[0])
    return pa.Array.from_buffers(text.type, len(text), [None, starts, data[int(offsets[0]) :]])


def str_of_values(column: pa.Array) -> pa.Array:
    """Return Python's `str` of each str, int, float or bool; a null stays null."""
    if pa.types.is_boolean(column.type):
        return pc.if_else(column, string_scalar("True"), string_scalar("False"))
    if pa.types.is_float32(column.type) or pa.types.is_float64(column.type):
        # pyarrow writes floats differently than Python.
        texts = [None if value is None else str(value) for value in column.to_pylist()]
        return to_array(texts, _TEXT)
    return to_large_string(column)


def as_text_lists(column: pa.Array) -> pa.LargeListArray:
    """Return lists of strings in which a null has no items.

    In Arrow, a null list may cover items. `flatten` drops these, so that the offsets of the lists
    would no longer be positions in its result.
    """
    lists = column.cast(_TEXT_LIST)
    return lists.take(int64_array(np.arange(len(lists)))) if lists.null_count else lists


def list_of(offsets: NDArray[np.int64], items: pa.Array) -> pa.LargeListArray:
    """Return lists: row `i` has the items from `offsets[i]` to `offsets[i + 1]`."""
    return pa.LargeListArray.from_arrays(int64_array(offsets), items)


def texts(values: Sequence[str]) -> pa.Array:
    """Return a few strings as a column."""
    return pa.concat_arrays([repeat_string("", 0), *(repeat_string(text, 1) for text in values)])


def bool_array(mask: Mask) -> pa.BooleanArray:
    """Return a mask as a column."""
    bits = np.packbits(mask, bitorder="little")
    return pa.Array.from_buffers(pa.bool_(), len(mask), [None, pa.py_buffer(bits)])


def mask_of(column: pa.Array) -> Mask:
    """Return where a column of booleans is true."""
    mask = np.zeros(len(column), np.bool_)
    mask[to_numpy_int64(pc.indices_nonzero(column))] = True
    return mask


def null_mask(column: pa.Array) -> Mask:
    """Return where a column is null."""
    if column.null_count == 0:
        return np.zeros(len(column), np.bool_)
    return mask_of(column.is_null())


def empty_mask(column: pa.Array) -> Mask:
    """Return where the values are null, NaN or empty, as `conditions.is_empty` does."""
    empty = null_mask(column)
    if len(column) == 0 or empty.all():
        return empty
    kind = plain_type(column.type)
    if pa.types.is_large_string(kind) or pa.types.is_large_list(kind):
        plain = to_large_string(column) if is_text(column.type) else as_text_lists(column)
        empty |= np.diff(list_offsets(plain)) == 0
    if pa.types.is_floating(kind):
        empty |= mask_of(pc.is_nan(column))
    return empty


def constant(value: Any, count: int) -> pa.Array:
    """Return a column with the same value in every row."""
    match value:
        case str():
            if len(value) * count > LARGEST_COLUMN:
                raise NoKernelError
            return repeat_string(value, count)
        case bool():
            return bool_array(np.full(count, value))
        case int() if -_INT64 <= value < _INT64:
            return int64_array(np.full(count, value, np.int64))
        case float():
            data = pa.py_buffer(np.full(count, value))
            return pa.Array.from_buffers(pa.float64(), count, [None, data])
        case None:
            return pa.nulls(count, _TEXT)
        case list() if all(type(item) is str for item in value):
            if sum(map(len, value)) * count > LARGEST_COLUMN:
                raise NoKernelError
            places = np.tile(np.arange(len(value)), count)
            offsets = np.arange(count + 1) * len(value)
            return list_of(offsets, texts(value).take(int64_array(places)))
        case _:
            raise NoKernelError


def unify(columns: Sequence[pa.Array]) -> list[pa.Array]:
    """Return columns with the same type of Python values as columns of one Arrow type."""
    filled = {id(column) for column in columns if column.null_count < len(column)}
    kinds = {plain_type(column.type) for column in columns if id(column) in filled}
    if len(kinds) > 1:
        raise NoKernelError
    kind = kinds.pop() if kinds else _TEXT
    return [
        _cast(column, kind) if id(column) in filled else pa.nulls(len(column), kind)
        for column in columns
    ]


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    if column.type == kind:
        return column
    return as_text_lists(column) if pa.types.is_large_list(kind) else column.cast(kind)


def choose(mask: Mask, if_true: pa.Array, if_false: pa.Array) -> pa.Array:
    """Return the rows of one column where the mask is true, else those of the other."""
    if mask.all():
        return if_true
    if not mask.any():
        return if_false
    check_size([if_true, if_false], 0)
    count = len(mask)
    order = np.arange(count) + np.where(mask, 0, count)
    return pa.concat_arrays(unify([if_true, if_false])).take(int64_array(order))


def check_size(columns: Sequence[Any], count: int) -> None:
    """Leave columns that would be very large together to the record-wise road, and its limits."""
    scalars = [piece for piece in columns if isinstance(piece, pa.Scalar)]
    size = sum(column.nbytes for column in columns if isinstance(column, pa.Array))
    if size + count * sum(len(piece.as_py().encode()) for piece in scalars) > LARGEST_COLUMN:
        raise NoKernelError
