"""Operations that evaluate expressions for each item of a list, and that pair up lists."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from registry.errors import MappingError, shorten
from registry.manifest.expressions import parse_operations
from registry.mapping.conditions import equal
from registry.mapping.operations.base import (
    BatchStep,
    Compiler,
    Operation,
    OperationExample,
    Step,
    as_list,
    expect_type,
    no_argument,
    options,
    to_str,
)

if TYPE_CHECKING:
    from registry.mapping.batch import Batch

__all__ = ["OPERATIONS"]

# The columns that `explode` adds, so that an item has the same name in both.
_NAMES = {"item": "item", "index": "index"}


def _scope(chosen: dict[str, Any]) -> tuple[str, str]:
    """Return the names of the columns for the item and its index."""
    for key in _NAMES:
        if not isinstance(chosen[key], str) or not chosen[key] or "." in chosen[key]:
            raise ValueError(f"`{key}` is the name of a column, a string without dots")
    if chosen["item"] == chosen["index"]:
        raise ValueError("`item` and `index` need different names")
    return chosen["item"], chosen["index"]


def _own_columns(argument: Any) -> tuple[str, ...]:
    """Return the columns that the argument of `each` or `dict` adds to the record."""
    return (
        tuple({**_NAMES, **argument}[key] for key in _NAMES) if isinstance(argument, dict) else ()
    )


def _each(argument: Any, compiler: Compiler) -> BatchStep:
    if not isinstance(argument, dict):
        steps = compiler.steps(parse_operations(as_list(argument)))
        # The items are values of a pipe here, not columns that its expressions read.
        return _by_item(lambda batch, items: [[one] for one in steps(batch, items)], None)
    chosen = options(argument, where=None, to=None, **_NAMES)
    if chosen["where"] is None and chosen["to"] is None:
        raise ValueError("takes a list of operations, or a mapping with `where`, `to` or both")
    names = _scope(chosen)
    holds = None if chosen["where"] is None else compiler.row_condition(chosen["where"])
    to = compiler.required(names[0] if chosen["to"] is None else chosen["to"])

    def values_of(batch: Batch, items: list[Any]) -> list[list[Any]]:
        if holds is None:
            return [[value] for value in to(batch)]
        mask = holds(batch)
        found = iter(to(batch.take([place for place, kept in enumerate(mask) if kept])))
        return [[next(found)] if kept else [] for kept in mask]

    return _by_item(values_of, names)


def _by_item(
    values_of: Callable[[Batch, list[Any]], list[list[Any]]], names: tuple[str, str] | None
) -> BatchStep:
    """Return the step that evaluates all items of the lists of a batch together.

    Args:
        values_of: Items, as a batch and as a list → the values that each of them gives.
        names: Columns that the batch has for the item and its index; None for no such columns.
    """

    def apply(batch: Batch, values: list[Any]) -> list[Any]:
        lists = [expect_type(value, list, "a list") for value in values]
        inner, items = batch.of_items(lists, names), list(chain.from_iterable(lists))
        try:
            found = iter(values_of(inner, items))
        except MappingError as error:
            if len(lists) == 1:
                raise _error_of_item(inner, items, values_of) from error.__cause__
            raise  # whoever maps records one by one gets the error of one list
        made = [list(chain.from_iterable(islice(found, len(one)))) for one in lists]
        batch.check_size(made)  # an expression may repeat a column for each item
        return made

    return apply


def _error_of_item(
    batch: Batch, items: list[Any], values_of: Callable[[Batch, list[Any]], list[list[Any]]]
) -> MappingError:
    """Return the error of the first item that has one, which the message names."""
    for index, item in enumerate(items):
        try:
            values_of(batch.take([index]), [item])
        except MappingError as error:
            found = error.in_item(index)
            found.__cause__ = error.__cause__
            return found
    raise AssertionError("an item alone gives what it gives among others")


def _each_expressions(argument: Any) -> list[Any]:
    if not isinstance(argument, dict):
        return []
    to, where = argument.get("to"), argument.get("where")
    to = {"const": None} if to is None else to
    return [to if where is None else {"if": where, "then": to}]


def _dict(argument: Any, compiler: Compiler) -> BatchStep:
    chosen = options(argument, key=None, value=None, **_NAMES)
    if chosen["value"] is None:
        raise ValueError("takes a mapping with `value`, and `key` unless the item is the key")
    names = _scope(chosen)
    key_of = compiler.required(names[0] if chosen["key"] is None else chosen["key"])
    value_of = compiler.required(chosen["value"])

    def entries_of(batch: Batch, items: list[Any]) -> list[list[Any]]:
        keys = list(map(to_str, key_of(batch)))  # first, as its error is
        return [[entry] for entry in zip(keys, value_of(batch), strict=True)]

    entries = _by_item(entries_of, names)
    return lambda batch, values: list(map(_unique_keys, entries(batch, values)))


def _unique_keys(entries: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return entries as a dict; of two values for a key, Python would keep the last one."""
    made: dict[str, Any] = {}
    for key, value in entries:
        if key in made and not equal(made[key], value):
            shown = f"{shorten(made[key])} and {shorten(value)}"
            raise MappingError(f"the key {key!r} has two values, {shown}")
        made[key] = value
    return made


def _zip(value: Any) -> list[Any]:
    expect_type(value, (dict, list), "a dict or list of lists")
    lists = value if isinstance(value, dict) else dict(enumerate(value))
    for items in lists.values():
        expect_type(items, list, "a dict or list of lists")
    if len({len(items) for items in lists.values()}) > 1:
        lengths = ", ".join(f"{name}: {len(items)}" for name, items in lists.items())
        raise MappingError(f"the lists differ in length ({lengths})")
    groups = zip(*lists.values(), strict=True)
    return [
        dict(zip(lists, group, strict=True)) if isinstance(value, dict) else list(group)
        for group in groups
    ]


OPERATIONS = (
    Operation(
        "each",
        "Apply operations to each item of a list. With `where` and `to`: the items that meet a "
        "condition, as an expression; both read the record, `item`, and `index` from 0.",
        _each,
        OperationExample(
            {
                "each": {
                    "where": {"value": "item.label", "not_equals": "Z"},
                    "to": {"template": "{name}: {item.text}"},
                }
            },
            [{"label": "A", "text": "red"}, {"label": "Z", "text": "none"}],
            ["Ann: red"],
            {"name": "Ann"},
        ),
        expressions=_each_expressions,
        steps=lambda argument: [] if isinstance(argument, dict) else as_list(argument),
        own_columns=_own_columns,
    ),
    Operation(
        "dict",
        "A dict with an entry for each item of a list; `key` (by default the item) and `value` "
        "are expressions that read the record, `item`, and `index` from 0.",
        _dict,
        OperationExample(
            {"dict": {"value": {"from": "scores", "do": [{"index": "index"}]}}},
            ["red", "blue"],
            {"red": 1, "blue": 0},
            {"scores": [1, 0]},
        ),
        expressions=lambda argument: [
            argument[key] for key in ("key", "value") if argument.get(key) is not None
        ],
        own_columns=_own_columns,
    ),
    Operation(
        "zip",
        "A list of dicts from a dict of lists of equal length; a list of lists is transposed.",
        no_argument(Step(_zip)),
        OperationExample(
            "zip",
            {"text": ["red", "blue"], "label": ["A", "B"]},
            [{"text": "red", "label": "A"}, {"text": "blue", "label": "B"}],
        ),
    ),
)
