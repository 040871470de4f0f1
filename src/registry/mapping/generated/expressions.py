"""Generate the code of an expression: a table from the type of the expression to its emitter."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import Any

from registry.manifest.expressions import (
    Column,
    Const,
    Expression,
    Hash,
    If,
    ListOf,
    Messages,
    ObjectOf,
    Pipe,
    RowNumber,
    Template,
)
from registry.mapping.evaluate import message_content
from registry.mapping.generated.conditions import emit_condition
from registry.mapping.generated.constants import emit_constant
from registry.mapping.generated.source import MISSING_KIND, Source, Value
from registry.mapping.generated.templates import emit_hash, emit_template

__all__ = ["emit_expression"]

# Inspect's content types for audio and video have a format besides.
_PLAIN_KINDS = ("text", "image", "document")


def emit_expression(source: Source, expression: Expression) -> Value:
    """Add the lines that evaluate an expression; the value may be MISSING."""
    return _EMITTERS[type(expression)](source, expression)


def _column(source: Source, expression: Column) -> Value:
    return source.column(expression.name)


def _constant(source: Source, expression: Const) -> Value:
    return emit_constant(source, expression.value)


def _list(source: Source, expression: ListOf) -> Value:
    values = [source.required(source.expression(item)) for item in expression.items]
    if all(source.kind(value) not in ("list", "given") for value in values):
        return source.assign(f"[{', '.join(value.name for value in values)}]", "list")
    result = source.assign("[]", "list")
    for value in values:
        kind, name = source.kind(value), value.name
        if kind == "list":
            source.line(f"{result.name} += {name}")
        elif kind == "given":
            with source.block(f"if type({name}) is list:"):
                source.line(f"{result.name} += {name}")
            with source.block("else:"):
                source.line(f"{result.name}.append({name})")
        else:
            source.line(f"{result.name}.append({name})")
    return result


def _object(source: Source, expression: ObjectOf) -> Value:
    values = [(key, source.expression(item)) for key, item in expression.items]
    parts = []
    for key, value in values:
        name = value.name
        text = f"None if {name} is MISSING else {name}"
        text = text if source.kind(value) == MISSING_KIND else name
        parts.append(f"{source.bind(key)}: {text}")
    return source.assign(f"{{{', '.join(parts)}}}", "dict")


def _row_number(source: Source, expression: RowNumber) -> Value:
    source.reads_number = True
    number = f"number + {expression.start - 1}"
    if expression.width is None:
        return source.assign(number, "int")
    return source.assign(f'f"{{{number}:0{expression.width}d}}"', "str")


def _if(source: Source, expression: If) -> Value:
    test, result, kinds = emit_condition(source, expression.condition), source.fresh(), set()
    for head, branch in ((f"if {test}:", expression.then), ("else:", expression.otherwise)):
        with source.block(head):
            value = source.expression(branch)
            source.line(f"{result} = {value.name}")
            kinds.add(source.kind(value))
    if len(kinds) == 1:
        return Value(result, kinds.pop())
    return Value(result, MISSING_KIND if MISSING_KIND in kinds else "given")


def _messages(source: Source, expression: Messages) -> Value:
    result = source.assign("[]", "list")
    role_key, content_key = source.bind("role"), source.bind("content")
    for role, parts in expression.turns:
        content = _content(source, parts)
        message = f"{{{role_key}: {source.bind(role)}, {content_key}: {content.name}}}"
        with source.block(f"if {content.name}:"):
            source.line(f"{result.name}.append({message})")
    return result


def _content(source: Source, parts: tuple[tuple[str, Expression], ...]) -> Value:
    values = [(kind, source.expression(part)) for kind, part in parts]
    if len(values) == 1 and not values[0][0]:
        name = values[0][1].name
        if source.kind(values[0][1]) == "str":
            return values[0][1]
        slow = f"{source.bind(message_content)}((({source.bind('')}, {name}),))"
        return source.assign(f"{name} if type({name}) is str else {slow}", "given")
    result = source.assign("[]", "list")
    for kind, value in values:
        _content_part(source, kind, value, result.name)
    return result


def _content_part(source: Source, kind: str, value: Value, content: str) -> None:
    """Add the lines that append a part to a list; an empty one is dropped."""
    name = value.name
    slow = f"{content} += {source.bind(message_content)}((({source.bind(kind)}, {name}),))"
    if kind not in _PLAIN_KINDS:
        source.line(slow)
        return
    with source.block(f"if type({name}) is str:"):
        bound = source.bind(kind)
        part = f"{{{source.bind('type')}: {bound}, {bound}: {name}}}"
        source.line(f"if {name}: {content}.append({part})")
    with source.block("else:"):
        source.line(slow)


def _pipe(source: Source, expression: Pipe) -> Value:
    value, calls = source.expression(expression.start), expression.operations
    if not calls:
        return source.required(value)
    key: Hashable = repr(expression.start)
    for call in calls:  # several parts of an expression often parse the same text
        key = (key, repr(call))
        value = source.once(key, functools.partial(source.steps, value, (call,)))
    return value


_EMITTERS: dict[type, Callable[[Source, Any], Value]] = {
    Column: _column,
    Const: _constant,
    ListOf: _list,
    ObjectOf: _object,
    Template: emit_template,
    Hash: emit_hash,
    RowNumber: _row_number,
    If: _if,
    Messages: _messages,
    Pipe: _pipe,
}
