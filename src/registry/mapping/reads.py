"""Which columns of a record expressions and conditions read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from registry.expressions import (
    AllOf,
    AnyOf,
    Comparisons,
    Condition,
    Expression,
    Hash,
    If,
    ListOf,
    Messages,
    Not,
    ObjectOf,
    OperationCall,
    Pipe,
    Template,
    expression_columns,
    parse_expression,
    parse_operations,
)
from registry.mapping.operations import find_operation

__all__ = ["Reads", "columns_of_condition", "columns_of_expression", "columns_of_metadata"]

Reads = frozenset[str] | None
"""Names as expressions write them; None where a whole record is read."""


def _union(parts: Iterable[Reads]) -> Reads:
    names: frozenset[str] = frozenset()
    for part in parts:
        if part is None:
            return None
        names |= part
    return names


def columns_of_expression(expression: Expression) -> Reads:
    """Return the columns that an expression reads, those in arguments of operations too."""
    match expression:
        case Hash(fields=(), prefix=_):
            return None
        case Hash(fields=fields, prefix=prefix):
            parts = (*fields, prefix) if prefix is not None else fields
        case ListOf(items):
            parts = items
        case ObjectOf(pairs):
            parts = tuple(item for _, item in pairs)
        case Template(_, values):
            own = frozenset(expression_columns(Template(expression.parts, {})))
            return _union([own - values.keys(), *map(columns_of_expression, values.values())])
        case If(condition, then, otherwise):
            both = (columns_of_expression(then), columns_of_expression(otherwise))
            return _union([columns_of_condition(condition), *both])
        case Messages(turns):
            parts = tuple(part for _, parts_of_turn in turns for _, part in parts_of_turn)
        case Pipe(start, operations):
            return _union([columns_of_expression(start), *map(_columns_of_call, operations)])
        case _:
            return frozenset(expression_columns(expression))
    return _union(map(columns_of_expression, parts))


def _columns_of_call(call: OperationCall) -> Reads:
    operation = find_operation(call)
    inner = operation.expressions(call.arguments)
    steps = parse_operations(operation.steps(call.arguments))
    expressions = [columns_of_expression(parse_expression(raw)) for raw in inner]
    return _union([*expressions, *map(_columns_of_call, steps)])


def columns_of_condition(condition: Condition) -> Reads:
    """Return the columns that a condition reads."""
    match condition:
        case Comparisons(_, value):
            return frozenset() if value is None else columns_of_expression(value)
        case AllOf(conditions) | AnyOf(conditions):
            return _union(map(columns_of_condition, conditions))
        case Not(inner):
            return columns_of_condition(inner)


def columns_of_metadata(raw: Any) -> Reads:
    """Return the columns that a manifest's `metadata` reads."""
    match raw:
        case None:
            return frozenset()
        case "*":
            return None
        case str():
            return frozenset([raw])
        case Mapping():
            spread = columns_of_metadata(raw.get("*"))
            items = (item for key, item in raw.items() if key != "*")
            return _union(
                [spread, *(columns_of_expression(parse_expression(one)) for one in items)]
            )
        case _:
            return frozenset(raw)
