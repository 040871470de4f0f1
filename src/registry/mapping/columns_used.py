"""What expressions and conditions read of a record: which columns, and whether its number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from registry.manifest.expressions import (
    AllOf,
    AnyOf,
    Column,
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
    RowNumber,
    Template,
    expression_columns,
    parse_expression,
    parse_operations,
)
from registry.mapping.operations import find_operation

__all__ = [
    "Reads",
    "columns_of_condition",
    "columns_of_expression",
    "columns_of_metadata",
    "reads_number",
]

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
    return _union([_own_columns(expression), *map(columns_of_expression, _parts(expression))])


def columns_of_condition(condition: Condition) -> Reads:
    """Return the columns that a condition reads."""
    return _union(map(columns_of_expression, _compared(condition)))


def reads_number(node: Expression | Condition) -> bool:
    """Return whether an expression or a condition reads the number of the record."""
    match node:
        case RowNumber():
            return True
        case Comparisons() | AllOf() | AnyOf() | Not():
            return any(map(reads_number, _compared(node)))
        case _:
            return any(map(reads_number, _parts(node)))


def _own_columns(expression: Expression) -> Reads:
    """Return the columns that an expression reads beside those that its parts read."""
    match expression:
        case Column(name):
            return frozenset([name])
        case Hash(fields=()):
            return None
        case Template(parts, values):
            return frozenset(expression_columns(Template(parts, {}))) - values.keys()
        case _:
            return frozenset()


def _parts(expression: Expression) -> Iterator[Expression]:
    """Yield the expressions within an expression, those in arguments of operations too."""
    match expression:
        case Hash(fields=fields, prefix=prefix):
            yield from fields if prefix is None else (*fields, prefix)
        case ListOf(items):
            yield from items
        case ObjectOf(pairs):
            yield from (item for _, item in pairs)
        case Template(_, values):
            yield from values.values()
        case If(condition, then, otherwise):
            yield from (*_compared(condition), then, otherwise)
        case Messages(turns):
            yield from (part for _, parts in turns for _, part in parts)
        case Pipe(start, calls):
            yield start
            yield from _arguments(calls)


def _arguments(calls: Iterable[OperationCall]) -> Iterator[Expression]:
    for call in calls:
        operation = find_operation(call)
        yield from map(parse_expression, operation.expressions(call.arguments))
        yield from _arguments(parse_operations(operation.steps(call.arguments)))


def _compared(condition: Condition) -> Iterator[Expression]:
    """Yield the expressions that a condition compares."""
    match condition:
        case Comparisons(_, value):
            yield from () if value is None else (value,)
        case AllOf(conditions) | AnyOf(conditions):
            for inner in conditions:
                yield from _compared(inner)
        case Not(inner):
            yield from _compared(inner)


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
