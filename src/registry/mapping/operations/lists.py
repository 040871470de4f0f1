"""Operations on lists."""

from __future__ import annotations

from typing import Any

from registry.errors import MappingError
from registry.mapping.operations.operation import Apply, Example, Operation, need, options
from registry.mapping.values import is_missing

__all__ = ["OPERATIONS"]


def _index(argument: Any, _: Any) -> Apply:
    if not isinstance(argument, int) or isinstance(argument, bool):
        raise ValueError("takes a whole number")

    def apply(value: Any, record: dict[str, Any]) -> Any:
        try:
            return need(value, (list, str), "a list or text")[argument]
        except IndexError:
            message = f"no item {argument} among {len(value)}"
            raise MappingError(message, value=value) from None

    return apply


def _slice(argument: Any, _: Any) -> Apply:
    bounds = argument if isinstance(argument, list) else []
    if len(bounds) != 2 or not all(item is None or isinstance(item, int) for item in bounds):
        raise ValueError("takes [start, end], whole numbers or null")
    start, end = bounds
    return lambda value, record: need(value, (list, str), "a list or text")[start:end]


def _join(argument: Any, _: Any) -> Apply:
    if not isinstance(argument, str):
        raise ValueError("takes the separator as text")

    def apply(value: Any, record: dict[str, Any]) -> str:
        items = need(value, list, "a list of texts")
        return argument.join(need(item, str, "a list of texts") for item in items)

    return apply


def _drop_null(argument: Any, _: Any) -> Apply:
    blank = options(argument, blank=False)["blank"]

    def is_dropped(item: Any) -> bool:
        return is_missing(item) or (blank and isinstance(item, str) and not item.strip())

    def apply(value: Any, record: dict[str, Any]) -> list[Any]:
        return [item for item in need(value, list, "a list") if not is_dropped(item)]

    return apply


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
        "drop_null",
        "Leave nulls out of a list; {blank: true} leaves out blank texts too.",
        _drop_null,
        Example({"drop_null": {"blank": True}}, ["Paris", None, ""], ["Paris"]),
    ),
)
