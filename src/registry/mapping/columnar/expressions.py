"""Expressions of the field language evaluated on whole columns.

There is a kernel where pyarrow gives exactly what `expression` gives record by record; for the
rest `NoKernelError` says that records are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow import int64_array, repeat_string, string_scalar, to_numpy_int64
from registry.manifest.expressions import (
    Column,
    Comparisons,
    Condition,
    Const,
    Expression,
    Hash,
    ListOf,
    OperationCall,
    Pipe,
    RowNumber,
    Template,
)
from registry.manifest.templates import Placeholder
from registry.mapping.columnar.digests import digests_of
from registry.mapping.columnar.list_texts import text_of_lists
from registry.mapping.columnar.record_batch import RecordBatchView, python_values

__all__ = ["NoKernelError", "as_text", "evaluate", "is_text", "is_text_list", "places_where"]


_LARGEST_START = 1 << 62


class NoKernelError(Exception):
    """An expression, or the type of its columns, has no kernel."""


def is_text(kind: pa.DataType) -> bool:
    """Return whether a column holds text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_text_list(kind: pa.DataType) -> bool:
    """Return whether a column holds lists of text."""
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return bool(is_list and is_text(kind.value_type))


def as_text(column: pa.Array) -> pa.Array:
    """Return text, or the text of whole numbers, as Python writes them."""
    if not is_text(column.type) and not pa.types.is_integer(column.type):
        raise NoKernelError
    return column if pa.types.is_large_string(column.type) else column.cast(pa.large_string())


def evaluate(expression: Expression, view: RecordBatchView) -> pa.Array:
    """Return the values of an expression; null where a record gives null or lacks the column.

    Raises:
        NoKernelError: it must be evaluated record by record.
    """
    match expression:
        case Column(name):
            return _column(name, view)
        case Const(str() as text):
            return repeat_string(text, view.count)
        case ListOf(items) if items:
            return _interleaved([_required_text(item, view) for item in items])
        case Template():
            return _template(expression, view)
        case Hash(fields=fields) if fields:
            return _hash(expression, view)
        case RowNumber(start, None) if abs(start) < _LARGEST_START:
            return int64_array(view.numbers + (start - 1))
        case Pipe(start, operations):
            column = _required(start, view)
            return reduce(lambda values, call: _apply(call, values), operations, column)
        case _:
            raise NoKernelError


def _column(name: str, view: RecordBatchView) -> pa.Array:
    column = view.column(name)
    if column is None:
        raise NoKernelError
    return column


def _required(expression: Expression, view: RecordBatchView) -> pa.Array:
    """Return the values of an expression that are all there."""
    column = evaluate(expression, view)
    if column.null_count:
        raise NoKernelError
    return column


def _required_text(expression: Expression, view: RecordBatchView) -> pa.Array:
    column = _required(expression, view)
    if not is_text(column.type):
        raise NoKernelError
    return as_text(column)


def _interleaved(columns: list[pa.Array]) -> pa.Array:
    """Return lists of the values that columns have in each row."""
    width, count = len(columns), len(columns[0])
    order = np.arange(width * count).reshape(width, count).T.ravel()
    items = pa.concat_arrays(columns).take(int64_array(order))
    starts = int64_array(np.arange(0, width * count + 1, width))
    return pa.LargeListArray.from_arrays(starts, items)


def _template(template: Template, view: RecordBatchView) -> pa.Array:
    pieces: list[Any] = []
    for part in template.parts:
        if isinstance(part, str):
            pieces.append(string_scalar(part))
        elif isinstance(part, Placeholder) and part.default is None:
            value = template.values.get(part.name, Column(part.name))
            pieces.append(as_text(_required(value, view)))
        else:
            raise NoKernelError
    if all(isinstance(piece, pa.Scalar) for piece in pieces):
        raise NoKernelError
    return pc.binary_join_element_wise(*pieces, string_scalar(""))


def _hash(expression: Hash, view: RecordBatchView) -> pa.Array:
    columns = [_str(_required(field, view)) for field in expression.fields]
    algorithm, length = expression.algorithm, expression.length
    digests = digests_of(columns, algorithm=algorithm, length=length)
    if expression.prefix is None:
        return digests
    prefix = _str(_required(expression.prefix, view))
    return pc.binary_join_element_wise(prefix, digests, string_scalar("_"))


def _str(column: pa.Array) -> pa.Array:
    """Return what Python's `str` gives for each value."""
    if is_text(column.type) or pa.types.is_integer(column.type):
        return as_text(column)
    if is_text_list(column.type):
        return text_of_lists(column)
    return pa.array(list(map(str, python_values(column))), pa.large_string())


def _apply(call: OperationCall, values: pa.Array) -> pa.Array:
    kernel = _OPERATIONS.get(call.name)
    if kernel is None:
        raise NoKernelError
    return kernel(values, call.arguments)


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# What `str.strip` takes off text of ASCII.
_BLANKS = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f "


def _letter(values: pa.Array, argument: Any) -> pa.Array:
    if not pa.types.is_integer(values.type) or pa.types.is_uint64(values.type):
        raise NoKernelError
    numbers = to_numpy_int64(values) - (argument or {}).get("base", 0)
    if len(numbers) and not (numbers.min() >= 0 and numbers.max() < len(_LETTERS)):
        raise NoKernelError
    starts = np.arange(len(_LETTERS) + 1, dtype=np.int64)
    buffers = [None, pa.py_buffer(starts), pa.py_buffer(_LETTERS.encode())]
    letters = pa.Array.from_buffers(pa.large_string(), len(_LETTERS), buffers)
    return letters.take(int64_array(numbers))


def _ascii(values: pa.Array) -> pa.Array:
    """Return text that is ASCII, for which pyarrow and Python agree on letters and blanks."""
    text = as_text(values) if is_text(values.type) else None
    if text is None or not pc.all(pc.string_is_ascii(text)).as_py():
        raise NoKernelError
    return text


def _strip(values: pa.Array, argument: Any) -> pa.Array:
    if argument is not None:
        raise NoKernelError
    return pc.ascii_trim(_ascii(values), characters=_BLANKS)


def _replace(values: pa.Array, argument: dict[str, str]) -> pa.Array:
    if not is_text(values.type):
        raise NoKernelError
    text = as_text(values)
    for old, new in argument.items():
        text = pc.replace_substring(text, pattern=old, replacement=new)
    return text


_OPERATIONS: dict[str, Callable[[pa.Array, Any], pa.Array]] = {
    "letter": _letter,
    "lower": lambda values, argument: pc.ascii_lower(_ascii(values)),
    "upper": lambda values, argument: pc.ascii_upper(_ascii(values)),
    "strip": _strip,
    "replace": _replace,
}
"""Operations that have a kernel: values without nulls, and the argument in the manifest."""


def places_where(condition: Condition, view: RecordBatchView) -> pa.Array:
    """Return the places of the records that a condition holds of."""
    match condition:
        case Comparisons((("equals", str() as operand),), Column(name)):
            column = _column(name, view)
            if not is_text(column.type):
                raise NoKernelError
            return pc.indices_nonzero(pc.equal(as_text(column), string_scalar(operand)))
        case _:
            raise NoKernelError
