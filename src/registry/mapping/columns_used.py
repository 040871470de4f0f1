"""Find which columns an expression or condition reads, and whether it reads the record number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

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
    parse_condition,
    parse_expression,
    parse_operations,
)
from registry.manifest.templates import template_columns
from registry.mapping.operations import find_operation

if TYPE_CHECKING:
    from registry.manifest.models import FieldsSpec

__all__ = [
    "ColumnDependencies",
    "condition_dependencies",
    "expression_dependencies",
    "join_dependencies",
    "mapping_dependencies",
    "metadata_dependencies",
    "operations_in",
    "uses_row_number",
]

ColumnDependencies = frozenset[str] | None
"""Column names and paths as the manifest writes them; None for the whole record."""


def join_dependencies(parts: Iterable[ColumnDependencies]) -> ColumnDependencies:
    """Return the union of several dependencies."""
    names: frozenset[str] = frozenset()
    for part in parts:
        if part is None:
            return None
        names |= part
    return names


def expression_dependencies(expression: Expression) -> ColumnDependencies:
    """Return the columns that an expression reads, including in the arguments of operations."""
    own: frozenset[str] = frozenset()
    match expression:
        case Column(name):
            own = frozenset([name])
        case Hash(fields=()):  # hashes every column whose value is a str
            return None
        case Template(parts, values):
            # A placeholder named under `with` is an expression (see `_parts`), not a column.
            own = frozenset(template_columns(parts)) - values.keys()
        case Pipe(start, calls):
            found = map(_argument_dependencies, _with_nested(calls))
            return join_dependencies([expression_dependencies(start), *found])
    return join_dependencies([own, *map(expression_dependencies, _parts(expression))])


def _argument_dependencies(call: OperationCall) -> ColumnDependencies:
    """Return the columns that the argument of an operation reads from the record itself."""
    operation = find_operation(call)
    found = join_dependencies(map(expression_dependencies, _in_argument(call)))
    if found is None:
        return None
    return frozenset(path for path in found if not operation.adds(call.arguments, path))


def condition_dependencies(condition: Condition) -> ColumnDependencies:
    """Return the columns that a condition reads."""
    return join_dependencies(map(expression_dependencies, _compared(condition)))


def metadata_dependencies(raw: Any) -> ColumnDependencies:
    """Return the columns that a manifest's `metadata` reads."""
    match raw:
        case None:
            return frozenset()
        case "*":
            return None
        case str():
            return frozenset([raw])
        case Mapping():
            items = [parse_expression(item) for key, item in raw.items() if key != "*"]
            spread = metadata_dependencies(raw.get("*"))
            return join_dependencies([spread, *map(expression_dependencies, items)])
        case _:
            return frozenset(raw)


def mapping_dependencies(fields: FieldsSpec, where: Any) -> ColumnDependencies:
    """Return the columns that a manifest's `fields` and `where` read."""
    found = [metadata_dependencies(fields.metadata)]
    if where is not None:
        found.append(condition_dependencies(parse_condition(where)))
    for name in fields.__struct_fields__:
        raw = getattr(fields, name)
        if name != "metadata" and raw is not None:
            found.append(expression_dependencies(parse_expression(raw)))
    return join_dependencies(found)


def uses_row_number(node: Expression | Condition) -> bool:
    """Return whether an expression or condition reads the number of the record.

    If so, its value can't be shared between records with equal columns.
    """
    match node:
        case RowNumber():
            return True
        case Comparisons() | AllOf() | AnyOf() | Not():
            return any(map(uses_row_number, _compared(node)))
        case _:
            return any(map(uses_row_number, _parts(node)))


def operations_in(node: Expression | Condition) -> Iterator[OperationCall]:
    """Yield all operations of an expression or condition, including those in arguments."""
    match node:
        case Pipe(_, calls):
            yield from _with_nested(calls)
            parts = _parts(node)
        case Comparisons() | AllOf() | AnyOf() | Not():
            parts = _compared(node)
        case _:
            parts = _parts(node)
    for part in parts:
        yield from operations_in(part)


def _parts(expression: Expression) -> Iterator[Expression]:
    """Yield the direct parts of an expression, including those in the arguments of operations."""
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
            yield from (part for call in _with_nested(calls) for part in _in_argument(call))


def _in_argument(call: OperationCall) -> Iterator[Expression]:
    yield from map(parse_expression, find_operation(call).expressions(call.arguments))


def _with_nested(calls: Iterable[OperationCall]) -> Iterator[OperationCall]:
    """Yield operations, and those in their arguments."""
    for call in calls:
        yield call
        yield from _with_nested(parse_operations(find_operation(call).steps(call.arguments)))


def _compared(condition: Condition) -> Iterator[Expression]:
    """Yield the expressions whose values a condition compares."""
    match condition:
        case Comparisons(_, value):
            yield from () if value is None else (value,)
        case AllOf(conditions) | AnyOf(conditions):
            for inner in conditions:
                yield from _compared(inner)
        case Not(inner):
            yield from _compared(inner)
