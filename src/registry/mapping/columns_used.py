"""Find the columns that a dataset reads, those that must exist, and those that no field reads."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from registry.manifest.expressions import (
    COMPARISONS,
    Column,
    Const,
    Expression,
    Hash,
    If,
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
from registry.manifest.templates import Placeholder, Section, TemplatePart, template_columns
from registry.mapping.conditions import is_empty
from registry.mapping.operations import OPERATIONS, find_operation

if TYPE_CHECKING:
    from registry.decode.frame import AnyFrame
    from registry.manifest.models import DatasetSpec, FieldsSpec

__all__ = [
    "ColumnDependencies",
    "KeyPath",
    "NamedColumns",
    "UnreadColumns",
    "all_nodes",
    "argument_nodes",
    "join_dependencies",
    "mapped_columns",
    "mapping_dependencies",
    "named_columns",
    "node_dependencies",
    "operations_in",
    "uses_row_number",
]

ColumnDependencies = frozenset[str] | None
"""Column names and paths as the manifest writes them; None for the whole record."""

KeyPath = tuple[str | int, ...]
"""Keys and list indexes, relative to a dataset."""

# Keys whose value is not an expression, although it may be equal to the name of a column.
_CONSTANTS = frozenset({*COMPARISONS, "const", "prefix", "algorithm", "role"})

# As the first operation, these take a column that no record has.
_MAY_BE_ABSENT = ("default", "coalesce")

_NEVER_IMPLIED = frozenset({"sandbox", "files", "setup"})
"""Fields that run code or place files, so only a field that the manifest names reads a column."""


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


class NamedColumns(Struct, frozen=True):
    """A column that must exist, or the alternatives of `coalesce`, one of which must."""

    path: KeyPath
    """Where the manifest names the first of them."""
    names: tuple[str, ...]
    """Names or dotted paths."""


def named_columns(spec: DatasetSpec) -> list[NamedColumns]:
    """Return the columns of records that a dataset names, except those that may be absent.

    A column may be absent if the manifest says what to use instead: with `default` or `coalesce` as
    the first operation on it, or with `{column|default}` or `{?column}` in a template.
    """
    uses = mapped_columns(spec)
    for level, explode in enumerate(spec.explodes):
        path = ("explode", *("then",) * level, "column")
        uses.append(NamedColumns(path, (explode.column,)))
    if spec.join is not None and spec.join.on is not None:
        uses.append(NamedColumns(("join", "on"), (spec.join.on,)))
    return uses


def mapped_columns(spec: DatasetSpec) -> list[NamedColumns]:
    """Return the columns that `fields` and `where` name, in records after `join` and `explode`."""
    uses: list[NamedColumns] = []
    if spec.where is not None:
        uses += _uses(("where",), spec.where, parse_condition(spec.where))
    if spec.mapper is None:
        uses += _field_columns(spec.fields)
    return uses


def _field_columns(fields: FieldsSpec) -> Iterator[NamedColumns]:
    # Of the fields that a manifest leaves out, only the input must have its column.
    named = fields.named | {"input"}
    for path, raw in fields.expressions():
        if path[0] in named:
            yield from _uses(("fields", *path), raw, parse_expression(raw))


def _uses(path: KeyPath, raw: Any, node: Node) -> Iterator[NamedColumns]:
    for names in dict.fromkeys(_required(node)):
        yield NamedColumns((*path, *(_place(raw, names[0]) or ())), names)


def _required(node: Node) -> Iterator[tuple[str, ...]]:
    """Yield the columns that must exist for an expression or a condition, with alternatives."""
    match node:
        case Column(name):
            yield (name,)
        case Template(parts, values):
            yield from _required_by_template(parts, values)
        case Pipe():
            yield from _required_by_pipe(node)
        case If(condition, then, otherwise):
            yield from _required(condition)
            # What the condition says may be absent may be so in what it decides about.
            guarded = set(_optional(condition))
            found = chain(_required(then), _required(otherwise))
            yield from (one for one in found if guarded.isdisjoint(one))
        case _:
            yield from _required_by_all(children(node))


def _required_by_all(nodes: Iterable[Node]) -> Iterator[tuple[str, ...]]:
    return chain.from_iterable(map(_required, nodes))


def _optional(node: Node) -> Iterator[str]:
    """Yield the columns for which a condition has something to use instead."""
    if isinstance(node, Pipe) and node.operations and node.operations[0].name in _MAY_BE_ABSENT:
        yield from (one.name for one in _alternatives(node) if isinstance(one, Column))
    elif not isinstance(node, Template):
        yield from chain.from_iterable(map(_optional, children(node)))


def _required_by_template(
    parts: tuple[TemplatePart, ...], values: Mapping[str, Expression]
) -> Iterator[tuple[str, ...]]:
    needed: dict[str, bool] = {}
    for name, is_needed in _placeholders(parts, frozenset()):
        needed[name] = needed.get(name, False) or is_needed
    for name, is_needed in needed.items():
        if is_needed and name not in values:
            yield (name,)
    for name, value in values.items():
        if needed.get(name, True) or not isinstance(value, Column):
            yield from _required(value)


def _placeholders(
    parts: Iterable[TemplatePart], guards: frozenset[str]
) -> Iterator[tuple[str, bool]]:
    """Yield the names in a template, and whether each needs a value at that place."""
    for part in parts:
        if isinstance(part, Section):
            yield part.name, False
            yield from _placeholders(part.parts, guards | {part.name})
        elif isinstance(part, Placeholder):
            yield part.name, part.default is None and part.name not in guards


def _required_by_pipe(pipe: Pipe) -> Iterator[tuple[str, ...]]:
    calls = pipe.operations
    names = [call.name for call in calls]
    alternatives = _alternatives(pipe)
    columns = [one.name for one in alternatives if isinstance(one, Column)]
    if not names or names[0] not in _MAY_BE_ABSENT:
        yield from _required(pipe.start)
    elif "default" in names or len(columns) < len(alternatives):
        yield from _required_unless_column(alternatives)
    else:
        yield tuple(dict.fromkeys(columns))
    for call in calls[1:] if names[:1] == ["coalesce"] else calls:
        inner, operation = argument_nodes(call), find_operation(call)
        if call.name == "coalesce":  # the value of the pipe is another alternative
            found = _required_unless_column(inner)
        else:
            found = _required_by_all(inner)
        # An argument may add columns for its expressions, such as the item of a list.
        adds = partial(operation.adds, call.arguments)
        yield from (some for some in found if not any(map(adds, some)))
        steps = parse_operations(operation.steps(call.arguments))
        yield from _required_by_pipe(Pipe(Const(None), steps))


def _alternatives(pipe: Pipe) -> list[Expression]:
    """Return the expression that a pipe starts with, and those that its `coalesce` goes on to."""
    is_coalesce = pipe.operations[:1] and pipe.operations[0].name == "coalesce"
    return [pipe.start, *(argument_nodes(pipe.operations[0]) if is_coalesce else ())]


def _required_unless_column(expressions: Iterable[Expression]) -> Iterator[tuple[str, ...]]:
    return _required_by_all(one for one in expressions if not isinstance(one, Column))


def _place(raw: Any, name: str) -> KeyPath | None:
    """Return the path of the first value within an expression that names a column."""
    if raw == name:
        return ()
    items: Iterable[tuple[str | int, Any]] = ()
    if isinstance(raw, dict):
        items = [(key, item) for key, item in raw.items() if key not in _CONSTANTS]
    elif isinstance(raw, list | tuple):
        items = [(number, item) for number, item in enumerate(raw) if _may_name(item)]
    for key, item in items:
        if key == "template" and isinstance(item, str):
            if re.search(rf"\{{\??{re.escape(name)}[|}}]", item):
                return (key,)
        elif (inner := _place(item, name)) is not None:
            return (key, *inner)
    return None


def _may_name(step: Any) -> bool:
    """Return whether a text in an operation may be a column: it has expressions or operations."""
    if not isinstance(step, dict) or len(step) != 1:
        return True
    ((name, argument),) = step.items()
    operation = OPERATIONS.get(name)
    return operation is None or bool(operation.expressions(argument) or operation.steps(argument))


class UnreadColumns:
    """Notes which of a few columns have a value, while the records are decoded."""

    def __init__(self, names: Collection[str] = ()) -> None:
        """Look for columns of these names."""
        self.missing = frozenset(names)
        """Columns without a value so far."""
        self.found: frozenset[str] = frozenset()
        """Columns in which a record has a value."""

    @classmethod
    def of(cls, spec: DatasetSpec) -> UnreadColumns:
        """Look for the columns that a dataset, whose fields compile, reads nowhere."""
        if spec.mapper is not None:  # which may use any column
            return cls()
        read = mapping_dependencies(spec.fields, spec.where)
        if read is None:  # the whole record
            return cls()
        steps = [one.column for one in spec.explodes]
        steps += [spec.join.on] if spec.join is not None and spec.join.on else []
        return cls(_NEVER_IMPLIED - {name.partition(".")[0] for name in (*read, *steps)})

    def add_record(self, record: Mapping[str, Any]) -> None:
        """Look at a record."""
        for name in self.missing:
            if not is_empty(record.get(name)):
                self._find(name)

    def add_frame(self, frame: AnyFrame) -> None:
        """Look at the records of a frame; a NotColumnarError as that of its `values`."""
        for name in self.missing.intersection(frame.names):
            if not all(map(is_empty, frame.values(name))):
                self._find(name)

    def _find(self, name: str) -> None:
        self.found |= {name}
        self.missing -= {name}
