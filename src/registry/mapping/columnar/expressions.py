"""Evaluate expressions of the field language on whole columns.

An expression has a kernel only if pyarrow returns exactly what `mapping.evaluate` returns record by
record. Otherwise a `NoKernelError` is raised, and the expression is evaluated record by record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow import (
    array_of,
    int64_array,
    is_text,
    repeat_string,
    string_scalar,
    to_numpy_int64,
)
from registry.decode.frame import MISSING, python_values
from registry.manifest.expressions import (
    Column,
    Comparisons,
    Condition,
    Const,
    Expression,
    Hash,
    ListOf,
    Pipe,
    RowNumber,
    Template,
)
from registry.manifest.templates import Placeholder
from registry.mapping.columnar.memoize import evaluate_values
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.mapping.columnar.text import hex_digests, str_of_lists

__all__ = [
    "LARGEST_COLUMN",
    "NoKernelError",
    "by_kernel",
    "evaluate",
    "indices_where",
    "is_text",
    "is_text_list",
    "to_large_string",
]

# `start + number` must fit in int64, where Python's own integers are unbounded.
_LARGEST_START = 1 << 62

LARGEST_COLUMN = 1 << 28
"""Bytes of a column that a kernel makes: several times those of all columns of a batch."""

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

# The ASCII characters that `str.strip` removes; pyarrow's whitespace lacks \x1c to \x1f.
_ASCII_WHITESPACE = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f "


class NoKernelError(Exception):
    """An expression, or the type of its columns, has no kernel."""


def is_text_list(kind: pa.DataType) -> bool:
    """Return whether a type is that of lists of strings."""
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return bool(is_list and is_text(kind.value_type))


def to_large_string(column: pa.Array) -> pa.Array:
    """Return strings, or the decimal digits of integers, as `large_string`."""
    if not is_text(column.type) and not pa.types.is_integer(column.type):
        raise NoKernelError
    return column if pa.types.is_large_string(column.type) else column.cast(pa.large_string())


def evaluate(expression: Expression, view: RecordBatchView) -> pa.Array:
    """Return the values of an expression; null also stands for a missing column.

    Raises:
        NoKernelError: the values are no Arrow column.
    """
    try:
        return by_kernel(expression, view)
    except NoKernelError:
        column = array_of(evaluate_values(expression, view), missing=MISSING)
        if column is None:
            raise
        return column


def by_kernel(expression: Expression, view: RecordBatchView) -> pa.Array:
    """Return the values of an expression that has a kernel, else raise a NoKernelError."""
    match expression:
        case Column(name):
            return _column(name, view)
        case Const(str() as text):
            return repeat_string(text, view.count)
        case ListOf(items) if items:
            return _lists([_required(item, view) for item in items])
        case Template():
            return _template(expression, view)
        case Hash(fields=fields) if fields:
            columns = [_str(_required(field, view)) for field in fields]
            algorithm, length = expression.algorithm, expression.length
            digests = hex_digests(columns, algorithm=algorithm, length=length)
            if expression.prefix is None:
                return digests
            prefix = _str(_required(expression.prefix, view))
            return pc.binary_join_element_wise(prefix, digests, string_scalar("_"))
        case RowNumber(start, None) if abs(start) < _LARGEST_START:
            return int64_array(view.numbers + (start - 1))
        case Pipe(start, operations):
            values = _required(start, view)
            for call in operations:
                if call.name not in _OPERATIONS:
                    raise NoKernelError
                values = _OPERATIONS[call.name](values, call.arguments)
            return values
        case _:
            raise NoKernelError


def indices_where(condition: Condition, view: RecordBatchView) -> pa.Array:
    """Return the indices of the records that meet a condition."""
    match condition:
        case Comparisons((("equals", str() as operand),), Column(name)):
            column = _column(name, view)
            if not is_text(column.type):
                raise NoKernelError
            return pc.indices_nonzero(pc.equal(to_large_string(column), string_scalar(operand)))
        case _:
            raise NoKernelError


def _column(name: str, view: RecordBatchView) -> pa.Array:
    column = view.column(name)
    if column is None:
        raise NoKernelError
    return column  # of any type: each kernel checks that it supports the type


def _required(expression: Expression, view: RecordBatchView) -> pa.Array:
    """Return the values of an expression that is never null."""
    column = evaluate(expression, view)
    # A null may be an error or a missing column, which only its record distinguishes.
    if column.null_count:
        raise NoKernelError
    return column


def _lists(columns: list[pa.Array]) -> pa.Array:
    """Return the columns as one column of lists: row `i` has their values in row `i`."""
    # Record by record, lists are flattened, and values of other types are not converted.
    if not all(is_text(column.type) for column in columns):
        raise NoKernelError
    width, count = len(columns), len(columns[0])
    _check_size(columns, count)
    # In the concatenated columns, row `i` of column `c` is at c * count + i.
    order = np.arange(width * count).reshape(width, count).T.ravel()
    items = pa.concat_arrays(list(map(to_large_string, columns))).take(int64_array(order))
    starts = int64_array(np.arange(0, width * count + 1, width))
    return pa.LargeListArray.from_arrays(starts, items)


def _template(template: Template, view: RecordBatchView) -> pa.Array:
    pieces: list[Any] = []
    for part in template.parts:
        if isinstance(part, str):
            pieces.append(string_scalar(part))
        elif isinstance(part, Placeholder) and part.default is None:
            value = template.values.get(part.name, Column(part.name))
            pieces.append(to_large_string(_required(value, view)))
        else:
            raise NoKernelError
    if all(isinstance(piece, pa.Scalar) for piece in pieces):
        raise NoKernelError  # pyarrow would join them to a scalar, not a column
    _check_size(pieces, view.count)
    return pc.binary_join_element_wise(*pieces, string_scalar(""))


def _check_size(columns: Sequence[Any], count: int) -> None:
    """Leave columns that would be very large together to the record-wise road, and its limits."""
    scalars = [piece for piece in columns if isinstance(piece, pa.Scalar)]
    size = sum(column.nbytes for column in columns if isinstance(column, pa.Array))
    if size + count * sum(len(piece.as_py()) for piece in scalars) > LARGEST_COLUMN:
        raise NoKernelError


def _str(column: pa.Array) -> pa.Array:
    """Return what Python's `str` gives for each value."""
    if is_text(column.type) or pa.types.is_integer(column.type):
        return to_large_string(column)
    if is_text_list(column.type):
        return str_of_lists(column)
    # pyarrow writes floats, dates and so on differently than Python's `str`.
    return pa.array(list(map(str, python_values(column))), pa.large_string())


