"""Operations between text, numbers, dates and JSON."""

from __future__ import annotations

import ast
import json
import warnings
from datetime import datetime
from typing import Any

from registry.base.digest import encode_value
from registry.errors import MappingError
from registry.mapping.operations.base import (
    Apply,
    Example,
    Operation,
    expect_type,
    no_argument,
    options,
    to_str,
)

__all__ = ["OPERATIONS"]

_LONGEST_NUMBER = 400


def _int(argument: Any, _: Any) -> Apply:
    no_argument(argument)
    return lambda value, row: _number(value, int)


def _float(argument: Any, _: Any) -> Apply:
    no_argument(argument)
    return lambda value, row: _number(value, float)


def _number(value: Any, kind: type[int | float]) -> int | float:
    expect_type(value, (int, float, str), "a number, or text of one")
    if kind is int and isinstance(value, float) and not value.is_integer():
        raise MappingError("is not a whole number", value=value)
    if isinstance(value, str) and len(value) > _LONGEST_NUMBER:
        raise MappingError("is too long for a number", value=value)
    try:
        return kind(value)
    except (ValueError, OverflowError) as error:
        raise MappingError("is no number", value=value) from error


def _str(argument: Any, _: Any) -> Apply:
    no_argument(argument)
    return lambda value, row: str(
        expect_type(value, (str, int, float, bool), "text, a number or a flag")
    )


def _parse(argument: Any, _: Any) -> Apply:
    if argument not in (None, "json", "literal"):
        raise ValueError("takes json or literal")
    read = _read_literal if argument == "literal" else _read_json
    return lambda value, row: read(to_str(value))


def _read_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MappingError(f"is not JSON: {error}", value=text) from error


def _read_literal(text: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes such as \d in the data
            value = ast.literal_eval(text.strip())
        encode_value(value)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
        # `ast` names a node by its address, which is another in each run.
        reason = str(error).partition(": <ast.")[0]
        raise MappingError(f"is no Python literal: {reason}", value=text) from error
    return list(value) if isinstance(value, tuple) else value


def _dump(argument: Any, _: Any) -> Apply:
    chosen = options(argument, ascii=False, indent=None)
    indent = chosen["indent"]

    def apply(value: Any, row: Any) -> str:
        try:
            data = encode_value(value)
        except (TypeError, RecursionError) as error:
            raise MappingError(str(error), value=value) from error
        return json.dumps(data, ensure_ascii=chosen["ascii"], indent=indent)

    return apply


def _date(argument: Any, _: Any) -> Apply:
    if argument is not None and not isinstance(argument, str):
        raise ValueError("takes a format such as %Y-%m-%d as text")

    def apply(value: Any, row: Any) -> datetime:
        text = to_str(value)
        try:
            if argument is None:
                return datetime.fromisoformat(text)
            return datetime.strptime(text, argument)  # noqa: DTZ007 (the text names the zone)
        except ValueError as error:
            raise MappingError(f"is no date: {error}", value=value) from error

    return apply


OPERATIONS = (
    Operation("int", "A whole number of text or a number.", _int, Example("int", " 42 ", 42)),
    Operation("float", "A number of text or a number.", _float, Example("float", "2.5", 2.5)),
    Operation("str", "Text of a number or a flag.", _str, Example("str", 49, "49")),
    Operation(
        "parse",
        "Read text as JSON, or as a Python literal with {parse: literal}.",
        _parse,
        Example({"parse": "literal"}, "['Ann', 'Bob']", ["Ann", "Bob"]),
    ),
    Operation(
        "dump",
        "Write a value as JSON; {ascii: true} escapes other letters, {indent: 2} breaks lines.",
        _dump,
        Example("dump", {"a": [1, None]}, '{"a": [1, null]}'),
    ),
    Operation(
        "date",
        "Read text as a date: ISO 8601, or the strptime format given.",
        _date,
        Example({"date": "%d.%m.%Y"}, "02.05.2024", datetime(2024, 5, 2)),  # noqa: DTZ001
    ),
)
