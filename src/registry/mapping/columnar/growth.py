"""Bound how large the values of an expression can become, from the expression alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from registry.manifest.expressions import (
    Column,
    Const,
    Expression,
    Hash,
    If,
    ListOf,
    Messages,
    ObjectOf,
    OperationCall,
    Pipe,
    RowNumber,
    Template,
    parse_operations,
)
from registry.manifest.templates import Section, TemplatePart
from registry.mapping.sizes import size_of

__all__ = ["Growth", "growth_of"]

_SMALL = 128
"""Characters of a number, a digest or a bool, at most."""


class Growth(Struct, frozen=True):
    """At most how large all values of an expression are together."""

    copies: float = 0
    """Times the bytes of the records."""
    constant: int = 0
    """Bytes for each record."""

    def __add__(self, other: Growth) -> Growth:
        return Growth(self.copies + other.copies, self.constant + other.constant)

    def times(self, factor: float) -> Growth:
        """Return so many times this growth."""
        return Growth(self.copies * factor, int(self.constant * factor))

    def bytes(self, size: int, count: int) -> float:
        """Return the bound for so many bytes of so many records."""
        return self.copies * size + self.constant * count


class _UnboundedError(Exception):
    """An operation repeats values as often as other values say."""


def growth_of(expression: Expression) -> Growth | None:
    """Return how much an expression can grow; None if only its values tell."""
    try:
        return _growth(expression)
    except _UnboundedError:
        return None


def _growth(expression: Expression) -> Growth:
    match expression:
        case Column():
            return Growth(1)
        case Const(value):
            return Growth(0, size_of(value))
        case RowNumber() | Hash(prefix=None):
            return Growth(0, _SMALL)
        case Hash(prefix=prefix) if prefix is not None:
            return _growth(prefix) + Growth(0, _SMALL)
        case ListOf(items):
            return _sum(items)
        case ObjectOf(pairs):
            return _sum(item for _, item in pairs) + Growth(0, sum(len(key) for key, _ in pairs))
        case If(_, then, otherwise):
            return _growth(then) + _growth(otherwise)
        case Messages(turns):
            parts = [part for _, parts in turns for _, part in parts]
            return _sum(parts) + Growth(0, _SMALL * len(parts))
        case Template(parts, values):
            return _of_parts(parts, dict(values))
        case Pipe(start, operations):
            return _of_operations(_growth(start), operations)
        case _:
            raise _UnboundedError


def _sum(expressions: Iterable[Expression]) -> Growth:
    return sum(map(_growth, expressions), Growth())


def _of_parts(parts: Iterable[TemplatePart], values: dict[str, Expression]) -> Growth:
    found = Growth()
    for part in parts:
        if isinstance(part, str):
            found += Growth(0, len(part))
        elif isinstance(part, Section):
            found += _of_parts(part.parts, values)
        else:
            # A number of a few bytes may have more characters in Python's notation.
            found += _growth(values.get(part.name, Column(part.name)))
            found += Growth(0, _SMALL + len(part.default or ""))
    return found


def _of_operations(value: Growth, operations: Iterable[OperationCall]) -> Growth:
    for call in operations:
        if call.name not in _OPERATIONS:
            raise _UnboundedError
        value = _OPERATIONS[call.name](value, call.arguments)
    return value


def _same(value: Growth, argument: Any) -> Growth:
    return value + Growth(0, _SMALL)


def _replaced(value: Growth, argument: dict[str, str]) -> Growth:
    for old, new in argument.items():
        value = value.times(max(1, len(new) / len(old)) if old else 1 + len(new))
    return value


def _each(value: Growth, argument: Any) -> Growth:
    if isinstance(argument, dict):
        raise _UnboundedError  # an expression may copy a column for each item
    item = _of_operations(Growth(1), parse_operations(argument))
    # An item may have a single byte, so there are at most as many items as bytes.
    return value.times(item.copies + item.constant)


_OPERATIONS: dict[str, Callable[[Growth, Any], Growth]] = {
    **dict.fromkeys(
        [
            "index",
            "slice",
            "split",
            "strip",
            "lines",
            "pluck",
            "drop_null",
            "sort",
            "unique",
            "nonempty",
            "equals",
            "test",
            "keep",
            "keys",
            "len",
            "int",
            "float",
            "letter",
            "letters_where",
            "letter_in",
        ],
        _same,
    ),
    # A few characters have three in another case.
    **dict.fromkeys(("lower", "upper", "capitalize"), lambda value, _: value.times(3)),
    # `[1,2]` has two bytes per number, which a number in Python's memory has not.
    "parse": lambda value, _: value.times(8),
    "regex": lambda value, argument: value.times(1 + str(argument).count("(")),
    "items": lambda value, argument: value.times(1 + len(argument or "")),
    "default": lambda value, argument: value + Growth(0, size_of(argument)),
    "map": lambda value, argument: value + Growth(0, size_of(argument)),
    "join": lambda value, argument: value.times(1 + len(argument or "")),
    "replace": _replaced,
    "each": _each,
}
"""Operation → the growth of its result, from that of the value and its argument."""
