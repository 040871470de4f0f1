"""Operations that evaluate expressions for each item of a list, and that pair up lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from registry.errors import MappingError, shorten
from registry.manifest.expressions import parse_operations
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
from registry.mapping.row import Row

__all__ = ["OPERATIONS"]

# The columns that `explode` adds, so that an item has the same name in both.
_NAMES = {"item": "item", "index": "index"}


@dataclass(frozen=True)
class _ItemScope:
    """The columns that expressions of an item read besides those of the record."""

    item: str
    index: str

    def rows(self, items: list[Any], row: Row) -> Iterator[Row]:
        """Yield a row for each item; it is only valid until the next one."""
        # `item.x` must be the item's, even if the record has a column of exactly that name.
        hidden = (f"{self.item}.", f"{self.index}.")
        record = {name: row.record[name] for name in row.record if not name.startswith(hidden)}
        for index, item in enumerate(items):
            record[self.item], record[self.index] = item, index
            yield Row(record, row.number, row.boundary)


def _scope(chosen: dict[str, Any]) -> _ItemScope:
    for key in _NAMES:
        if not isinstance(chosen[key], str) or not chosen[key] or "." in chosen[key]:
            raise ValueError(f"`{key}` is the name of a column, a string without dots")
    if chosen["item"] == chosen["index"]:
        raise ValueError("`item` and `index` need different names")
    return _ItemScope(chosen["item"], chosen["index"])


def _own_columns(argument: Any) -> tuple[str, ...]:
    """Return the columns that the argument of `each` or `dict` adds to the record."""
    return (
        tuple({**_NAMES, **argument}[key] for key in _NAMES) if isinstance(argument, dict) else ()
    )


def _each(argument: Any, compiler: Compiler) -> Apply:
    if not isinstance(argument, dict):
        step = compiler.steps(parse_operations(as_list(argument)))
        return lambda value, row: _each_value(
            lambda item: [step(item, row)], expect_type(value, list, "a list")
        )
    chosen = options(argument, where=None, to=None, **_NAMES)
    if chosen["where"] is None and chosen["to"] is None:
        raise ValueError("takes a list of operations, or a mapping with `where`, `to` or both")
    scope = _scope(chosen)
    holds = None if chosen["where"] is None else compiler.row_condition(chosen["where"])
    to = compiler.required(scope.item if chosen["to"] is None else chosen["to"])

    def apply(value: Any, row: Row) -> list[Any]:
        rows = scope.rows(expect_type(value, list, "a list"), row)
        return _each_value(lambda inner: [to(inner)] if holds is None or holds(inner) else [], rows)

    return apply


def _each_value(values_of: Callable[[Any], list[Any]], items: Iterable[Any]) -> list[Any]:
    """Return the values of all items; an error names the item."""
    values: list[Any] = []
    for index, item in enumerate(items):
        try:
            values += values_of(item)
        except MappingError as error:
            raise error.in_item(index) from error.__cause__
    return values


def _each_expressions(argument: Any) -> list[Any]:
    if not isinstance(argument, dict):
        return []
    to, where = argument.get("to"), argument.get("where")
    to = {"const": None} if to is None else to
    return [to if where is None else {"if": where, "then": to}]


def _dict(argument: Any, compiler: Compiler) -> Apply:
    chosen = options(argument, key=None, value=None, **_NAMES)
    if chosen["value"] is None:
        raise ValueError("takes a mapping with `value`, and `key` unless the item is the key")
    scope = _scope(chosen)
    key_of = compiler.required(scope.item if chosen["key"] is None else chosen["key"])
    value_of = compiler.required(chosen["value"])

    def apply(value: Any, row: Row) -> dict[str, Any]:
        rows = scope.rows(expect_type(value, list, "a list"), row)
        return _unique_keys(
            _each_value(lambda inner: [(to_str(key_of(inner)), value_of(inner))], rows)
        )

    return apply


def _unique_keys(entries: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return entries as a dict; of two values for a key, Python would keep the last one."""
    made: dict[str, Any] = {}
    for key, value in entries:
        if key in made and not equal(made[key], value):
            shown = f"{shorten(made[key])} and {shorten(value)}"
            raise MappingError(f"the key {key!r} has two values, {shown}")
        made[key] = value
    return made


def _zip(value: Any, row: Row) -> list[Any]:
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
        no_argument(_zip),
        OperationExample(
            "zip",
            {"text": ["red", "blue"], "label": ["A", "B"]},
            [{"text": "red", "label": "A"}, {"text": "blue", "label": "B"}],
        ),
    ),
)
