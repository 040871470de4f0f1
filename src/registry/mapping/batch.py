"""A batch: records whose columns expressions read as lists of values, of a size that has limits.

Without these, few words of a manifest could fill any memory with the strings that they make.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, repeat
from types import NoneType
from typing import Any

from registry.base.digest import levels
from registry.boundary.boundary import MAX_TEXT, Boundary
from registry.decode.frame import MISSING, NotColumnarError
from registry.errors import MappingError
from registry.mapping.row import Row, get_columns, no_column

__all__ = [
    "Batch",
    "Records",
    "are_short",
    "check_size",
    "in_parts",
    "join",
    "sample_size",
    "size_of",
    "sizes_of",
]

_MOST_BYTES = 1 << 28
"""Bytes of the values of one expression, beyond which records are mapped one by one."""
_FEW = 64
"""Values on which a heavy operation works between two looks at their size and the clock."""
_MOST_SECONDS = 10.0
"""Time for a heavy operation in a batch. One by one, the limit of the build is asked each time."""
_FLAT = frozenset({str, list, dict})
_PLAIN = _FLAT | {int, float, bool, NoneType}
_MOST_FLAT = 1 << 20
"""Items of lists and dicts that are looked at together; shared lists may have any number."""


class Batch(ABC):
    """Records, and what the expressions of a mapping have made of them."""

    def __init__(
        self, count: int, boundary: Boundary, *, size: int | None = None, is_alone: bool = False
    ) -> None:
        self.count = count
        """Number of records."""
        self.boundary = boundary
        """Which files operations may read."""
        self.size = size
        """At most how many bytes the records have; None if it is unknown."""
        self.is_alone = is_alone
        """Whether it is one record, or a part of one: its error is the one that users get."""
        self.made: dict[str, list[Any]] = {}
        """Values of expressions that a mapping has twice."""
        self._kinds: dict[str, set[type]] = {}

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """Names of the columns."""

    @property
    @abstractmethod
    def row_numbers(self) -> list[int]:
        """Number of each record in its source, from 1."""

    @abstractmethod
    def values(self, name: str) -> list[Any]:
        """Return what `get_column` returns for each record; MISSING without the column."""

    @abstractmethod
    def column_values(self, name: str) -> list[Any]:
        """Return the values of the column of exactly this name, which is no path."""

    @abstractmethod
    def records(self) -> list[dict[str, Any]]:
        """Return new dicts of all columns, in the order of the file."""

    def kinds(self, name: str) -> set[type]:
        """Return the types of the values of a column or path."""
        found = self._kinds.get(name)
        if found is None:
            found = self._kinds[name] = set(map(type, self.values(name)))
        return found

    def take(self, places: Sequence[int]) -> Batch:
        """Return the records at some places."""
        return self if len(places) == self.count else _Part(self, places)

    def of_items(self, lists: Sequence[Sequence[Any]], names: tuple[str, str] | None) -> Batch:
        """Return a record for each item of a list per record.

        Args:
            lists: The list of each record.
            names: Columns of the new records for the item and its index; None for none.
        """
        lengths = list(map(len, lists))
        places = list(chain.from_iterable(map(repeat, range(len(lengths)), lengths)))
        if names is None:
            return _Part(self, places)
        indices = list(chain.from_iterable(map(range, lengths)))
        return _Part(self, places, dict(zip(names, (list(chain(*lists)), indices), strict=True)))

    def no_column(self, name: str) -> MappingError:
        """Return the error for a missing column."""
        return no_column(name, self.names)

    def check_size(self, values: Sequence[Any]) -> None:
        """Raise a NotColumnarError for values that are too large to have them all at a time."""
        # The one record has a limit of its own, with an error that names it.
        if not self.is_alone and sizes_of(values) > _MOST_BYTES:
            raise NotColumnarError("values that are too large to map many at a time")


class Records(Batch):
    """Records as dicts."""

    def __init__(
        self, records: Sequence[Mapping[str, Any]], numbers: Sequence[int], boundary: Boundary
    ) -> None:
        super().__init__(len(records), boundary, is_alone=len(records) == 1)
        self._records = [one if type(one) is dict else dict(one) for one in records]
        self._numbers = numbers

    @classmethod
    def of(cls, row: Row) -> Records:
        """Return the batch of one record."""
        return cls([row.record], [row.number], row.boundary)

    @property
    def names(self) -> list[str]:
        """Names of the columns that any record has."""
        return list(dict.fromkeys(chain.from_iterable(self._records)))

    @property
    def row_numbers(self) -> list[int]:
        """Number of each record in its source, from 1."""
        return list(self._numbers)

    def values(self, name: str) -> list[Any]:
        """Return what `get_column` returns for each record; MISSING without the column."""
        return get_columns(self._records, name)

    def column_values(self, name: str) -> list[Any]:
        """Return the values of the column of exactly this name, which is no path."""
        return [record.get(name, MISSING) for record in self._records]

    def records(self) -> list[dict[str, Any]]:
        """Return new dicts of all columns, in the order of the file."""
        return list(map(dict, self._records))


class _Part(Batch):
    """Some records of a batch, or one for each item of their lists."""

    def __init__(
        self, whole: Batch, places: Sequence[int], own: Mapping[str, list[Any]] | None = None
    ) -> None:
        # Without a size: an item may be any part of a record, or have all of its columns.
        super().__init__(len(places), whole.boundary, is_alone=whole.is_alone)
        self._whole = whole
        self._places = places
        self._own = own or {}
        self._values: dict[str, list[Any]] = {}

    @property
    def names(self) -> list[str]:
        """Names of the columns of the whole, and of those for items."""
        seen = [name for name in self._whole.names if name.partition(".")[0] not in self._own]
        return [*seen, *self._own]

    @property
    def row_numbers(self) -> list[int]:
        """Number of the record that each one is, or is made of."""
        return self._at_places(self._whole.row_numbers)

    def values(self, name: str) -> list[Any]:
        """Return what `get_column` returns for each record; MISSING without the column."""
        head, dot, rest = name.partition(".")
        if head in self._own:
            # `item.x` is the item's, even if the record has a column of exactly that name.
            return get_columns(self._own[head], rest) if dot else self._own[head]
        if name not in self._values:
            self._values[name] = self._at_places(self._whole.values(name))
        return self._values[name]

    def column_values(self, name: str) -> list[Any]:
        """Return the values of the column of exactly this name, which is no path."""
        if name in self._own:
            return self._own[name]
        return self._at_places(self._whole.column_values(name))

    def records(self) -> list[dict[str, Any]]:
        """Return new dicts of all columns, in the order of the file."""
        return [dict(one) for one in self._at_places(self._whole.records())]

    def _at_places(self, values: list[Any]) -> list[Any]:
        return list(map(values.__getitem__, self._places))


def in_parts(batch: Batch, count: int, part: Callable[[slice], list[Any]]) -> list[Any]:
    """Return values that may be large or take long, which are made a few at a time.

    Args:
        batch: The records that they are made of.
        count: Number of values.
        part: Returns some of them.

    Raises:
        NotColumnarError: they are too large together, or take too long; a record alone has limits
            of its own, and an error that names it.
    """
    if batch.is_alone:
        return part(slice(None))
    found: list[Any] = []
    size, end = 0, time.monotonic() + _MOST_SECONDS
    for start in range(0, count, _FEW):
        few = part(slice(start, start + _FEW))
        size += sizes_of(few)
        if size > _MOST_BYTES:
            raise NotColumnarError("values that are too large to map many at a time")
        if time.monotonic() > end:
            raise NotColumnarError("values that take too long to map many at a time")
        found += few
    return found


def join(separator: str, parts: Iterable[str]) -> str:
    """Return `separator.join(parts)`; a MappingError if it is too long."""
    found = list(parts)
    size = sum(map(len, found)) + len(separator) * len(found)
    if size > MAX_TEXT:
        check_size(size)
    return separator.join(found)


def are_short(columns: Sequence[Sequence[str]]) -> bool:
    """Return whether all strings of columns, joined to one, would not be too long."""
    return sum(sum(map(len, column)) for column in columns) <= MAX_TEXT


def check_size(size: int) -> None:
    """Raise a MappingError for a string that would be too long."""
    if size > MAX_TEXT:
        raise MappingError(
            f"gives a string of more than {MAX_TEXT:,} characters (shorten the values, or leave"
            " out what repeats them)"
        )


def size_of(value: Any) -> int:
    """Return about how many bytes a value takes when it is written; never less than a fifth."""
    kind = type(value)
    if kind is str:
        return len(value)
    if kind is dict:
        return sum(len(str(key)) + size_of(item) for key, item in value.items()) + 8
    if kind is list or kind is tuple:
        return sum(map(size_of, value)) + 8
    if isinstance(value, bytes):
        return len(value)
    fields = getattr(value, "__dict__", None)  # a message, or a part of one
    return size_of(fields) if fields else 8


def sizes_of(values: Sequence[Any]) -> int:
    """Return the sum of what `size_of` returns for values, faster."""
    size = 0
    for items, kinds, lists, dicts in levels(values):
        if kinds == {str}:
            return size + sum(map(len, items))
        if sum(map(len, lists)) + sum(map(len, dicts)) > _MOST_FLAT:
            return size + sum(map(size_of, items))
        texts = [item for item in items if type(item) is str] if str in kinds else ()
        size += sum(map(len, texts)) + 8 * (len(lists) + len(dicts))
        size += sum(map(len, map(str, chain.from_iterable(dicts))))
        if kinds <= _PLAIN:
            size += 8 * (len(items) - len(texts) - len(lists) - len(dicts))
        else:
            size += sum(size_of(item) for item in items if type(item) not in _FLAT)
    return size


def sample_size(fields: Mapping[str, Any]) -> int:
    """Return about how many bytes the fields of a sample take, as `size_of` counts them."""
    # Without a call for each str, as this runs for every sample: most fields are None or a str.
    size = 0
    for value in fields.values():
        kind = type(value)
        if value is None:
            continue
        if kind is str:
            size += len(value)
        elif kind is list:
            size += 8
            for item in value:
                size += len(item) if type(item) is str else size_of(item)
        elif kind is dict:
            size += 8
            for key, item in value.items():
                size += len(str(key)) + (len(item) if type(item) is str else size_of(item))
        else:
            size += size_of(value)
    return size
