"""Evaluate expressions of the field language on whole columns.

An expression has a kernel only if it returns exactly what `mapping.evaluate` returns record by
record. Otherwise a `NoKernelError` is raised, and the expression is evaluated record by record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow import array_of, int64_array, is_text, string_scalar, to_numpy_int64
from registry.decode.frame import MISSING, Frame, NotColumnarError, python_values
from registry.errors import MappingError
from registry.manifest.expressions import (
    Column,
    Condition,
    Const,
    Expression,
    Hash,
    If,
    ListOf,
    OperationCall,
    Pipe,
    RowNumber,
    Template,
    parse_comparisons,
    parse_expression,
    parse_operations,
)
from registry.mapping.columnar.kernels import list_steps, text_steps, value_steps
from registry.mapping.columnar.kernels.arrays import (
    LARGEST_COLUMN,
    NoKernelError,
    bool_array,
    choose,
    constant,
    empty_mask,
    is_text_list,
    list_of,
    plain_type,
    str_of_values,
    to_large_string,
)
from registry.mapping.columnar.kernels.conditions import condition_mask, holds
from registry.mapping.columnar.kernels.templates import fill_template
from registry.mapping.columnar.memoize import evaluate_values
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.mapping.columnar.text import hex_digests, str_of_lists
from registry.mapping.operations import find_operation

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

_TEXT = pa.large_string()


def evaluate(expression: Expression, view: RecordBatchView) -> pa.Array:
    """Return the values of an expression; null also stands for a missing column.

    Raises:
        NoKernelError: the values are no Arrow column.
    """
    try:
        return by_kernel(expression, view)
    # An error of a part may be that of a record for which the part is not evaluated.
    except (NoKernelError, MappingError) as error:
        column = array_of(evaluate_values(expression, view), missing=MISSING)
        if column is None:
            raise NoKernelError from error
        return column


def by_kernel(expression: Expression, view: RecordBatchView) -> pa.Array:
    """Return the values of an expression that has a kernel, else raise a NoKernelError."""
    match expression:
        case Column(name):
            return _column(name, view)
        case Const(value):
            return constant(value, view.count)
        case ListOf(items):
            columns = [_present(item, view) for item in items]
            return list_steps.lists_of_columns(columns, view.count)
        case Template():
            return fill_template(expression, view, evaluate)
        case Hash():
            return _hash(expression, view)
        case RowNumber(start, None) if abs(start) < _LARGEST_START:
            return int64_array(view.numbers + (start - 1))
        case If(condition, then, otherwise):
            return _if(condition_mask(condition, view, evaluate), then, otherwise, view)
        case Pipe(start, operations):
            takes_missing = bool(operations) and find_operation(operations[0]).takes_missing
            values = evaluate(start, view) if takes_missing else _present(start, view)
            return _apply(operations, values, view)
        case _:
            raise NoKernelError


def indices_where(condition: Condition, view: RecordBatchView) -> pa.Array:
    """Return the indices of the records that meet a condition."""
    try:
        return int64_array(np.flatnonzero(condition_mask(condition, view, evaluate)))
    except MappingError as error:
        raise NoKernelError from error


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


def _present(expression: Expression, view: RecordBatchView) -> pa.Array:
    """Return the values of an expression whose columns exist: a null is a value."""
    column = evaluate(expression, view)
    if column.null_count and _may_be_missing(expression, view):
        raise NoKernelError
    return column


def _may_be_missing(expression: Expression, view: RecordBatchView) -> bool:
    match expression:
        case Column(name) if isinstance(view.frame, Frame):
            return not view.frame.null_is_value or name not in view.frame.names
        case Column(name):
            return MISSING in view.values(name)
        case If(_, then, otherwise):
            return _may_be_missing(then, view) or _may_be_missing(otherwise, view)
        case _:
            return False


def _if(
    mask: np.ndarray[Any, np.dtype[np.bool_]],
    then: Expression,
    otherwise: Expression,
    view: RecordBatchView,
) -> pa.Array:
    if mask.all():
        return evaluate(then, view)
    if not mask.any():
        return evaluate(otherwise, view)
    return choose(mask, _where(mask, then, view), _where(~mask, otherwise, view))


def _where(
    mask: np.ndarray[Any, np.dtype[np.bool_]], expression: Expression, view: RecordBatchView
) -> pa.Array:
    """Return the values of an expression where a mask is true, and any value elsewhere."""
    try:
        return evaluate(expression, view)
    except (NoKernelError, MappingError):
        # An error of a record for which the expression is not evaluated does not count.
        try:
            chosen = evaluate(expression, view.take(np.flatnonzero(mask)))
        except NotColumnarError as error:
            raise NoKernelError from error
        return chosen.take(int64_array(np.maximum(np.cumsum(mask) - 1, 0)))


def _hash(expression: Hash, view: RecordBatchView) -> pa.Array:
    columns = [_str(_present(field, view)) for field in expression.fields] or _all_texts(view)
    digests = hex_digests(columns, algorithm=expression.algorithm, length=expression.length)
    if expression.prefix is None:
        return digests
    prefix = _str(_required(expression.prefix, view))
    return pc.binary_join_element_wise(prefix, digests, string_scalar("_"))


def _all_texts(view: RecordBatchView) -> list[pa.Array]:
    """Return the columns that have a str in each record, by name."""
    columns = [_column(name, view) for name in sorted({*view.frame.names, *view.constants})]
    texts = [to_large_string(column) for column in columns if plain_type(column.type) == _TEXT]
    if not texts or any(text.null_count for text in texts):
        raise NoKernelError  # the records have different columns
    return texts


def _str(column: pa.Array) -> pa.Array:
    """Return what Python's `str` gives for each value."""
    if is_text_list(column.type) and not column.null_count:
        return str_of_lists(column)
    try:
        return pc.fill_null(str_of_values(column), string_scalar(str(None)))
    except NoKernelError:
        return pa.array(list(map(str, python_values(column))), pa.large_string())