def _letter(values: pa.Array, argument: Any) -> pa.Array:
    if not pa.types.is_integer(values.type) or pa.types.is_uint64(values.type):
        raise NoKernelError  # uint64 may exceed int64; strings of digits are rare
    numbers = to_numpy_int64(values) - (argument or {}).get("base", 0)
    if len(numbers) and not (numbers.min() >= 0 and numbers.max() < len(_LETTERS)):
        raise NoKernelError
    starts = np.arange(len(_LETTERS) + 1, dtype=np.int64)
    buffers = [None, pa.py_buffer(starts), pa.py_buffer(_LETTERS.encode())]
    letters = pa.Array.from_buffers(pa.large_string(), len(_LETTERS), buffers)
    return letters.take(int64_array(numbers))


def _ascii(values: pa.Array) -> pa.Array:
    """Return strings if all are ASCII: beyond, pyarrow and Python differ in case and whitespace."""
    text = to_large_string(values) if is_text(values.type) else None
    if text is None or not pc.all(pc.string_is_ascii(text)).as_py():
        raise NoKernelError
    return text


def _strip(values: pa.Array, argument: Any) -> pa.Array:
    if argument is not None:
        raise NoKernelError
    return pc.ascii_trim(_ascii(values), characters=_ASCII_WHITESPACE)


def _replace(values: pa.Array, argument: dict[str, str]) -> pa.Array:
    if not is_text(values.type):
        raise NoKernelError
    text = to_large_string(values)
    # In sequence, as the operation does: a later pair may match an earlier replacement.
    for old, new in argument.items():
        if text.nbytes * max(len(new), 1) > LARGEST_COLUMN and len(new) > len(old):
            raise NoKernelError
        text = pc.replace_substring(text, pattern=old, replacement=new)
    return text


_OPERATIONS: dict[str, Callable[[pa.Array, Any], pa.Array]] = {
    "letter": _letter,
    "lower": lambda values, argument: pc.ascii_lower(_ascii(values)),
    "upper": lambda values, argument: pc.ascii_upper(_ascii(values)),
    "capitalize": lambda values, argument: pc.ascii_capitalize(_ascii(values)),
    "strip": _strip,
    "replace": _replace,
}
"""Operation → its kernel: takes values without nulls, and the argument in the manifest."""
