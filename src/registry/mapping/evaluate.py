"""Compile an expression of the field language to a function that evaluates it for one row."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from registry.errors import MappingError
from registry.manifest.expressions import (
    PART_KINDS,
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
    parse_comparisons,
    parse_condition,
    parse_expression,
)
from registry.manifest.templates import Placeholder, Section
from registry.mapping.conditions import compile_comparisons, compile_condition, is_empty
from registry.mapping.operations import build_operation, find_operation
from registry.mapping.row import MISSING, Evaluator, Row, get_column, no_column
from registry.mapping.sizes import join

__all__ = ["COMPILER", "MEDIA_FORMATS", "compile_expression", "message_content"]

# Inspect's content types for audio and video require a format; manifests have no key for it.
MEDIA_FORMATS = {"audio": "mp3", "video": "mp4"}


def compile_expression(expression: Expression) -> Evaluator:
    """Return the function that evaluates `expression`.

    Raises:
        ValueError: an operation is unknown, or its argument is invalid.
    """
    match expression:
        case Column(name):

            def evaluate(row: Row) -> Any:
                record = row.record  # nearly always has the exact name, which saves a call
                return record[name] if name in record else get_column(record, name)

            return evaluate
        case Const(str() as text):
            return lambda row: text
        case Const(value):
            # A copy, so that a change in one sample does not change the others.
            return lambda row: copy.deepcopy(value)
        case ListOf(items):
            return _compile_list(items)
        case ObjectOf(pairs):
            parts = [(key, compile_expression(item)) for key, item in pairs]
            return lambda row: {
                key: None if (item := part(row)) is MISSING else item for key, part in parts
            }
        case Template():
            return _compile_template(expression)
        case Hash():
            return _compile_hash(expression)
        case RowNumber(first, None):
            return lambda row: row.number - 1 + first
        case RowNumber(first, width):
            return lambda row: f"{row.number - 1 + first:0{width}d}"
        case If(condition, then, otherwise):
            holds = compile_condition(condition, compile_expression)
            if_true, if_false = compile_expression(then), compile_expression(otherwise)
            return lambda row: if_true(row) if holds(row) else if_false(row)
        case Messages(turns):
            return _compile_messages(turns)
        case Pipe(start, calls):
            takes_missing = bool(calls) and find_operation(calls[0]).takes_missing
            value = compile_expression(start) if takes_missing else _compile_required(start)
            step = COMPILER.steps(calls)
            return lambda row: step(value(row), row)


def _compile_required(expression: Expression) -> Evaluator:
    """Compile an expression whose column must exist."""
    evaluate = compile_expression(expression)

    def required(row: Row) -> Any:
        value = evaluate(row)
        if value is MISSING:
            name = expression.name if isinstance(expression, Column) else str(expression)
            raise no_column(name, row.record)
        return value

    return required


def _compile_list(items: tuple[Expression, ...]) -> Evaluator:
    evaluators = [_compile_required(item) for item in items]

    def evaluate(row: Row) -> list[Any]:
        values: list[Any] = []
        for evaluator in evaluators:
            value = evaluator(row)
            if isinstance(value, list):  # so that choices may mix lists and single columns
                values.extend(value)
            else:
                values.append(value)
        return values

    return evaluate


def _compile_hash(expression: Hash) -> Evaluator:
    evaluators = [_compile_required(field) for field in expression.fields]
    prefix = _compile_required(expression.prefix) if expression.prefix else None
    # `hashlib.new` would look the name up on each call; the schema rejects unknown names.
    digest_of: Any = getattr(hashlib, expression.algorithm, None)
    length = expression.length

    def evaluate(row: Row) -> str:
        if evaluators:
            texts = [str(evaluator(row)) for evaluator in evaluators]
        else:  # every column that has a str, sorted: the order of columns must not matter
            texts = [value for _, value in sorted(row.record.items()) if isinstance(value, str)]
        # The separator distinguishes "ab", "c" from "a", "bc". JSON may have a lone surrogate.
        data = join("\0", texts).encode("utf-8", "surrogatepass")
        # OpenSSL in FIPS mode refuses md5 unless it is declared not to be for security.
        digest = digest_of(data, usedforsecurity=False).hexdigest()[:length]
        return digest if prefix is None else f"{prefix(row)}_{digest}"

    return evaluate


def _compile_template(template: Template) -> Evaluator:
    values = {name: compile_expression(item) for name, item in template.values.items()}

    def render(parts: Sequence[str | Placeholder | Section], row: Row) -> str:
        return join("", [part if isinstance(part, str) else fill(part, row) for part in parts])

    def fill(part: Placeholder | Section, row: Row) -> str:
        name = part.name
        value = values[name](row) if name in values else get_column(row.record, name)
        if isinstance(part, Section):
            return "" if is_empty(value) else render(part.parts, row)
        if part.default is not None and is_empty(value):
            return part.default
        if isinstance(value, str | int | float):
            return str(value)
        # The str of anything else would put Python's notation, such as "None", into a prompt.
        if value is MISSING:
            raise no_column(name, row.record)
        if value is None:
            hint = f"write {{{name}|}} to leave it empty"
            raise MappingError(f"the column '{name}' of the template is null ({hint})")
        hint = "convert a list to a string under `with`"
        raise MappingError(f"'{name}' in the template needs a string ({hint})", value=value)

    return lambda row: render(template.parts, row)


def _compile_messages(
    turns: tuple[tuple[str, tuple[tuple[str, Expression], ...]], ...],
) -> Evaluator:
    compiled = [
        (role, [(kind, compile_expression(part)) for kind, part in parts]) for role, parts in turns
    ]

    def evaluate(row: Row) -> list[dict[str, Any]]:
        contents = (
            (role, message_content((kind, part(row)) for kind, part in parts))
            for role, parts in compiled
        )
        return [{"role": role, "content": content} for role, content in contents if content]

    return evaluate


def message_content(parts: Iterable[tuple[str, Any]]) -> str | list[dict[str, Any]]:
    """Return the content of a message, from kinds and values; empty parts are dropped."""
    content: list[dict[str, Any]] = []
    for kind, value in parts:
        if kind == "" and isinstance(value, str):
            return value  # the content is a single expression, not a list of parts
        # A list gives a part for each of its items, such as the images of a record.
        for item in value if isinstance(value, list) else [value]:
            content += _content_part(*_kind_and_value(item) if kind == "" else (kind, item))
    return content


def _kind_and_value(item: Any) -> tuple[str, Any]:
    """Return the kind and the value of a part that an expression returns."""
    if is_empty(item):
        return "", None
    if isinstance(item, dict) and all(key in PART_KINDS for key in item):
        # In Parquet, all dicts of a list have the same keys, most of them null.
        given = [(kind, value) for kind, value in item.items() if value is not None]
        if len(given) < 2:
            return given[0] if given else ("", None)
    message = "a message's content must be a string, or a list of parts such as {text: …}"
    raise MappingError(message, value=item)


def _content_part(kind: str, value: Any) -> list[dict[str, Any]]:
    """Return a part as Inspect has it, in a list that is empty if the value is."""
    if is_empty(value):
        return []
    if not isinstance(value, str):
        raise MappingError(f"a message's {kind} must be a string", value=value)
    media_format = {"format": MEDIA_FORMATS[kind]} if kind in MEDIA_FORMATS else {}
    return [{"type": kind, kind: value, **media_format}]


class _Compiler:
    """Compiles the arguments of operations; see `operations.base.Compiler`."""

    def expression(self, raw: Any) -> Evaluator:
        return compile_expression(parse_expression(raw))

    def required(self, raw: Any) -> Evaluator:
        return _compile_required(parse_expression(raw))

    def condition(self, raw: Any) -> Callable[[Any, Row], bool]:
        holds = compile_comparisons(parse_comparisons(raw))
        return lambda value, row: holds(value)

    def row_condition(self, raw: Any) -> Callable[[Row], bool]:
        return compile_condition(parse_condition(raw), compile_expression)

    def steps(self, calls: Sequence[OperationCall]) -> Callable[[Any, Row], Any]:
        steps = [(build_operation(call, self), call) for call in calls]

        def apply(value: Any, row: Row) -> Any:
            for step, call in steps:
                try:
                    value = step(value, row)
                except MappingError as error:
                    arguments = "" if call.arguments is None else f"({call.arguments})"
                    raise error.at(operation=f"{call.name}{arguments}") from error.__cause__
            return value

        return apply


COMPILER = _Compiler()
"""Compiles the arguments of operations as the mapping by record does."""
