"""Apply the operations of a pipe to whole columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from registry.base.arrow.arrays import to_numpy_int64
from registry.manifest.expressions import (
    OperationCall,
    parse_comparisons,
    parse_operations,
)
from registry.mapping.columnar.kernels import list_steps, text_steps, value_steps
from registry.mapping.columnar.kernels.arrays import (
    NoKernelError,
    bool_array,
    choose,
    constant,
    empty_mask,
    list_of,
    plain_type,
)
from registry.mapping.columnar.kernels.conditions import holds, values_where

if TYPE_CHECKING:
    from registry.mapping.columnar.kernels.arrays import Evaluate
    from registry.mapping.columnar.record_batch import RecordBatchView

__all__ = ["Scope", "apply"]


class Scope(NamedTuple):
    """The records that the arguments of operations read."""

    view: RecordBatchView
    evaluate: Evaluate

    def values(self, raw: Any) -> pa.Array:
        """Return the values of an expression in an argument, which are never null."""
        column = self.evaluate(self.view.programs.parse(raw), self.view)
        if column.null_count:
            raise NoKernelError
        return column


def apply(calls: Sequence[OperationCall], values: pa.Array, scope: Scope | None) -> pa.Array:
    """Return the values of operations; None as scope if they are applied to items of lists."""
    for call in calls:
        if call.name in _STEPS:
            values = _STEPS[call.name](values, call.arguments)
        elif call.name in _SCOPED_STEPS:
            values = _SCOPED_STEPS[call.name](values, call.arguments, scope)
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
    return list_of(offsets, apply(parse_operations(argument), items, None))


def _given(scope: Scope | None) -> Scope:
    if scope is None:
        raise NoKernelError
    return scope


def _positions(argument: Any, scope: Scope | None) -> Any:
    """Return the position in an argument, or those of an expression."""
    if type(argument) is int:
        return argument
    positions = _given(scope).values(argument)
    if plain_type(positions.type) != pa.int64():
        raise NoKernelError
    return to_numpy_int64(positions)


def _index(values: pa.Array, argument: Any, scope: Scope | None) -> pa.Array:
    return list_steps.index(values, _positions(argument, scope))


def _slice(values: pa.Array, argument: Any, scope: Scope | None) -> pa.Array:
    start, end = (None if bound is None else _positions(bound, scope) for bound in argument)
    return list_steps.slice_(values, start, end)


def _letter_in(values: pa.Array, argument: Any, scope: Scope | None) -> pa.Array:
    return value_steps.letter_in(values, _given(scope).values(argument))


def _coalesce(values: pa.Array, argument: Any, scope: Scope | None) -> pa.Array:
    for raw in argument if isinstance(argument, list) else [argument]:
        empty = empty_mask(values)
        if not empty.any():
            break
        view, evaluate = _given(scope)
        others = values_where(empty, view.programs.parse(raw), view, evaluate)
        values = choose(empty, others, values)
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

_SCOPED_STEPS: dict[str, Callable[[pa.Array, Any, Scope | None], pa.Array]] = {
    "index": _index,
    "slice": _slice,
    "letter_in": _letter_in,
    "coalesce": _coalesce,
}
"""Operation → its kernel, where the argument may be an expression of the record."""
