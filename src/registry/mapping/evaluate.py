"""Evaluate expressions and conditions of the field language, for all records of a batch at a time.

An expression is compiled once, to a function that returns its value for each record. An operation
is one function of a value, mapped over the list of values with nothing between the loop and it. A
record alone is a batch of one, and the only one whose error users get: in a larger batch, the error
that is found first need not be that of the first record.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial, reduce
from importlib import import_module
from itertools import repeat
from typing import Any

from registry.decode.frame import MISSING
from registry.errors import MappingError, shorten
from registry.manifest.expressions import (
    AllOf,
    AnyOf,
    Column,
    Comparisons,
    Condition,
    Const,
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
)
from registry.mapping.batch import Batch, Records, are_short, in_parts, join
from registry.mapping.compose import TemplateTexts, content_parts
from registry.mapping.conditions import compile_comparisons, takes_long
from registry.mapping.operations import build_operation, find_operation
from registry.mapping.operations.base import (
    BatchFunction,
    BatchStep,
    Operation,
    StarredTable,
    Step,
)
from registry.mapping.row import Row, or_none

__all__ = ["Evaluator", "compile_condition", "compile_expression"]

Predicate = Callable[[Batch], list[bool]]
"""A compiled condition: the records of a batch → whether each meets it."""

_LONG_ARGUMENTS = 80


def compile_expression(expression: Expression) -> Callable[[Row], Any]:
    """Return the function that evaluates an expression for one record.

    Raises:
        ValueError: an operation is unknown, or its argument is invalid.
    """
    function = Evaluator().of(expression)
    return lambda row: function(Records.of(row))[0]


def compile_condition(condition: Condition) -> Callable[[Row], bool]:
    """Return the function that tells whether one record meets a condition.

    Raises:
        ValueError: the operand of a comparison has the wrong type.
    """
    holds = Evaluator().condition(condition)
    return lambda row: holds(Records.of(row))[0]


class Evaluator:
    """Compiles the expressions of a mapping; equal ones are evaluated once per batch."""

    def __init__(self) -> None:
        self.tables: list[StarredTable] = []
        """The tables of `map` with `*` that were compiled."""
        self._functions: dict[str, BatchFunction] = {}
        self._repeated: set[str] = set()
        """Keys of the functions that more than one place of the mapping uses."""

    def of(self, node: Expression) -> BatchFunction:
        """Return the function of an expression; a missing column gives MISSING.

        Raises:
            ValueError: an operation is unknown, or its argument is invalid.
        """
        if isinstance(node, Column):
            name = node.name
            return lambda batch: batch.values(name)
        # Unlike equality, the text tells 1 from 1.0 and from true.
        key = repr(node)
        if key in self._functions:
            self._repeated.add(key)
        else:
            self._functions[key] = self._once(key, self._compile(node))
        return self._functions[key]

    def _once(self, key: str, function: BatchFunction) -> BatchFunction:
        repeated = self._repeated

        def once(batch: Batch) -> list[Any]:
            # The fields of a sample that users get must not share a list.
            if key not in repeated or batch.is_alone:
                return function(batch)
            if key not in batch.made:
                batch.made[key] = function(batch)
            return batch.made[key]

        return once

    def _compile(self, node: Expression) -> BatchFunction:
        match node:
            case Column(name):
                return lambda batch: batch.values(name)
            case Const(value):
                return _constant(value)
            case ListOf(items):
                return _list(list(map(self.required_of, items)))
            case ObjectOf(pairs):
                return _object([(key, self.of(item)) for key, item in pairs])
            case Template(parts, values):
                return TemplateTexts(
                    lambda name: self.of(values.get(name, Column(name))), is_bounded=not values
                ).of(parts)
            case Hash():
                prefix = None if node.prefix is None else self.required_of(node.prefix)
                return _hash(node, list(map(self.required_of, node.fields)), prefix)
            case RowNumber(first, width):
                return _row_number(first, width)
            case If(condition, then, otherwise):
                return choose(self.condition(condition), self.of(then), self.of(otherwise))
            case Messages(turns):
                return _messages([(role, self._parts(parts)) for role, parts in turns])
            case Pipe(start, calls):
                return self._pipe(start, calls)

    def _parts(self, parts: Iterable[tuple[str, Expression]]) -> list[tuple[str, BatchFunction]]:
        return [(kind, self.of(part)) for kind, part in parts]

    def required_of(self, node: Expression) -> BatchFunction:
        """Return the function of an expression whose column must exist."""
        values_of = self.of(node)
        if not isinstance(node, Column | If):  # nothing else gives MISSING
            return values_of
        name = node.name if isinstance(node, Column) else str(node)

        def required(batch: Batch) -> list[Any]:
            values = values_of(batch)
            kinds = batch.kinds(name) if isinstance(node, Column) else set(map(type, values))
            if type(MISSING) in kinds:
                raise batch.no_column(name)
            return values

        return required

    def _pipe(self, start: Expression, calls: Sequence[OperationCall]) -> BatchFunction:
        if not calls:
            return self.required_of(start)
        *before, call = calls
        # The pipe without its last step, which others may share: `target` and an explanation often
        # split the same answer.
        if before:
            values_of = self.of(Pipe(start, tuple(before)))
        elif find_operation(call).takes_missing:
            values_of = self.of(start)
        else:
            values_of = self.required_of(start)
        step = self._step(call)
        return lambda batch: step(batch, values_of(batch))

    def _step(self, call: OperationCall) -> BatchStep:
        made = build_operation(call, self)
        apply = self._mapped(made, call) if isinstance(made, Step) else made
        arguments = "" if call.arguments is None else f"({call.arguments})"
        if len(arguments) > _LONG_ARGUMENTS:
            arguments = f"({shorten(call.arguments)})"

        def step(batch: Batch, values: list[Any]) -> list[Any]:
            try:
                return apply(batch, values)
            except MappingError as error:
                raise error.at(operation=f"{call.name}{arguments}") from error.__cause__

        return step

    def _mapped(self, step: Step, call: OperationCall) -> BatchStep:
        operation = find_operation(call)
        arguments = self._arguments(operation, call)
        function, kind, check = step.function, step.kind, step.check
        map_values = _map_heavy if step.is_heavy else _map_light

        def carefully(value: Any, *found: Any) -> Any:
            checked = check(value)
            try:
                return function(checked, *found)
            except LookupError:
                if step.refusal is None:
                    raise
                raise MappingError(step.refusal(checked), value=value) from None

        def apply(batch: Batch, values: list[Any]) -> list[Any]:
            is_exact = kind is not None and set(map(type, values)) == {kind}
            checked = values if kind is None or is_exact else list(map(check, values))
            columns = [argument(batch) for argument in arguments]
            if operation.reads_files:
                columns.append([batch.boundary] * batch.count)
            try:
                return map_values(batch, function, checked, columns)
            except (TypeError, LookupError):
                return map_values(batch, carefully, values, columns)

        return apply

    def _arguments(self, operation: Operation, call: OperationCall) -> list[BatchFunction]:
        """Return the functions of the expressions in the argument of an operation."""
        compile_one = self.expression if operation.optional else self.required
        try:
            return list(map(compile_one, operation.expressions(call.arguments)))
        except ValueError as error:
            raise ValueError(f"operation {call.name}: {error}") from error

    def condition(self, node: Condition) -> Predicate:
        """Return the function of a condition.

        Raises:
            ValueError: the operand of a comparison has the wrong type.
        """
        match node:
            case AllOf(conditions):
                # A condition is only looked at where those before it leave the question open.
                parts = reversed(list(map(self.condition, conditions)))
                return reduce(lambda rest, part: choose(part, rest, _all(False)), parts, _all(True))
            case AnyOf(conditions):
                parts = reversed(list(map(self.condition, conditions)))
                return reduce(lambda rest, part: choose(part, _all(True), rest), parts, _all(False))
            case Not(inner):
                opposite = self.condition(inner)
                return lambda batch: [not one for one in opposite(batch)]
            case Comparisons(_, value):
                if value is None:
                    raise ValueError("a condition needs `value`")
                values_of, holds = self.of(value), compile_comparisons(node)
                map_values = _map_heavy if takes_long(node) else _map_light
                return lambda batch: map_values(batch, holds, values_of(batch), ())

    # What operations need to compile their arguments; see `operations.base.Compiler`.

    def expression(self, raw: Any) -> BatchFunction:
        """Return the function of an expression as the manifest writes it."""
        return self.of(parse_expression(raw))

    def required(self, raw: Any) -> BatchFunction:
        """Return the function of an expression whose columns must exist."""
        return self.required_of(parse_expression(raw))

    def row_condition(self, raw: Any) -> Predicate:
        """Return the function of a condition as the manifest writes it."""
        return self.condition(parse_condition(raw))

    def steps(self, calls: Sequence[OperationCall]) -> BatchStep:
        """Return several operations as one step."""
        steps = list(map(self._step, calls))
        return lambda batch, values: reduce(lambda found, step: step(batch, found), steps, values)


def _map_light(
    batch: Batch,
    function: Callable[..., Any],
    values: Sequence[Any],
    arguments: Sequence[Sequence[Any]],
) -> list[Any]:
    return list(map(function, values, *arguments))


def _map_heavy(
    batch: Batch,
    function: Callable[..., Any],
    values: Sequence[Any],
    arguments: Sequence[Sequence[Any]],
) -> list[Any]:
    def part(few: slice) -> list[Any]:
        return list(map(function, values[few], *(one[few] for one in arguments)))

    return in_parts(batch, len(values), part)


def choose(holds: Predicate, then: BatchFunction, otherwise: BatchFunction) -> BatchFunction:
    """Return the function that evaluates one of two for each record, and only that one."""

    def chosen(batch: Batch) -> list[Any]:
        mask = holds(batch)
        if all(mask):
            return then(batch)
        if not any(mask):
            return otherwise(batch)
        first = iter(then(batch.take([place for place, one in enumerate(mask) if one])))
        second = iter(otherwise(batch.take([place for place, one in enumerate(mask) if not one])))
        return [next(first) if one else next(second) for one in mask]

    return chosen


def _all(value: bool) -> Predicate:
    return lambda batch: [value] * batch.count


def _constant(value: Any) -> BatchFunction:
    if isinstance(value, str | int | float | None):
        return lambda batch: [value] * batch.count
    # A copy, so that a change in one sample does not change the others.
    return lambda batch: [copy.deepcopy(value) for _ in range(batch.count)]


def rows_of(columns: Sequence[Sequence[Any]], batch: Batch) -> Iterable[tuple[Any, ...]]:
    """Return the values of each record; of no columns too, for which `zip` has no records."""
    return zip(*columns, strict=True) if columns else repeat((), batch.count)


def _list(parts: Sequence[BatchFunction]) -> BatchFunction:
    def lists(batch: Batch) -> list[Any]:
        columns = [part(batch) for part in parts]
        if any(list in set(map(type, column)) for column in columns):
            return list(map(_flattened, rows_of(columns, batch)))
        return list(map(list, rows_of(columns, batch)))

    return lists


def _flattened(values: Iterable[Any]) -> list[Any]:
    """Return values with the items of lists in their place, so that choices may mix both."""
    found: list[Any] = []
    for value in values:
        if isinstance(value, list):
            found.extend(value)
        else:
            found.append(value)
    return found


def _object(parts: Sequence[tuple[str, BatchFunction]]) -> BatchFunction:
    keys = [key for key, _ in parts]

    def objects(batch: Batch) -> list[Any]:
        columns = [list(map(or_none, part(batch))) for _, part in parts]
        return [dict(zip(keys, values, strict=True)) for values in rows_of(columns, batch)]

    return objects


def _row_number(first: int, width: int | None) -> BatchFunction:
    if width is None:
        return lambda batch: [number - 1 + first for number in batch.row_numbers]
    return lambda batch: [f"{number - 1 + first:0{width}d}" for number in batch.row_numbers]


def _messages(
    turns: Sequence[tuple[str, Sequence[tuple[str, BatchFunction]]]],
) -> BatchFunction:
    def messages(batch: Batch) -> list[Any]:
        found: list[list[Any]] = [[] for _ in range(batch.count)]
        for role, parts in turns:
            for conversation, content in zip(found, _contents(parts, batch), strict=True):
                if content:
                    conversation.append({"role": role, "content": content})
        return found

    return messages


def _contents(parts: Sequence[tuple[str, BatchFunction]], batch: Batch) -> list[Any]:
    """Return the content of a message for each record; empty parts are dropped."""
    contents: list[Any] = [[] for _ in range(batch.count)]
    for kind, part in parts:
        for place, value in enumerate(part(batch)):
            if kind == "" and isinstance(value, str):
                contents[place] = value  # a single expression, not a list of parts
            else:
                contents[place] += content_parts(kind, value)
    return contents


def _hash(
    node: Hash, fields: Sequence[BatchFunction], prefix: BatchFunction | None
) -> BatchFunction:
    digest_of, length = _digest_function(node.algorithm), node.length

    def hashes(batch: Batch) -> list[Any]:
        columns = [list(map(str, field(batch))) for field in fields] if fields else None
        rows = _own_texts(batch) if columns is None else rows_of(columns, batch)
        # The separator distinguishes "ab", "c" from "a", "bc". JSON may have a lone surrogate.
        is_short = columns is not None and are_short(columns)
        texts = map("\0".join, rows) if is_short else (join("\0", row) for row in rows)
        digests = [
            digest_of(text.encode("utf-8", "surrogatepass")).hexdigest()[:length] for text in texts
        ]
        if prefix is None:
            return digests
        return [f"{start}_{one}" for start, one in zip(prefix(batch), digests, strict=True)]

    return hashes


def _digest_function(algorithm: str) -> Callable[[bytes], Any]:
    # OpenSSL takes three times as long as CPython's own code to begin a digest of a short text.
    for module in {"md5": ("_md5",), "sha256": ("_sha2", "_sha256")}[algorithm]:
        try:
            function: Callable[[bytes], Any] = getattr(import_module(module), algorithm)
        except ImportError:  # another version, or not CPython
            continue
        return function
    # In FIPS mode it refuses md5 unless it is declared not to be for security.
    return partial(getattr(hashlib, algorithm), usedforsecurity=False)


def _own_texts(batch: Batch) -> Iterable[list[str]]:
    """Return every str of each record, sorted by column: the order of columns must not matter."""
    columns = [batch.column_values(name) for name in sorted(batch.names)]
    for values in rows_of(columns, batch):
        yield [value for value in values if isinstance(value, str)]
