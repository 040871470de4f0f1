"""Operations that convert between strings, numbers, dates and JSON."""

from __future__ import annotations

import ast
import json
import re
from contextlib import suppress
from datetime import datetime
from typing import Any

import msgspec

from registry.base.digest import are_plain, encode_value, levels, to_json
from registry.boundary.boundary import MAX_TEXT
from registry.decode.exact_json import InexactError, parse_all, parse_exact
from registry.errors import MappingError
from registry.mapping.batch import Batch, check_size, in_parts, sizes_of
from registry.mapping.operations.base import (
    BatchStep,
    Operation,
    OperationExample,
    Step,
    expect_type,
    no_argument,
    options,
    to_str,
)
from registry.mapping.regex import no_warnings

__all__ = ["OPERATIONS", "parse_json", "parse_literal"]

_LARGEST_INDENT = 8

_encode = msgspec.json.Encoder().encode

# Python's own limit, 4,300 digits, is a setting of the process; samples must not depend on it.
_LONGEST_NUMBER = 400

_QUOTE, _ESCAPED = '"', '\\"'
# Strings, in a text without backslashes.
_STRING = re.compile("'([^']*)'|\"[^\"]*\"")

# Strings, with the space before another one, and comments; what NumPy writes around a list.
_NUMPY = re.compile(
    r"""('{3}.*?'{3}|"{3}.*?"{3}|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(\s+(?=['"]))?
    |(\#[^\n]*)|\barray(?=\()|,\s*dtype=(?:\w+|'[^']*')(?=\))""",
    re.DOTALL | re.VERBOSE,
)


def _number(value: Any, kind: type[int | float]) -> int | float:
    expect_type(value, (int, float, str), "a number, or a string of one")
    # `int` would truncate 2.5 without an error.
    if kind is int and isinstance(value, float) and not value.is_integer():
        raise MappingError("is not an integer", value=value)
    if isinstance(value, str) and len(value) > _LONGEST_NUMBER:
        raise MappingError("is too long for a number", value=value)
    try:
        return kind(value)
    except (ValueError, OverflowError) as error:
        raise MappingError("is not a number", value=value) from error


def _expect_scalar(value: Any) -> Any:
    return expect_type(value, (str, int, float, bool), "a string, a number or a boolean")


def _parse(argument: Any, _: Any) -> BatchStep:
    if argument not in (None, "json", "literal"):
        raise ValueError("takes json or literal")
    parse_one, as_json = (
        (parse_literal, _as_json) if argument == "literal" else (parse_json, lambda text: text)
    )

    def parsed(_: Batch, values: list[Any]) -> list[Any]:
        texts = list(map(to_str, values))
        ready = list(map(as_json, texts))
        found = parse_all([text for text in ready if text is not None])
        if found is None:
            return list(map(parse_one, texts))
        rest = iter(found)
        pairs = zip(texts, ready, strict=True)
        return [parse_one(text) if one is None else next(rest) for text, one in pairs]

    return parsed


def parse_json(text: str) -> Any:
    """Return the value of JSON; a MappingError if it is none, or can't be read exactly."""
    try:
        return parse_exact(text)
    except InexactError as error:
        raise MappingError(f"can't be read exactly: {error}", value=text) from error
    except (ValueError, RecursionError) as error:
        raise MappingError(f"is not JSON: {error}", value=text) from error


def parse_literal(text: str) -> Any:
    """Return the value of a Python literal; a MappingError if it is none.

    Strings without a comma between them are items, as NumPy writes them, and pandas with it.
    """
    if (json_text := _as_json(text)) is not None:
        with suppress(ValueError, RecursionError):  # any other literal
            return parse_exact(json_text)
    try:
        with no_warnings():  # of escapes such as \d in the data
            tree = ast.parse(text.strip(), mode="eval")
            # Only now, as all strings of valid Python end.
            plain = _NUMPY.sub(_without_numpy, text.strip())
            tree = tree if plain == text.strip() else ast.parse(plain, mode="eval")
            value = ast.literal_eval(tree)
        # Rejects a set, which has no fixed order, and what no string can be made of later: the
        # limit for digits of integers does not hold for `0x…`.
        to_json(value)
    # The parser raises a MemoryError for deep nesting, and a TypeError for a list as a dict key.
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
        # The message of `ast` has the address of a node, which differs in each run.
        reason = str(error).partition(": <ast.")[0]
        raise MappingError(f"is not a Python literal: {reason}", value=text) from error
    if text.count(":") > 1:  # else there is one key at most
        _refuse_repeated_keys(tree, text)
    return list(value) if isinstance(value, tuple) else value  # other operations expect lists


def _as_json(text: str) -> str | None:
    """Return the text of a literal as one that is JSON, if it has the same value; else None."""
    # JSON and Python read these differently. A text without them that is JSON, once its quotes are
    # double, means the same in Python, whose parser takes twenty times as long.
    if "\\" in text or "true" in text or "false" in text or "null" in text:
        return None
    text = text.strip()
    if '"' not in text:
        return text.replace("'", '"')
    return _STRING.sub(
        lambda found: found[0] if found[1] is None else f'"{found[1].replace(_QUOTE, _ESCAPED)}"',
        text,
    )


