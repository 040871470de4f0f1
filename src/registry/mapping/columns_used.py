"""Find which columns an expression or condition reads, and whether it reads the record number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from registry.manifest.expressions import (
    Column,
    Expression,
    Hash,
    Node,
    OperationCall,
    Pipe,
    RowNumber,
    Template,
    children,
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
    "all_nodes",
    "argument_nodes",
    "join_dependencies",
    "mapping_dependencies",
    "node_dependencies",
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


def node_dependencies(node: Node) -> ColumnDependencies:
    """Return the columns that an expression or condition reads, also in arguments."""
    own: frozenset[str] = frozenset()
    calls: tuple[OperationCall, ...] = ()
    match node:
        case Column(name):
            own = frozenset([name])
        case Hash(fields=()):  # hashes every column whose value is a str
            return None
        case Template(parts, values):
            # A placeholder named under `with` is an expression, one of the children.
            own = frozenset(template_columns(parts)) - values.keys()
        case Pipe():
            calls = node.operations
    found = map(_argument_dependencies, _with_nested(calls))
    return join_dependencies([own, *map(node_dependencies, children(node)), *found])


def _argument_dependencies(call: OperationCall) -> ColumnDependencies:
    """Return the columns that the argument of an operation reads from the record itself."""
    operation = find_operation(call)
    found = join_dependencies(map(node_dependencies, argument_nodes(call)))
    if found is None:
        return None
    return frozenset(path for path in found if not operation.adds(call.arguments, path))


def mapping_dependencies(fields: FieldsSpec, where: Any) -> ColumnDependencies:
    """Return the columns that a manifest's `fields` and `where` read."""
    metadata = fields.metadata
    if (metadata.get("*") if isinstance(metadata, Mapping) else metadata) == "*":
        return None
    nodes: list[Node] = [parse_expression(raw) for _, raw in fields.expressions()]
    nodes += [] if where is None else [parse_condition(where)]
    return join_dependencies(map(node_dependencies, nodes))


def uses_row_number(node: Node) -> bool:
    """Return whether an expression or condition reads the number of the record.

    If so, its value can't be shared between records with equal columns.
    """
    return any(isinstance(one, RowNumber) for one in all_nodes(node))


def operations_in(node: Node) -> Iterator[OperationCall]:
    """Yield all operations of an expression or condition, including those in arguments."""
    for one in all_nodes(node):
        if isinstance(one, Pipe):
            yield from _with_nested(one.operations)


def argument_nodes(call: OperationCall) -> list[Expression]:
    """Return the expressions in the argument of an operation."""
    return list(map(parse_expression, find_operation(call).expressions(call.arguments)))


def all_nodes(node: Node) -> Iterator[Node]:
    """Yield a node and all below it, including those in the arguments of operations."""
    yield node
    calls = _with_nested(node.operations if isinstance(node, Pipe) else ())
    for child in (*children(node), *chain.from_iterable(map(argument_nodes, calls))):
        yield from all_nodes(child)


def _with_nested(calls: Iterable[OperationCall]) -> Iterator[OperationCall]:
    """Yield operations, and those in their arguments."""
    for call in calls:
        yield call
        yield from _with_nested(parse_operations(find_operation(call).steps(call.arguments)))
