"""Operations on lists and dicts."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from registry.errors import MappingError, shorten
from registry.mapping.coerce import is_missing
from registry.mapping.conditions import equal
from registry.mapping.operations.base import (
    Apply,
    Compiler,
    Operation,
    OperationExample,
    expect_type,
    no_argument,
    options,
    to_str,
)
from registry.mapping.sizes import join

if TYPE_CHECKING:
    from registry.mapping.row import Evaluator

__all__ = ["OPERATIONS"]


def _index(argument: Any, compiler: Compiler) -> Apply:
    position_of = _position(argument, compiler)

    def apply(value: Any, row: Any) -> Any:
        position = position_of(row)
        if isinstance(position, str):
            if position in expect_type(value, dict, "a dict, for the key of an entry"):
                return value[position]
            raise MappingError(f"no key {shorten(position)} among {shorten(list(value))}")
        items = expect_type(value, (list, str), "a list or a string")
        expect_type(position, int, "an integer as position, or the key of an entry")
        try:
            return items[position]
        except IndexError:
            raise MappingError(f"no item {position} among {len(items)}", value=value) from None

    return apply


def _slice(argument: Any, compiler: Compiler) -> Apply:
    if not isinstance(argument, list) or len(argument) != 2:
        raise ValueError("takes [start, end], each an integer, null or an expression")
    start_of, end_of = (_bound(item, compiler) for item in argument)

    def apply(value: Any, row: Any) -> Any:
        items = expect_type(value, (list, str), "a list or a string")
        return items[start_of(row) : end_of(row)]

    return apply


def _bound(argument: Any, compiler: Compiler) -> Evaluator:
    if argument is None:
        return lambda row: None
    position_of = _position(argument, compiler)
    # A null column is an error, not an open end: it would silently keep all items.
    return lambda row: expect_type(position_of(row), int, "an integer as bound")


def _position(argument: Any, compiler: Compiler) -> Evaluator:
    """Return the evaluator of a position: an integer, or an expression that returns it."""
    if type(argument) is int:
        return lambda row: argument
    if not _is_expression(argument):
        raise ValueError("takes integers, or expressions that return them")
    return compiler.required(argument)


def _is_expression(argument: Any) -> bool:
    return isinstance(argument, str | dict)


def _join(argument: Any, _: Any) -> Apply:
    if not isinstance(argument, str):
        raise ValueError("takes the separator, a string")
    needed = "a list of strings"
    return lambda value, row: join(argument, map(to_str, expect_type(value, list, needed)))


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
    seen: set[Any] = set()  # a list may have any number of items
    for item in expect_type(value, list, "a list"):
        key = _key(item)
        if key is None or key not in seen:
            unique.append(item)
            seen.add(key)
    return unique


def _key(item: Any) -> Any:
    """Return what is equal for equal items; None for what equals nothing, such as NaN."""
    try:
        key = (isinstance(item, bool), _hashable(item))  # to manifests true is not 1
        hash(key)
    except TypeError:  # a signalling NaN of decimal has no hash
        return None
    return key if equal(item, item) else None


def _hashable(item: Any) -> Any:
    """Return a value that is equal to that of another item if the items are equal."""
    if isinstance(item, list | tuple):
        return type(item).__name__, tuple(map(_hashable, item))
    if isinstance(item, dict):
        return "dict", frozenset((key, _hashable(inner)) for key, inner in item.items())
    return item


def _sort(value: Any, row: Any) -> list[Any]:
    items = expect_type(value, list, "a list")
    try:
        return sorted(items)
    except (TypeError, ArithmeticError) as error:  # a NaN of Decimal has no order either
        raise MappingError("items of different types have no order", value=value) from error


def _shuffle(argument: Any, compiler: Compiler) -> Apply:
    seed_of = compiler.required(argument)

    def apply(value: Any, row: Any) -> list[Any]:
        items = list(expect_type(value, list, "a list"))
        seed = seed_of(row)
        if not isinstance(seed, str):
            expect_type(seed, int, "a string or an integer as seed")
        try:
            generator = random.Random(seed)
        except UnicodeEncodeError as error:
            raise MappingError("a seed can't have half of a surrogate pair", value=seed) from error
        generator.shuffle(items)
        return items

    return apply


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
        "sort",
        "Sort a list of strings, by code points, or of numbers.",
        no_argument(_sort),
        OperationExample("sort", ["b", "a", "B"], ["B", "a", "b"]),
    ),
    Operation(
        "shuffle",
        "Shuffle a list by Python's random.Random; an expression returns the seed, a string or an "
        "integer.",
        _shuffle,
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
