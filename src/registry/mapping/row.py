"""A row, the input of expressions: a record and its number."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from operator import contains, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from registry.boundary.boundary import Boundary
from registry.decode.exact_json import InexactError, parse_exact
from registry.decode.frame import MISSING
from registry.errors import MappingError, near_or_known

if TYPE_CHECKING:
    from registry.manifest.models import Explode

__all__ = [
    "MISSING",
    "Row",
    "column_hint",
    "get_column",
    "get_columns",
    "get_list",
    "no_column",
    "or_none",
    "path_splits",
]


class Row(NamedTuple):
    """One record of a source."""

    record: dict[str, Any]
    """Column → value."""
    number: int = 1
    """Number of the record in its source, from 1."""
    boundary: Boundary = Boundary()
    """Which files operations may read."""


def get_column(record: Mapping[str, Any], name: str) -> Any:
    """Return the column of exactly that name, else the value at a dotted path, else MISSING."""
    if name in record:
        return record[name]
    for head, rest in path_splits(name):
        if head in record:
            inner = record[head]
            found = get_column(inner, rest) if isinstance(inner, dict) else MISSING
            if found is not MISSING:
                return found
    return MISSING


def get_columns(records: Sequence[Any], name: str) -> list[Any]:
    """Return what `get_column` returns of each record; MISSING of what is not a dict."""
    head, dot, rest = name.partition(".")
    if not dot:
        return _get_keys(records, name)
    found = get_columns(_get_keys(records, head), rest)
    # A key that contains a dot may be meant, by its exact name or by that of a longer prefix.
    dotted = {name, *(prefix for prefix, _ in path_splits(name) if prefix != head)}
    if set(map(type, records)) == {dict} and not any(
        any(map(contains, records, repeat(key))) for key in dotted
    ):
        return found
    return [
        get_column(record, name)
        if type(record) is dict and not dotted.isdisjoint(record)
        else value
        for record, value in zip(records, found, strict=True)
    ]


def _get_keys(records: Sequence[Any], name: str) -> list[Any]:
    if set(map(type, records)) == {dict}:
        try:
            return list(map(itemgetter(name), records))
        except KeyError:
            pass  # a record lacks it
    return [record.get(name, MISSING) if type(record) is dict else MISSING for record in records]


def path_splits(name: str) -> Iterator[tuple[str, str]]:
    """Yield each prefix of a dotted path, and the rest: the name of a column may contain dots."""
    head, dot, rest = name.partition(".")
    while dot:
        yield head, rest
        more, dot, rest = rest.partition(".")
        head = f"{head}.{more}"


def get_list(record: Mapping[str, Any], explode: Explode) -> Any:
    """Return what the column of `explode` has: a list, or anything else that is not one.

    Raises:
        MappingError: it is JSON in a string that can't be read exactly.
    """
    items = get_column(dict(record), explode.column)
    if explode.parse and isinstance(items, str):
        try:
            return parse_exact(items)
        except InexactError as error:
            raise MappingError(f"can't be read exactly: {error}", value=items) from error
        except (ValueError, RecursionError):
            pass  # the string, which is no list
    return items


_ITEM = re.compile(r"(?P<list>.+?)(\[|\.)(?P<index>\d+)\]?(\.(?P<key>[\w-]+))?")
"""A path into a list as other languages write it, such as `turns[0].text`."""


def or_none(value: Any) -> Any:
    """Return a value; of a missing one null."""
    return None if value is MISSING else value


def no_column(name: str, columns: Iterable[str]) -> MappingError:
    """Return the error for a missing column."""
    return MappingError(f"no column '{name}' ({column_hint(name, columns)})")


def column_hint(name: str, columns: Iterable[str]) -> str:
    """Return the closest names to that of a missing column, else the first columns."""
    names = list(map(str, columns))
    if "{" in name and "}" in name:
        return f"a text with columns in it is a template: `{{template: {json.dumps(name)}}}`"
    if (item := _ITEM.fullmatch(name)) and item["list"] in names:
        key = f", {{index: {{const: {item['key']}}}}}" if item["key"] else ""
        step = f"{{index: {item['index']}}}{key}"
        return f"an item of a list is `{{from: {item['list']}, do: [{step}]}}`"
    if not names:
        return "there are none"
    return near_or_known(name, names, "columns")
