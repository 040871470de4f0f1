"""Operations on lists and dicts."""

from __future__ import annotations

import random
from operator import itemgetter
from typing import Any

from registry.errors import MappingError, shorten
from registry.mapping.batch import join
from registry.mapping.coerce import is_missing
from registry.mapping.conditions import key_of
from registry.mapping.operations.base import (
    Compiler,
    Operation,
    OperationExample,
    Step,
    expect_type,
    no_argument,
    on_list,
    options,
    to_str,
)

__all__ = ["OPERATIONS"]


def _index(argument: Any, _: Compiler) -> Step:
    if type(argument) is not int:
        _expect_position(argument)
        return Step(_at)
    return Step(
        itemgetter(argument),
        list,
        _expect_items,
        lambda items: f"no item {argument} among {len(items)}",
    )


def _at(value: Any, position: Any) -> Any:
    """Return the item at a position, or the value of a key."""
    if isinstance(position, str):
        if position in expect_type(value, dict, "a dict, for the key of an entry"):
            return value[position]
        raise MappingError(f"no key {shorten(position)} among {shorten(list(value))}")
    items = _expect_items(value)
    expect_type(position, int, "an integer as position, or the key of an entry")
    try:
        return items[position]
    except IndexError:
        raise MappingError(f"no item {position} among {len(items)}", value=value) from None


def _expect_items(value: Any) -> Any:
    return expect_type(value, (list, str), "a list or a string")


def _slice(argument: Any, _: Compiler) -> Step:
    if not isinstance(argument, list) or len(argument) != 2:
        raise ValueError("takes [start, end], each an integer, null or an expression")
    for item in argument:
        if item is not None and type(item) is not int:
            _expect_position(item)
    if not any(map(_is_expression, argument)):
        return Step(itemgetter(slice(*argument)), list, _expect_items)

    def part(items: Any, *found: Any) -> Any:
        bounds = iter(found)  # of the bounds that are expressions
        start, end = (
            # A null column is an error, not an open end: it would silently keep all items.
            expect_type(next(bounds), int, "an integer as bound") if _is_expression(item) else item
            for item in argument
        )
        return items[start:end]

    return Step(part, list, _expect_items)


def _expect_position(argument: Any) -> None:
    if not _is_expression(argument):
        raise ValueError("takes integers, or expressions that return them")


def _is_expression(argument: Any) -> bool:
    return isinstance(argument, str | dict)


def _join(argument: Any, _: Any) -> Step:
    if not isinstance(argument, str):
        raise ValueError("takes the separator, a string")

    def texts(value: Any) -> list[str]:
        return list(map(to_str, expect_type(value, list, "a list of strings")))

    # It raises a TypeError for an item that is no str.
    return Step(lambda items: join(argument, items), list, texts, is_heavy=True)


def _drop_null(argument: Any, _: Any) -> Step:
    blank = options(argument, blank=False)["blank"]

    def is_dropped(item: Any) -> bool:
        return is_missing(item) or (blank and isinstance(item, str) and not item.strip())

    def kept(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: item for key, item in value.items() if not is_dropped(item)}
        items = expect_type(value, list, "a list or a dict")
        return [item for item in items if not is_dropped(item)]

    return Step(kept)


def _unique(items: list[Any]) -> list[Any]:
    first: dict[Any, Any] = {}  # by keys, as a list may have any number of items
    for item in items:
        first.setdefault(key_of(item), item)
    return list(first.values())


def _sort(items: list[Any]) -> list[Any]:
    try:
        return sorted(items)
    except (TypeError, ArithmeticError) as error:  # a NaN of Decimal has no order either
        raise MappingError("items of different types have no order", value=items) from error


def _shuffled(items: list[Any], seed: Any) -> list[Any]:
    if not isinstance(seed, str):
        expect_type(seed, int, "a string or an integer as seed")
    try:
        generator = random.Random(seed)
    except UnicodeEncodeError as error:
        raise MappingError("a seed can't have half of a surrogate pair", value=seed) from error
    shuffled = list(items)
    generator.shuffle(shuffled)
    return shuffled


def _pluck(argument: Any, _: Any) -> Step:
    if not isinstance(argument, str):
        raise ValueError("takes the key, a string")
    value_of = itemgetter(argument)

    def dicts(value: Any) -> list[Any]:
        items: list[Any] = expect_type(value, list, "a list of dicts")
        for item in items:
            if argument not in expect_type(item, dict, "a list of dicts"):
                raise MappingError(f"an item has no key '{argument}'", value=item)
        return items

    return Step(lambda items: list(map(value_of, items)), list, dicts)


def _expect_dict(value: Any) -> Any:
    return expect_type(value, dict, "a dict")


def _items(argument: Any, _: Any) -> Step:
    if argument is None:
        return Step(lambda value: list(value.values()), dict, _expect_dict)
    if not isinstance(argument, str):
        raise ValueError("takes the separator of key and value, a string")

    def joined(value: dict[str, Any]) -> list[str]:
        return [f"{key}{argument}{to_str(item)}" for key, item in value.items()]

    return Step(joined, dict, _expect_dict, is_heavy=True)


OPERATIONS = (
    Operation(
        "index",
        "One item of a list or character of a string, from 0; negative counts from the end. The "
        "position may be an expression; if it returns a key, one value of a dict.",
        _index,
        OperationExample({"index": "answer"}, ["Venus", "Mars"], "Mars", {"answer": 1}),
        expressions=lambda argument: list(filter(_is_expression, [argument])),
    ),
    Operation(
        "slice",
        "The items of a list or string from start up to end, which may be expressions.",
        _slice,
        OperationExample({"slice": [0, -1]}, ["a", "b", "c"], ["a", "b"]),
        expressions=lambda argument: list(filter(_is_expression, argument)),
    ),
    Operation(
        "join",
        "Join a list of strings with a separator.",
        _join,
        OperationExample({"join": " "}, ["two", "words"], "two words"),
        texts=lambda argument: argument,
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
        no_argument(on_list(_unique)),
        OperationExample("unique", ["4", "four", "4"], ["4", "four"]),
    ),
    Operation(
        "sort",
        "Sort a list of strings, by code points, or of numbers.",
        no_argument(on_list(_sort)),
        OperationExample("sort", ["b", "a", "B"], ["B", "a", "b"]),
    ),
    Operation(
        "shuffle",
        "Shuffle a list by Python's random.Random; an expression returns the seed, a string or an "
        "integer.",
        lambda argument, _: on_list(_shuffled),
        OperationExample({"shuffle": "id"}, ["a", "b", "c"], ["c", "a", "b"], {"id": "q1"}),
        expressions=lambda argument: [argument],
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
        no_argument(Step(list, dict, _expect_dict)),
        OperationExample("keys", {"a": 1, "b": 2}, ["a", "b"]),
    ),
    Operation(
        "items",
        "The values of a dict; with a separator, each key and value joined by it.",
        _items,
        OperationExample({"items": ") "}, {"A": "red", "B": "blue"}, ["A) red", "B) blue"]),
        texts=lambda argument: argument,
    ),
    Operation(
        "len",
        "The number of items or characters.",
        no_argument(
            Step(
                len,
                list,
                lambda value: expect_type(value, (list, dict, str), "a list, a dict or a string"),
            )
        ),
        OperationExample("len", ["a", "b"], 2),
    ),
)
