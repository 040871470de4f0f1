"""Evaluate expressions of the field language on whole columns.

An expression has a kernel only if it returns exactly what `mapping.evaluate` returns record by
record. Otherwise a `NoKernelError` is raised, and the expression is evaluated record by record.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow.arrays import array_of, int64_array, string_scalar, to_array
from registry.decode.frame import MISSING, Frame, python_values
from registry.errors import MappingError
from registry.manifest.expressions import (
    Column,
    Condition,
    Const,
    Expression,
    Hash,
    If,
    ListOf,
    Pipe,
    RowNumber,
    Template,
)
from registry.mapping.columnar.kernels.arrays import (
    NoKernelError,
    constant,
    is_text_list,
    plain_type,
    str_of_values,
    to_large_string,
)
from registry.mapping.columnar.kernels.conditions import branch, condition_mask
from registry.mapping.columnar.kernels.list_steps import lists_of_columns
from registry.mapping.columnar.kernels.pipes import Scope, apply
from registry.mapping.columnar.kernels.templates import fill_template
from registry.mapping.columnar.memoize import evaluate_values
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.mapping.columnar.text import hex_digests, str_of_lists
from registry.mapping.operations import find_operation

if TYPE_CHECKING:
    from registry.mapping.columnar.kernels.arrays import Evaluate

__all__ = ["NoKernelError", "by_kernel", "evaluate", "indices_where"]

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
            columns = [_present(item, view, by_kernel) for item in items]
            return lists_of_columns(columns, view.count)
        case Template():
            return fill_template(expression, view, by_kernel)
        case Hash():
            return _hash(expression, view)
        case RowNumber(start, None) if abs(start) < _LARGEST_START:
            return int64_array(view.numbers + (start - 1))
        case RowNumber(start, int(width)) if 0 <= start < _LARGEST_START and 0 <= width <= 99:
            digits = to_large_string(int64_array(view.numbers + (start - 1)))
            return pc.utf8_lpad(digits, width, padding="0")
        case If(condition, then, otherwise):
            # If a part has no kernel, one function evaluates the whole in less time.
            mask = condition_mask(condition, view, by_kernel)
            return branch(mask, then, otherwise, view, by_kernel)
        case Pipe(start, operations):
            takes_missing = bool(operations) and find_operation(operations[0]).takes_missing
            values = (by_kernel if takes_missing else partial(_present, evaluate=by_kernel))(
                start, view
            )
            return apply(operations, values, Scope(view, by_kernel))
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


def _present(
    expression: Expression, view: RecordBatchView, evaluate: Evaluate = evaluate
) -> pa.Array:
    """Return the values of an expression whose columns exist: a null is a value."""
    column = evaluate(expression, view)
    _refuse_missing(expression, column, view)
    return column


def _refuse_missing(expression: Expression, column: pa.Array, view: RecordBatchView) -> None:
    if column.null_count and _may_be_missing(expression, view):
        raise NoKernelError


def _may_be_missing(expression: Expression, view: RecordBatchView) -> bool:
    match expression:
        case Column(name) if view.holds_values(name):
            return MISSING in view.values(name)
        case Column(name) if isinstance(view.frame, Frame):
            return not view.frame.means_value(name)
        case If(_, then, otherwise):
            return _may_be_missing(then, view) or _may_be_missing(otherwise, view)
        case _:
            return False


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
        return to_array(list(map(str, python_values(column))), pa.large_string())