def _apply(
    calls: Sequence[OperationCall], values: pa.Array, view: RecordBatchView | None
) -> pa.Array:
    """Return the values of operations; None as view if they are applied to items of lists."""
    for call in calls:
        if call.name in _STEPS:
            values = _STEPS[call.name](values, call.arguments)
        elif call.name in _ROW_STEPS:
            values = _ROW_STEPS[call.name](values, call.arguments, view)
        else:
            raise NoKernelError
    return values


def _test(values: pa.Array, argument: Any) -> pa.Array:
    return bool_array(holds(values, parse_comparisons(argument).tests))


def _equals(values: pa.Array, argument: Any) -> pa.Array:
    return bool_array(holds(values, (("equals", argument),)))


def _keep(values: pa.Array, argument: Any) -> pa.Array:
    offsets, items = list_steps.items_of(values)
    kept = holds(items, parse_comparisons(argument).tests)
    return list_steps.without_items(list_of(offsets, items), items, ~kept)


def _each(values: pa.Array, argument: Any) -> pa.Array:
    if isinstance(argument, dict):
        raise NoKernelError
    offsets, items = list_steps.items_of(values)
    return list_of(offsets, _apply(parse_operations(argument), items, None))


def _positions(view: RecordBatchView | None, argument: Any) -> Any:
    """Return the position in an argument, or those of an expression."""
    if type(argument) is int:
        return argument
    positions = _required(parse_expression(argument), _record(view))
    if not pa.types.is_integer(positions.type) or pa.types.is_uint64(positions.type):
        raise NoKernelError
    return to_numpy_int64(positions)


def _record(view: RecordBatchView | None) -> RecordBatchView:
    """Return the records that an argument reads; an operation of items has none."""
    if view is None:
        raise NoKernelError
    return view


def _index(values: pa.Array, argument: Any, view: RecordBatchView | None) -> pa.Array:
    return list_steps.index(values, argument, partial(_positions, view))


def _slice(values: pa.Array, argument: Any, view: RecordBatchView | None) -> pa.Array:
    return list_steps.slice_(values, argument, partial(_positions, view))


def _letter_in(values: pa.Array, argument: Any, view: RecordBatchView | None) -> pa.Array:
    return value_steps.letter_in(values, _required(parse_expression(argument), _record(view)))


def _coalesce(values: pa.Array, argument: Any, view: RecordBatchView | None) -> pa.Array:
    for other in argument if isinstance(argument, list) else [argument]:
        empty = empty_mask(values)
        if not empty.any():
            break
        values = choose(empty, _where(empty, parse_expression(other), _record(view)), values)
    return choose(empty_mask(values), constant(None, len(values)), values)


_STEPS: dict[str, Callable[[pa.Array, Any], pa.Array]] = {
    "letter": value_steps.letter,
    "default": value_steps.default,
    "nonempty": value_steps.nonempty,
    "map": value_steps.look_up,
    "int": value_steps.to_int,
    "float": value_steps.to_float,
    "str": value_steps.to_str,
    "equals": _equals,
    "test": _test,
    "keep": _keep,
    "each": _each,
    "join": list_steps.join,
    "len": list_steps.length,
    "drop_null": list_steps.drop_null,
    "unique": list_steps.unique,
    "sort": list_steps.sort,
    "lower": text_steps.lower,
    "upper": text_steps.upper,
    "capitalize": text_steps.capitalize,
    "strip": text_steps.strip,
    "replace": text_steps.replace,
    "split": text_steps.split,
    "lines": text_steps.lines,
    "regex": text_steps.find,
    "sub": text_steps.substitute,
}
"""Operation → its kernel: takes values, and the argument in the manifest."""

_ROW_STEPS: dict[str, Callable[[pa.Array, Any, RecordBatchView | None], pa.Array]] = {
    "index": _index,
    "slice": _slice,
    "letter_in": _letter_in,
    "coalesce": _coalesce,
}
"""Operation → its kernel, where the argument may be an expression of the record."""
