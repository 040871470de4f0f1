"""Compare values as `where`, `if` and operations do."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from registry.errors import MappingError
from registry.manifest.expressions import Comparisons
from registry.mapping.coerce import is_missing
from registry.mapping.regex import compile_pattern
from registry.mapping.row import MISSING

__all__ = ["ValuePredicate", "compile_comparisons", "equal", "is_empty", "key_of", "takes_long"]

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
    """Compare by the rules of manifests, at any depth: 1 equals 1.0, but not true."""
    try:
        if isinstance(left, bool) != isinstance(right, bool) or left != right:
            return False
    except ArithmeticError:  # comparing a signalling NaN of decimal raises
        return False
    if isinstance(left, dict):
        return all(equal(item, right[key]) for key, item in left.items())
    return not isinstance(left, list | tuple) or all(map(equal, left, right))


def key_of(value: Any) -> Any:
    """Return a key of a dict that is the same for values that are `equal`.

    It is a pair, whose second item is the value unless that is a list or a dict. The key of what
    equals nothing, such as NaN, is no pair, and no other value's.
    """
    try:
        hash(key := _hashable(value))
    except TypeError:  # a signalling NaN of decimal has no hash
        return object()
    return key if equal(value, value) else object()


def _hashable(value: Any) -> tuple[bool, Any]:
    inner = value
    if isinstance(value, list | tuple):
        inner = type(value).__name__, tuple(map(_hashable, value))
    elif isinstance(value, dict):
        inner = "dict", frozenset((key, _hashable(item)) for key, item in value.items())
    return isinstance(value, bool), inner


def compile_comparisons(comparisons: Comparisons) -> ValuePredicate:
    """Compile comparisons to a function that returns whether a value meets all of them."""
    tests = [_compile_comparison(name, operand) for name, operand in comparisons.tests]
    if len(tests) == 1:
        test = tests[0]
        # A missing column compares like null.
        return lambda value: test(None if value is MISSING else value)
    return lambda value: all(test(None if value is MISSING else value) for test in tests)


def takes_long(comparisons: Comparisons) -> bool:
    """Return whether a comparison may take long: a pattern has seconds for each text."""
    return any(name == "regex" for name, _ in comparisons.tests)


def _compile_comparison(name: str, operand: Any) -> ValuePredicate:
    match name:
        case "equals":
            return lambda value: equal(value, operand)
        case "not_equals":
            return lambda value: not equal(value, operand)
        case "in" | "not_in" if not isinstance(operand, list):
            raise ValueError(f"`{name}` takes a list")
        case "in":
            return _compile_members(operand)
        case "not_in":
            is_member = _compile_members(operand)
            return lambda value: not is_member(value)
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


def _compile_members(operand: list[Any]) -> ValuePredicate:
    # A set for the many names that a condition may list. Other kinds of values are compared one by
    # one: to Python's `in`, true is 1.
    texts = frozenset(item for item in operand if type(item) is str)

    def is_member(value: Any) -> bool:
        if type(value) is str:
            return value in texts
        return any(equal(value, item) for item in operand)

    return is_member


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
