"""Operations on lists and dicts."""

from __future__ import annotations

from typing import Any

from registry.errors import MappingError
from registry.manifest.expressions import parse_operations
from registry.mapping.coerce import is_missing
from registry.mapping.conditions import equal
from registry.mapping.operations.base import (
    Apply,
    Compiler,
    Operation,
    OperationExample,
    as_list,
    expect_type,
    no_argument,
    options,
    to_str,
)

__all__ = ["OPERATIONS"]


def _index(argument: Any, _: Any) -> Apply:
    if type(argument) is not int:
        raise ValueError("takes an integer")

    def apply(value: Any, row: Any) -> Any:
        items = expect_type(value, (list, str), "a list or a string")
        try:
            return items[argument]
        except IndexError:
            raise MappingError(f"no item {argument} among {len(items)}", value=value) from None

    return apply


def _slice(argument: Any, _: Any) -> Apply:
    bounds = argument if isinstance(argument, list) else []
    if len(bounds) != 2 or not all(item is None or type(item) is int for item in bounds):
        raise ValueError("takes [start, end], integers or null")
    start, end = bounds
    return lambda value, row: expect_type(value, (list, str), "a list or a string")[start:end]


def _join(argument: Any, _: Any) -> Apply:
    if not isinstance(argument, str):
        raise ValueError("takes the separator, a string")
    needed = "a list of strings"
    return lambda value, row: argument.join(map(to_str, expect_type(value, list, needed)))


def _drop_null(argument: Any, _: Any) -> Apply:
    blank = options(argument, blank=False)["blank"]

    def is_dropped(item: Any) -> bool:
        return is_missing(item) or (blank and isinstance(item, str) and not item.strip())

    def apply(value: Any, row: Any) -> Any:
        if isinstance(value, dict):
            return {key: item for key, item in value.items() if not is_dropped(item)}
        items = expect_type(value, list, "a list or a dict")
        return [item for item in items if not is_dropped(item)]

    return apply


def _unique(value: Any, _: Any) -> list[Any]:
    unique: list[Any] = []
    # Not a set: items may be unhashable, and to manifests true is not 1.
    for item in expect_type(value, list, "a list"):
        if not any(equal(item, other) for other in unique):
            unique.append(item)
    return unique


def _each(argument: Any, compiler: Compiler) -> Apply:
    step = compiler.steps(parse_operations(as_list(argument)))
    return lambda value, row: [step(item, row) for item in expect_type(value, list, "a list")]


def _pluck(argument: Any, _: Any) -> Apply:
    if not isinstance(argument, str):
        raise ValueError("takes the key, a string")

    def apply(value: Any, row: Any) -> list[Any]:
        items = expect_type(value, list, "a list of dicts")
        for item in items:
            if argument not in expect_type(item, dict, "a list of dicts"):
                raise MappingError(f"an item has no key '{argument}'", value=item)
        return [item[argument] for item in items]

    return apply


def _items(argument: Any, _: Any) -> Apply:
    if argument is None:
        return lambda value, row: list(expect_type(value, dict, "a dict").values())
    if not isinstance(argument, str):
        raise ValueError("takes the separator of key and value, a string")

    def apply(value: Any, row: Any) -> list[str]:
        pairs = expect_type(value, dict, "a dict").items()
        return [f"{key}{argument}{to_str(item)}" for key, item in pairs]

    return apply


OPERATIONS = (
    Operation(
        "index",
        "One item of a list or character of a string, from 0; negative counts from the end.",
        _index,
        OperationExample({"index": -1}, ["steps", "18"], "18"),
    ),
    Operation(
        "slice",
        "The items of a list or string from start up to end.",
        _slice,
        OperationExample({"slice": [0, -1]}, ["a", "b", "c"], ["a", "b"]),
    ),
    Operation(
        "join",
        "Join a list of strings with a separator.",
        _join,
        OperationExample({"join": " "}, ["two", "words"], "two words"),
    ),
    Operation(
        "each",
        "Apply operations to each item of a list.",
        _each,
        OperationExample({"each": [{"slice": [3, None]}]}, ["(A)5", "(B)6"], ["5", "6"]),
        steps=as_list,
    ),
    Operation(
        "drop_null",
        "Remove nulls from a list or dict; {blank: true} also removes strings of whitespace.",
        _drop_null,
        OperationExample({"drop_null": {"blank": True}}, ["Paris", None, ""], ["Paris"]),
    ),
    Operation(
        "unique",
        "Remove duplicates from a list; the first of each is kept.",
        no_argument(_unique),
        OperationExample("unique", ["4", "four", "4"], ["4", "four"]),
    ),
    Operation(
        "pluck",
        "The value of one key of each dict in a list.",
        _pluck,
        OperationExample({"pluck": "text"}, [{"text": "red"}, {"text": "blue"}], ["red", "blue"]),
    ),
    Operation(
        "keys",
        "The keys of a dict.",
        no_argument(lambda value, row: list(expect_type(value, dict, "a dict"))),
        OperationExample("keys", {"a": 1, "b": 2}, ["a", "b"]),
    ),
    Operation(
        "items",
        "The values of a dict; with a separator, each key and value joined by it.",
        _items,
        OperationExample({"items": ") "}, {"A": "red", "B": "blue"}, ["A) red", "B) blue"]),
    ),
    Operation(
        "len",
        "The number of items or characters.",
        no_argument(
            lambda value, row: len(
                expect_type(value, (list, dict, str), "a list, a dict or a string")
            )
        ),
        OperationExample("len", ["a", "b"], 2),
    ),
)
