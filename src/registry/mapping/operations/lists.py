"""Operations on lists and maps."""

from __future__ import annotations

from typing import Any

from registry.errors import MappingError
from registry.manifest.expressions import parse_operations
from registry.mapping.coerce import is_missing
from registry.mapping.conditions import equal
from registry.mapping.operations.base import (
    Apply,
    Compiler,
    Example,
    Operation,
    as_list,
    expect_type,
    no_argument,
    options,
    to_str,
)

__all__ = ["OPERATIONS"]


def _index(argument: Any, _: Any) -> Apply:
    if not isinstance(argument, int) or isinstance(argument, bool):
        raise ValueError("takes a whole number")

    def apply(value: Any, row: Any) -> Any:
        items = expect_type(value, (list, str), "a list or text")
        try:
            return items[argument]
        except IndexError:
            raise MappingError(f"no item {argument} among {len(items)}", value=value) from None

    return apply


def _slice(argument: Any, _: Any) -> Apply:
    bounds = argument if isinstance(argument, list) else []
    if len(bounds) != 2 or not all(item is None or type(item) is int for item in bounds):
        raise ValueError("takes [start, end], whole numbers or null")
    start, end = bounds
    return lambda value, row: expect_type(value, (list, str), "a list or text")[start:end]


def _join(argument: Any, _: Any) -> Apply:
    if not isinstance(argument, str):
        raise ValueError("takes the separator as text")

    def apply(value: Any, row: Any) -> str:
        items = expect_type(value, list, "a list of texts")
        return argument.join(to_str(item) for item in items)

    return apply


def _drop_null(argument: Any, _: Any) -> Apply:
    blank = options(argument, blank=False)["blank"]

    def is_dropped(item: Any) -> bool:
        return is_missing(item) or (blank and isinstance(item, str) and not item.strip())

    def apply(value: Any, row: Any) -> Any:
        if isinstance(value, dict):
            return {key: item for key, item in value.items() if not is_dropped(item)}
        return [item for item in expect_type(value, list, "a list or map") if not is_dropped(item)]

    return apply


def _unique(argument: Any, _: Any) -> Apply:
    no_argument(argument)

    def apply(value: Any, row: Any) -> list[Any]:
        kept: list[Any] = []
        for item in expect_type(value, list, "a list"):
            if not any(equal(item, other) for other in kept):
                kept.append(item)
        return kept

    return apply


def _each(argument: Any, compiler: Compiler) -> Apply:
    step = compiler.steps(parse_operations(as_list(argument)))
    return lambda value, row: [step(item, row) for item in expect_type(value, list, "a list")]


def _pluck(argument: Any, _: Any) -> Apply:
    if not isinstance(argument, str):
        raise ValueError("takes the key as text")

    def apply(value: Any, row: Any) -> list[Any]:
        items = expect_type(value, list, "a list of maps")
        for item in items:
            if argument not in expect_type(item, dict, "a list of maps"):
                raise MappingError(f"an item has no key '{argument}'", value=item)
        return [item[argument] for item in items]

    return apply


def _keys(argument: Any, _: Any) -> Apply:
    no_argument(argument)
    return lambda value, row: list(expect_type(value, dict, "a map"))


def _items(argument: Any, _: Any) -> Apply:
    """Give the values, or each key and value joined with the separator."""
    if argument is None:
        return lambda value, row: list(expect_type(value, dict, "a map").values())
    if not isinstance(argument, str):
        raise ValueError("takes the text between key and value")

    def apply(value: Any, row: Any) -> list[str]:
        pairs = expect_type(value, dict, "a map").items()
        return [f"{key}{argument}{to_str(item)}" for key, item in pairs]

    return apply


def _len(argument: Any, _: Any) -> Apply:
    no_argument(argument)
    return lambda value, row: len(expect_type(value, (list, dict, str), "a list, map or text"))


OPERATIONS = (
    Operation(
        "index",
        "One item of a list or one character of a text, from 0; negative counts from the end.",
        _index,
        Example({"index": -1}, ["steps", "18"], "18"),
    ),
    Operation(
        "slice",
        "The items of a list or text from start up to end.",
        _slice,
        Example({"slice": [0, -1]}, ["a", "b", "c"], ["a", "b"]),
    ),
    Operation(
        "join",
        "Join a list of texts with a separator.",
        _join,
        Example({"join": " "}, ["two", "words"], "two words"),
    ),
    Operation(
        "each",
        "Apply operations to each item of a list.",
        _each,
        Example({"each": [{"slice": [3, None]}]}, ["(A)5", "(B)6"], ["5", "6"]),
        steps=as_list,
    ),
    Operation(
        "drop_null",
        "Leave nulls out of a list or map; {blank: true} leaves out blank texts too.",
        _drop_null,
        Example({"drop_null": {"blank": True}}, ["Paris", None, ""], ["Paris"]),
    ),
    Operation(
        "unique",
        "Leave repeats out of a list; the first of each stays.",
        _unique,
        Example("unique", ["4", "four", "4"], ["4", "four"]),
    ),
    Operation(
        "pluck",
        "One key of each map in a list.",
        _pluck,
        Example({"pluck": "text"}, [{"text": "red"}, {"text": "blue"}], ["red", "blue"]),
    ),
    Operation("keys", "The keys of a map.", _keys, Example("keys", {"a": 1, "b": 2}, ["a", "b"])),
    Operation(
        "items",
        "The values of a map; with a text, key and value joined by it.",
        _items,
        Example({"items": ") "}, {"A": "red", "B": "blue"}, ["A) red", "B) blue"]),
    ),
    Operation("len", "How many items or characters.", _len, Example("len", ["a", "b"], 2)),
)
