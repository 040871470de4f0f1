"""Evaluate the conditions of `where`, `if` and operations."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

from registry.errors import MappingError
from registry.manifest.expressions import AllOf, AnyOf, Comparisons, Condition, Expression, Not
from registry.mapping.coerce import is_missing
from registry.mapping.row import MISSING, Evaluator, Row

__all__ = ["Holds", "compile_comparisons", "compile_condition", "equal", "is_empty"]

Holds = Callable[[Row], bool]
"""A compiled condition."""

Test = Callable[[Any], bool]


def is_empty(value: Any) -> bool:
    """Return whether a value is missing, null, NaN, or an empty text, list or map."""
    return value is MISSING or is_missing(value) or value in ("", [], {})


def compile_condition(
    condition: Condition, compile_expression: Callable[[Expression], Evaluator]
) -> Holds:
    """Return the function that tells whether a condition holds of a row.

    Raises:
        ValueError: a comparison's operand does not fit.
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


def compile_comparisons(comparisons: Comparisons) -> Test:
    """Return the function that tells whether all comparisons hold of a value."""
    tests = [_compile_test(name, operand) for name, operand in comparisons.tests]
    return lambda value: all(test(None if value is MISSING else value) for test in tests)


def _compile_test(name: str, operand: Any) -> Test:
    if name in _ORDERED:
        return _ordered(_ORDERED[name], operand)
    return _TESTS[name](operand)


def equal(left: Any, right: Any) -> bool:
    """Compare as manifests mean it: true is not 1, and 1 is 1.0."""
    try:
        return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)
    except ArithmeticError:  # a signalling NaN of decimal refuses to be compared
        return False


def _equals(operand: Any) -> Test:
    return lambda value: equal(value, operand)


def _not_equals(operand: Any) -> Test:
    return lambda value: not equal(value, operand)


def _in(operand: Any) -> Test:
    if not isinstance(operand, list):
        raise ValueError("`in` takes a list")
    return lambda value: any(equal(value, item) for item in operand)


def _not_in(operand: Any) -> Test:
    if not isinstance(operand, list):
        raise ValueError("`not_in` takes a list")
    return lambda value: not any(equal(value, item) for item in operand)


def _regex(operand: Any) -> Test:
    if not isinstance(operand, str):
        raise ValueError("`regex` takes a pattern as text")
    try:
        pattern = re.compile(operand)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from error
    return lambda value: isinstance(value, str) and pattern.search(value) is not None


def _empty(operand: Any) -> Test:
    if not isinstance(operand, bool):
        raise ValueError("`empty` takes true or false")
    return lambda value: is_empty(value) is operand


def _ordered(compare: Callable[[Any, Any], bool], operand: Any) -> Test:
    kind: type | tuple[type, ...] = str if isinstance(operand, str) else (int, float)
    if not isinstance(operand, str | int | float) or isinstance(operand, bool):
        raise ValueError("a comparison of order takes a number or text")

    def test(value: Any) -> bool:
        if is_missing(value):
            return False
        if not isinstance(value, kind) or isinstance(value, bool):
            raise MappingError(f"can't be compared with {operand!r}", value=value)
        return compare(value, operand)

    return test


_ORDERED = {
    "less": operator.lt,
    "at_most": operator.le,
    "greater": operator.gt,
    "at_least": operator.ge,
}
_TESTS: dict[str, Callable[[Any], Test]] = {
    "equals": _equals,
    "not_equals": _not_equals,
    "in": _in,
    "not_in": _not_in,
    "regex": _regex,
    "empty": _empty,
}