def _without_numpy(found: re.Match[str]) -> str:
    return f"{found[1]}, " if found[2] else found[1] or found[3] or ""


def _refuse_repeated_keys(tree: ast.Expression, text: str) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            keys = [ast.literal_eval(one) for one in node.keys if one is not None]
            if len(set(keys)) < len(keys):
                repeated = next(one for one in keys if keys.count(one) > 1)
                message = f"can't be read exactly: the key {repeated!r} is repeated"
                raise MappingError(message, value=text)


def _dump(argument: Any, _: Any) -> BatchStep:
    chosen = options(argument, ascii=False, indent=None, literal=False)
    if chosen["indent"] is not None and chosen["indent"] not in range(_LARGEST_INDENT + 1):
        raise ValueError(f"`indent` is a number of spaces, at most {_LARGEST_INDENT}")
    if chosen["literal"] and (chosen["ascii"] or chosen["indent"] is not None):
        raise ValueError("`literal` excludes `ascii` and `indent`, which are for JSON")

    def checked(value: Any) -> Any:
        check_size(sizes_of([value]))
        try:
            return encode_value(value)
        except (TypeError, RecursionError) as error:
            raise MappingError(str(error), value=value) from error

    indent = chosen["indent"]
    compact = json.JSONEncoder(ensure_ascii=chosen["ascii"]).encode
    exact = json.JSONEncoder(ensure_ascii=chosen["ascii"], indent=indent).encode

    def with_floats(value: Any) -> bytes:
        return compact(value).encode()

    def without_floats(value: Any) -> bytes:
        text = _encode(value)
        return with_floats(value) if chosen["ascii"] and not text.isascii() else text

    def dumped(values: list[Any]) -> list[str]:
        # Nearly always no value has to be looked at alone, without the loops that run in C.
        is_plain = sizes_of(values) <= MAX_TEXT and are_plain(values)
        data = values if is_plain else list(map(checked, values))
        if chosen["literal"]:
            return list(map(repr, values))
        if indent == 0:
            return list(map(exact, data))
        # Ten times as fast as `json`; msgspec itself writes floats otherwise.
        has_floats = not is_plain or any(float in kinds for _, kinds, *_ in levels(values))
        write = with_floats if has_floats else without_floats
        try:
            return [msgspec.json.format(write(one), indent=indent or 0).decode() for one in data]
        except (UnicodeEncodeError, msgspec.DecodeError):  # half a surrogate pair
            return list(map(exact, data))

    return lambda batch, values: in_parts(batch, len(values), lambda few: dumped(values[few]))


def _date(argument: Any, _: Any) -> Step:
    if argument is not None and not isinstance(argument, str):
        raise ValueError("takes a format such as %Y-%m-%d, a string")
    if "%Z" in (argument or "").replace("%%", ""):
        message = "%Z takes names of zones that depend on the machine"
        raise ValueError(
            f"{message}: %z takes offsets such as +0200, and other text stands for itself"
        )
    try:
        with suppress(ValueError):  # an empty string has none of the formats
            datetime.strptime("", argument or "")  # noqa: DTZ007
    except re.error as error:
        raise ValueError(f"the format {argument!r} has a directive twice") from error

    def parsed(value: Any) -> datetime:
        text = to_str(value)
        try:
            if argument is None:
                return datetime.fromisoformat(text)
            return datetime.strptime(text, argument)  # noqa: DTZ007 (the format may have a zone)
        except ValueError as error:
            raise MappingError(f"is not a date: {error}", value=value) from error

    return Step(parsed)


OPERATIONS = (
    Operation(
        "int",
        "Convert a number, or a string of one, to an integer.",
        no_argument(Step(lambda value: _number(value, int))),
        OperationExample("int", " 42 ", 42),
    ),
    Operation(
        "float",
        "Convert a number, or a string of one, to a float.",
        no_argument(Step(lambda value: _number(value, float))),
        OperationExample("float", "2.5", 2.5),
    ),
    Operation(
        "str",
        "Convert a number or a boolean to a string.",
        no_argument(Step(str, str, _expect_scalar)),
        OperationExample("str", 49, "49"),
    ),
    Operation(
        "parse",
        "Parse a string as JSON; with {parse: literal}, as Python or NumPy writes values.",
        _parse,
        OperationExample({"parse": "literal"}, "['Ann', 'Bob']", ["Ann", "Bob"]),
    ),
    Operation(
        "dump",
        "Write a value as JSON; {ascii: true} escapes other characters, {indent: 2} breaks lines. "
        "{literal: true} writes it as Python does.",
        _dump,
        OperationExample("dump", {"a": [1, None]}, '{"a": [1, null]}'),
    ),
    Operation(
        "date",
        "Parse a string as a date: ISO 8601, or the strptime format given.",
        _date,
        OperationExample(
            {"date": "%d.%m.%Y"},
            "02.05.2024",
            datetime(2024, 5, 2),  # noqa: DTZ001 (as the example gives none)
        ),
    ),
)
