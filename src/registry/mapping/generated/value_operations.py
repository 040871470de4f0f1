"""Generate the code of operations that convert and choose values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from registry.manifest.expressions import parse_comparisons, parse_expression
from registry.mapping.generated.conditions import compare, empty_test
from registry.mapping.generated.constants import IMMUTABLE, constant_text
from registry.mapping.generated.literals import parse_literal
from registry.mapping.generated.runtime import (
    LETTERS,
    SCALARS,
    json_writer,
    map_key,
    parse_json,
    position,
)
from registry.mapping.generated.source import MISSING_KIND, Source, Value
from registry.mapping.generated.text_operations import text_of
from registry.mapping.operations.base import as_list, options

__all__ = ["EMITTERS"]

_LONGEST_NUMBER = 400  # a longer one is refused, as by `operations.numbers`


def _default(source: Source, value: Value, argument: Any) -> Value:
    copy, name = constant_text(source, argument), value.name
    kind = source.kind(value)
    if kind in ("str", "list", "dict") and kind == type(argument).__name__:
        return source.assign(f"{name} or {copy}", kind)
    return source.assign(f"{copy} if {empty_test(source, value)} else {name}", "given")


def _coalesce(source: Source, value: Value, argument: Any) -> Value:
    result = source.assign(value.name, MISSING_KIND)
    others = as_list(argument)
    _next_if_empty(source, value, result, others)
    return Value(result.name, "given")


def _next_if_empty(source: Source, value: Value, result: Value, others: list[Any]) -> None:
    with source.block(f"if {empty_test(source, value)}:"):
        if not others:
            source.line(f"{result.name} = None")
            return
        found = source.expression(parse_expression(others[0]))
        source.line(f"{result.name} = {found.name}")
        _next_if_empty(source, found, result, others[1:])


def _nonempty(source: Source, value: Value, argument: Any) -> Value:
    return source.assign(f"not {empty_test(source, value)}", "bool")


def _equals(source: Source, value: Value, argument: Any) -> Value:
    return source.assign(compare(source, (("equals", argument),), source.required(value)), "bool")


def _test(source: Source, value: Value, argument: Any) -> Value:
    return source.assign(compare(source, parse_comparisons(argument).tests, value), "bool")


def _map(source: Source, value: Value, argument: dict[str, Any]) -> Value | None:
    if not all(type(item) in IMMUTABLE for item in argument.values()):
        return None  # each record needs a copy
    kinds = {IMMUTABLE[type(item)] for item in argument.values()}
    name = value.name
    slow = f"{source.bind(map_key)}({name})"
    key = name
    if source.kind(value) != "str":
        key = source.assign(f"{name} if type({name}) is str else {slow}", "given").name
    table = source.bind(argument)
    kind = next(iter(kinds)) if len(kinds) == 1 else "given"
    if "*" in argument:
        return source.assign(f"{table}.get({key}, {source.bind(argument['*'])})", kind)
    return source.assign(f"{table}[{key}]", kind)


def _parse(source: Source, value: Value, argument: Any) -> Value:
    parse = parse_literal if argument == "literal" else parse_json
    return source.assign(f"{source.bind(source.parsed(parse))}[{text_of(source, value)}]", "given")


def _dump(source: Source, value: Value, argument: Any) -> Value | None:
    chosen = options(argument, ascii=False, indent=None, literal=False)
    if chosen["literal"] or chosen["indent"] == 0:
        return None
    write = json_writer(ascii_only=bool(chosen["ascii"]), indent=chosen["indent"])
    return source.assign(f"{source.bind(write)}({value.name})", "str")


def _int(source: Source, value: Value, argument: Any) -> Value:
    name = value.name
    if source.kind(value) == "int":
        return value
    source.step_aside_if(
        f"type({name}) is not int and (type({name}) is not str or len({name}) > {_LONGEST_NUMBER})"
    )
    return source.assign(f"int({name})", "int")


def _float(source: Source, value: Value, argument: Any) -> Value:
    name = value.name
    source.step_aside_if(
        f"type({name}) is not float and type({name}) is not int"
        f" and (type({name}) is not str or len({name}) > {_LONGEST_NUMBER})"
    )
    return source.assign(f"float({name})", "scalar")


def _str(source: Source, value: Value, argument: Any) -> Value | None:
    name = value.name
    if source.kind(value) == "str":
        return value
    source.step_aside_if(f"type({name}) not in {source.bind(SCALARS)}")
    return source.assign(f"str({name})", "str")


def _letter(source: Source, value: Value, argument: Any) -> Value:
    base, name = options(argument, base=0)["base"], value.name
    if source.kind(value) != "int":
        # Digits are read as by `int`, but with fewer signs and scripts.
        digits = (
            f"type({name}) is str and {name}.isascii() and {name}.isdigit() and len({name}) < 10"
        )
        name = source.assign(f"int({name}) if {digits} else {name}", "given").name
        source.step_aside_if(f"type({name}) is not int")
    source.step_aside_if(f"not {base} <= {name} < {len(LETTERS) + base}")
    index = f"{name} - {base}" if base else name
    return source.assign(f"{source.bind(LETTERS)}[{index}]", "str")


def _letter_in(source: Source, value: Value, argument: Any) -> Value:
    labels = source.expect(source.expression(parse_expression(argument)), "list")
    # Of a str, `list.index` finds the same as the comparison of manifests, where true is not 1.
    name, slow = value.name, source.bind(position)
    index = f"{labels.name}.index({name}) if type({name}) is str else {slow}({name}, {labels.name})"
    return source.assign(f"{source.bind(LETTERS)}[{index}]", "str")


EMITTERS: dict[str, Callable[[Source, Value, Any], Value | None]] = {
    "default": _default,
    "coalesce": _coalesce,
    "nonempty": _nonempty,
    "equals": _equals,
    "test": _test,
    "map": _map,
    "parse": _parse,
    "dump": _dump,
    "int": _int,
    "float": _float,
    "str": _str,
    "letter": _letter,
    "letter_in": _letter_in,
}
"""Name of an operation → what adds its lines; None if it takes another way."""
