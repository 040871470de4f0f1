"""Generate the code of operations on lists and dicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from registry.boundary.limits import MAX_TEXT
from registry.manifest.expressions import (
    parse_comparisons,
    parse_condition,
    parse_expression,
    parse_operations,
)
from registry.mapping.conditions import equal
from registry.mapping.generated.conditions import compare, emit_condition
from registry.mapping.generated.runtime import LETTERS, unique, zip_lists
from registry.mapping.generated.source import Source, Value
from registry.mapping.generated.text_operations import text_of
from registry.mapping.operations.base import as_list, options

__all__ = ["EMITTERS"]

_SHORT = 64
_NAMES = {"item": "item", "index": "index"}


def _index(source: Source, value: Value, argument: Any) -> Value:
    if type(argument) is int:
        value = source.expect(value, "list", "str")
        item = Value("", "given")
        if source.kind(value) in ("str", "list"):
            item = value if source.kind(value) == "str" else source.item_of(value)
        result = source.assign(f"{value.name}[{source.bind(argument)}]", source.kind(item))
        return source.like(item, result.name)
    position, name = source.expression(parse_expression(argument)).name, value.name
    is_item = f"type({position}) is int and (type({name}) is list or type({name}) is str)"
    is_key = f"type({position}) is str and type({name}) is dict"
    source.step_aside_if(f"not ({is_item} or {is_key})")
    return source.assign(f"{name}[{position}]", "given")


def _slice(source: Source, value: Value, argument: list[Any]) -> Value:
    value = source.expect(value, "list", "str")
    start, end = (_bound(source, item) for item in argument)
    result = source.assign(f"{value.name}[{start}:{end}]", source.kind(value))
    return source.has_items(result, source.item_of(value))


def _bound(source: Source, argument: Any) -> str:
    if argument is None or type(argument) is int:
        return source.bind(argument)
    return source.expect(source.expression(parse_expression(argument)), "int").name


def _join(source: Source, value: Value, argument: str) -> Value | None:
    if len(argument) > _SHORT:
        return None  # a large result must be found before it is made
    value = source.expect(value, "list")
    # Raises for an item that is not a str, which another way may convert.
    text = source.assign(f"{source.bind(argument)}.join({value.name})", "str")
    source.step_aside_if(f"len({text.name}) > {MAX_TEXT - len(argument)}")
    return text


def _drop_null(source: Source, value: Value, argument: Any) -> Value:
    found = "x is not None and (type(x) is not float or x == x)"  # NaN equals nothing
    if options(argument, blank=False)["blank"]:
        found = f"(x.strip() if type(x) is str else {found})"
    value, name = source.expect(value, "list", "dict"), value.name
    as_dict = f"{{k: x for k, x in {name}.items() if {found}}}"
    as_list = f"[x for x in {name} if {found}]"
    if source.kind(value) in ("dict", "list"):
        return source.assign(as_dict if value.kind == "dict" else as_list, value.kind)
    return source.assign(f"{as_dict} if type({name}) is dict else {as_list}", "given")


def _pluck(source: Source, value: Value, argument: str) -> Value:
    value = source.expect(value, "list")
    # Raises for an item that is not a dict, or that lacks the key.
    return source.assign(f"[x[{source.bind(argument)}] for x in {value.name}]", "list")


def _keys(source: Source, value: Value, argument: Any) -> Value:
    return source.assign(f"list({source.expect(value, 'dict').name})", "list")


def _items(source: Source, value: Value, argument: Any) -> Value | None:
    value = source.expect(value, "dict")
    if argument is None:
        return source.assign(f"list({value.name}.values())", "list")
    pairs = source.assign(f"list({value.name}.items())", "list")
    result, separator = source.assign("[]", "list"), source.bind(argument)
    with source.loop(pairs) as (pair, _):
        key, item = source.fresh(), Value(source.fresh(), "given")
        source.line(f"{key}, {item.name} = {pair.name}")
        text = f'f"{{{key}}}{{{separator}}}{{{text_of(source, item)}}}"'
        source.line(f"{result.name}.append({text})")
    return result


def _len(source: Source, value: Value, argument: Any) -> Value:
    return source.assign(f"len({source.expect(value, 'list', 'dict', 'str').name})", "int")


def _keep(source: Source, value: Value, argument: Any) -> Value:
    value = source.expect(value, "list")
    result = source.assign("[]", "list")
    with source.loop(value) as (item, _):
        test = compare(source, parse_comparisons(argument).tests, item)
        source.line(f"if {test}: {result.name}.append({item.name})")
    return source.has_items(result, source.item_of(value))


def _letters_where(source: Source, value: Value, argument: Any) -> Value:
    value = source.expect(value, "list")
    source.step_aside_if(f"len({value.name}) > {len(LETTERS)}")
    tests = parse_comparisons({"in": [1, True]} if argument is None else argument).tests
    result = source.assign("[]", "list")
    with source.loop(value) as (item, index):
        letter = f"{source.bind(LETTERS)}[{index.name}]"
        source.line(f"if {compare(source, tests, item)}: {result.name}.append({letter})")
    return result


def _each(source: Source, value: Value, argument: Any) -> Value:
    value = source.expect(value, "list")
    result = source.assign("[]", "list")
    if not isinstance(argument, dict):
        with source.loop(value) as (item, _):
            made = source.steps(item, parse_operations(as_list(argument)))
            source.line(f"{result.name}.append({made.name})")
            source.has_items(result, made)
        return result
    chosen = options(argument, where=None, to=None, **_NAMES)
    with source.loop(value, (chosen["item"], chosen["index"])):
        if chosen["where"] is not None:
            test = emit_condition(source, parse_condition(chosen["where"]))
            source.line(f"if not {test}: continue")
        to = chosen["item"] if chosen["to"] is None else chosen["to"]
        made = source.required(source.expression(parse_expression(to)))
        source.line(f"{result.name}.append({made.name})")
        source.has_items(result, made)
    return result


def _dict(source: Source, value: Value, argument: dict[str, Any]) -> Value:
    value = source.expect(value, "list")
    chosen = options(argument, key=None, value=None, **_NAMES)
    result = source.assign("{}", "dict")
    with source.loop(value, (chosen["item"], chosen["index"])):
        key = chosen["item"] if chosen["key"] is None else chosen["key"]
        name = text_of(source, source.expression(parse_expression(key)))
        made = source.required(source.expression(parse_expression(chosen["value"]))).name
        differ = f"not {source.bind(equal)}({result.name}[{name}], {made})"
        source.step_aside_if(f"{name} in {result.name} and {differ}")
        source.line(f"{result.name}[{name}] = {made}")
    return result


def _sort(source: Source, value: Value, argument: Any) -> Value:
    return source.assign(f"sorted({source.expect(value, 'list').name})", "list")


def _unique(source: Source, value: Value, argument: Any) -> Value:
    return source.assign(f"{source.bind(unique)}({source.expect(value, 'list').name})", "list")


def _zip(source: Source, value: Value, argument: Any) -> Value:
    return source.assign(f"{source.bind(zip_lists)}({value.name})", "list")


EMITTERS: dict[str, Callable[[Source, Value, Any], Value | None]] = {
    "index": _index,
    "slice": _slice,
    "join": _join,
    "drop_null": _drop_null,
    "pluck": _pluck,
    "keys": _keys,
    "items": _items,
    "len": _len,
    "keep": _keep,
    "letters_where": _letters_where,
    "sort": _sort,
    "unique": _unique,
    "zip": _zip,
    "each": _each,
    "dict": _dict,
}
"""Name of an operation → what adds its lines; None if it takes another way."""
