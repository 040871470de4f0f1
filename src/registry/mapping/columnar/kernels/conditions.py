"""Evaluate conditions on whole columns, as `mapping.conditions` does with each value."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow.arrays import int64_array, is_text, list_offsets, string_scalar
from registry.decode.frame import NotColumnarError
from registry.errors import MappingError
from registry.manifest.expressions import AllOf, AnyOf, Comparisons, Condition, Expression, Not
from registry.mapping.columnar.kernels.arrays import (
    NoKernelError,
    as_text_lists,
    choose,
    constant,
    empty_mask,
    mask_of,
    null_mask,
    plain_type,
    texts,
    to_large_string,
)
from registry.mapping.columnar.kernels.patterns import contains_pattern

if TYPE_CHECKING:
    from registry.mapping.columnar.kernels.arrays import Evaluate, Mask
    from registry.mapping.columnar.record_batch import RecordBatchView

__all__ = ["branch", "condition_mask", "holds", "values_where"]

_LARGEST_EXACT = 1 << 53
"""Up to here, every integer is a float."""

_INT64 = 1 << 63

_ORDERINGS: dict[str, Callable[..., pa.Array]] = {
    "less": pc.less,
    "at_most": pc.less_equal,
    "greater": pc.greater,
    "at_least": pc.greater_equal,
}


def condition_mask(condition: Condition, view: RecordBatchView, evaluate: Evaluate) -> Mask:
    """Return which records meet a condition."""
    # Record by record, the first part that fails spares the others. Here all are evaluated: one
    # that would raise an error has no kernel.
    match condition:
        case AllOf(conditions):
            masks = [condition_mask(item, view, evaluate) for item in conditions]
            return _all(masks, view.count)
        case AnyOf(conditions):
            masks = [condition_mask(item, view, evaluate) for item in conditions]
            return ~_all([~mask for mask in masks], view.count)
        case Not(inner):
            return ~condition_mask(inner, view, evaluate)
        case Comparisons(tests, value) if value is not None:
            return holds(evaluate(value, view), tests)
        case _:
            raise NoKernelError


def branch(
    mask: Mask,
    then: Expression,
    otherwise: Expression,
    view: RecordBatchView,
    evaluate: Evaluate,
) -> pa.Array:
    """Return the values of one expression where a mask is true, else those of the other."""
    if mask.all():
        return evaluate(then, view)
    if not mask.any():
        return evaluate(otherwise, view)
    chosen = values_where(mask, then, view, evaluate)
    return choose(mask, chosen, values_where(~mask, otherwise, view, evaluate))


def values_where(
    mask: Mask, expression: Expression, view: RecordBatchView, evaluate: Evaluate
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


def holds(column: pa.Array, tests: Sequence[tuple[str, Any]]) -> Mask:
    """Return which values meet all comparisons; a null is None, or a missing column."""
    return _all([_compare(name, column, operand) for name, operand in tests], len(column))


def _compare(name: str, column: pa.Array, operand: Any) -> Mask:
    match name:
        case "equals":
            return _equals(column, operand)
        case "not_equals":
            return ~_equals(column, operand)
        case "in" | "not_in":
            found = _is_in(column, operand)
            return found if name == "in" else ~found
        case "empty":
            empty = empty_mask(column)
            return empty if operand else ~empty
        case "regex":
            return _matches(column, operand)
        case _:
            return _ordered(name, column, operand)


def _equals(column: pa.Array, operand: Any) -> Mask:
    """Compare by the rules of `conditions.equal`."""
    if operand is None:
        return null_mask(column)
    nothing = np.zeros(len(column), np.bool_)
    if column.null_count == len(column):
        return nothing
    kind = plain_type(column.type)
    match operand:
        case str() if pa.types.is_large_string(kind):
            return mask_of(pc.equal(to_large_string(column), string_scalar(operand)))
        case bool() if pa.types.is_boolean(kind):
            return mask_of(column if operand else pc.invert(column))
        case int() | float() if not isinstance(operand, bool) and _is_number(kind):
            number = _number(kind, operand)
            return nothing if number is None else mask_of(pc.equal(column.cast(kind), number))
        case list() if pa.types.is_large_list(kind):
            return _equals_list(as_text_lists(column), operand)
        case _:
            return nothing


def _is_in(column: pa.Array, operand: Sequence[Any]) -> Mask:
    """Return which values equal any of several."""
    # All strings or integers at once, as there may be many.
    at_once: list[Any] = []
    found = np.zeros(len(column), np.bool_)
    if is_text(column.type):
        at_once = [item for item in operand if type(item) is str]
        found = mask_of(pc.is_in(to_large_string(column), texts(at_once)))
    elif pa.types.is_integer(column.type) and plain_type(column.type) == pa.int64():
        at_once = [item for item in operand if type(item) is int and -_INT64 <= item < _INT64]
        found = mask_of(pc.is_in(column.cast(pa.int64()), int64_array(np.array(at_once, np.int64))))
    kinds = set(map(type, at_once))
    others = [item for item in operand if type(item) not in kinds]
    return found | ~_all([~_equals(column, item) for item in others], len(column))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_int64(kind) or pa.types.is_float64(kind))


def _number(kind: pa.DataType, operand: float) -> pa.Scalar | None:
    """Return a number as a scalar of a column's type; None if no value can equal it."""
    if isinstance(operand, float) and not math.isfinite(operand):
        raise NoKernelError
    if pa.types.is_float64(kind):
        if isinstance(operand, int) and abs(operand) > _LARGEST_EXACT:
            raise NoKernelError
        return constant(float(operand), 1)[0]
    if isinstance(operand, float):
        if not operand.is_integer():
            return None
        operand = int(operand)
    return constant(operand, 1)[0] if -_INT64 <= operand < _INT64 else None


def _equals_list(lists: pa.LargeListArray, operand: list[Any]) -> Mask:
    offsets = list_offsets(lists) - list_offsets(lists)[0]
    found: Mask = (np.diff(offsets) == len(operand)) & ~null_mask(lists)
    items = lists.flatten()
    for place, item in enumerate(operand):
        same = _equals(items, item)
        found[found] = same[offsets[:-1][found] + place]
    return found


def _matches(column: pa.Array, pattern: str) -> Mask:
    if column.null_count == len(column) or not pa.types.is_large_string(plain_type(column.type)):
        return np.zeros(len(column), np.bool_)  # only a str can match
    return mask_of(contains_pattern(to_large_string(column), pattern))


def _ordered(name: str, column: pa.Array, operand: Any) -> Mask:
    if column.null_count == len(column):
        return np.zeros(len(column), np.bool_)
    kind = plain_type(column.type)
    if isinstance(operand, str):
        if not pa.types.is_large_string(kind):
            raise NoKernelError  # an error, which its record reports
        # UTF-8 has the order of the code points, which is Python's.
        return mask_of(_ORDERINGS[name](to_large_string(column), string_scalar(operand)))
    number = _number(kind, operand) if _is_number(kind) else None
    if number is None:
        raise NoKernelError
    return mask_of(_ORDERINGS[name](column.cast(kind), number))


def _all(masks: Sequence[Mask], count: int) -> Mask:
    together = np.ones(count, np.bool_)
    for mask in masks:
        together &= mask
    return together
