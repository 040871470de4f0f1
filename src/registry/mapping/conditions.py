"""Evaluate the conditions of `where`, `if` and operations."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from registry.errors import MappingError
from registry.manifest.expressions import AllOf, AnyOf, Comparisons, Condition, Expression, Not
from registry.mapping.coerce import is_missing
from registry.mapping.regex import compile_pattern
from registry.mapping.row import MISSING, Evaluator, Row

__all__ = [
    "RowPredicate",
    "ValuePredicate",
    "compile_comparisons",
    "compile_condition",
    "equal",
    "is_empty",
]

RowPredicate = Callable[[Row], bool]
"""A compiled condition."""

ValuePredicate = Callable[[Any], bool]
"""Compiled comparisons of one value."""

_ORDERINGS: dict[str, Callable[[Any, Any], bool]] = {
    "less": operator.lt,
    "at_most": operator.le,
    "greater": operator.gt,
    "at_least": operator.ge,
}


def is_empty(value: Any) -> bool:
    """Return whether a value is missing, null, NaN, or an empty str, list or dict."""
    return value is MISSING or is_missing(value) or value in ("", [], {})


def equal(left: Any, right: Any) -> bool:
    """Compare by the rules of manifests: unlike in Python, true is not 1; 1 equals 1.0."""
    try:
        return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)
    except ArithmeticError:  # comparing a signalling NaN of decimal raises
        return False


def compile_condition(
    condition: Condition, compile_expression: Callable[[Expression], Evaluator]
) -> RowPredicate:
    """Compile a condition to a function that returns whether a row meets it.

    Raises:
        ValueError: the operand of a comparison has the wrong type.
    """
    match condition:
        case AllOf(conditions):
            parts = [compile_condition(item, compile_expression) for item in conditions]
            return lambda row: all(part(row) for part in parts)
        case AnyOf(conditions):
            parts = [compile_condition(item, compile_expression) for item in conditions]
            return lambda row: any(part(row) for part in parts)
        case Not(inner):
            opposite = compile_condition(inner, compile_expression)
            return lambda row: not opposite(row)
        case Comparisons(_, value):
            if value is None:
                raise ValueError("a condition needs `value`")
            evaluate, holds = compile_expression(value), compile_comparisons(condition)
            return lambda row: holds(evaluate(row))


def compile_comparisons(comparisons: Comparisons) -> ValuePredicate:
    """Compile comparisons to a function that returns whether a value meets all of them."""
    tests = [_compile_comparison(name, operand) for name, operand in comparisons.tests]
    # A missing column compares like null.
    return lambda value: all(test(None if value is MISSING else value) for test in tests)


def _compile_comparison(name: str, operand: Any) -> ValuePredicate:
    match name:
        case "equals":
            return lambda value: equal(value, operand)
        case "not_equals":
            return lambda value: not equal(value, operand)
        case "in" | "not_in" if not isinstance(operand, list):
            raise ValueError(f"`{name}` takes a list")
        case "in":  # not Python's `in`, which takes true for 1
            return lambda value: any(equal(value, item) for item in operand)
        case "not_in":
            return lambda value: not any(equal(value, item) for item in operand)
        case "empty" if not isinstance(operand, bool):
            raise ValueError("`empty` takes true or false")
        case "empty":
            return lambda value: is_empty(value) is operand
        case "regex" if not isinstance(operand, str):
            raise ValueError("`regex` takes a pattern, a string")
        case "regex":
            found = compile_pattern(operand).found
            return lambda value: isinstance(value, str) and found(value)
        case _:
            return _compile_ordering(name, operand)


def _compile_ordering(name: str, operand: Any) -> ValuePredicate:
    compare = _ORDERINGS[name]
    kind: type | tuple[type, ...] = str if isinstance(operand, str) else (int, float)
    if not isinstance(operand, str | int | float) or isinstance(operand, bool):
        raise ValueError(f"`{name}` takes a number or a string")

    def test(value: Any) -> bool:
        if is_missing(value):  # as in SQL, null is neither less nor greater
            return False
        if not isinstance(value, kind) or isinstance(value, bool):
            raise MappingError(f"can't be compared with {operand!r}", value=value)
        return compare(value, operand)

    return test
