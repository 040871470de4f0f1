"""Transforms of records before mapping: join, explode and where.

The order is fixed: decode → columns → join → explode → where → map → duplicates → sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import count, islice
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from registry.base.process_state import cached_property
from registry.errors import DecodeError, MappingError, types_and_values
from registry.manifest.expressions import parse_condition
from registry.mapping.conditions import key_of
from registry.mapping.evaluate import compile_condition
from registry.mapping.missing_columns import UnseenColumns
from registry.mapping.row import MISSING, Row, get_column, get_list, no_column

if TYPE_CHECKING:
    from registry.boundary.boundary import Boundary
    from registry.manifest.models import DatasetSpec, Explode, Join
    from registry.samples.sample import DatasetRecord

__all__ = ["Lookup", "LookupRow", "Numbered", "Transform", "compile_transforms", "with_columns"]

_SHOWN_KEYS = 3
"""Keys of each side that a message shows."""

Numbered = tuple[int, "DatasetRecord"]
"""A record and its number in the source, from 1."""


class Transform(Protocol):
    """Changes, adds or drops records; a new record has the number of the one it came from."""

    def __call__(
        self, rows: Iterator[Numbered], unseen: UnseenColumns | None = None
    ) -> Iterator[Numbered]:
        """Transform records; columns that they have before `where` are removed from `unseen`."""


class LookupRow(NamedTuple):
    """A record of the lookup table of `join`."""

    file: str
    """Location of the file, without secrets."""
    number: int
    """Number of the record in the file, from 1."""
    record: DatasetRecord

    def error(self, message: str) -> DecodeError:
        """Return the error for a record that can't be joined."""
        return DecodeError(f"record {self.number} can't be joined: {message}", file=self.file)


class Lookup:
    """The lookup table of `join` during one build, and how often it was of use."""

    def __init__(
        self, join: Join, read: Callable[[], Iterable[LookupRow]], *, table: str = ""
    ) -> None:
        """Take what reads the table, called once, for the first record; and its name."""
        self.join = join
        self.name = f"the lookup table {table}".rstrip()
        self._read = read
        self.asked: list[Any] = []
        """Keys of the first records that have no row in the table."""
        self._used: set[Any] = set()
        """Keys of the rows that records have."""

    @cached_property
    def table(self) -> dict[Any, LookupRow]:
        """The rows by key.

        Raises:
            DecodeError: a row has no key, or the key of an earlier one.
        """
        return _index(self._read(), self.join)

    def row_of(self, key: Any) -> LookupRow | None:
        """Return the row with a key."""
        found = key_of(key)
        if (row := self.table.get(found)) is not None:
            self._used.add(found)
        elif len(self.asked) < _SHOWN_KEYS:
            self.asked.append(key)
        return row

    @property
    def is_of_use(self) -> bool:
        """Whether any record has a row in the table."""
        return bool(self._used)

    def unused(self) -> Iterator[tuple[Any, LookupRow]]:
        """Yield the rows that no record has, each with its key."""
        for key, row in self.table.items():
            if key not in self._used:
                yield key[1] if isinstance(key, tuple) else None, row

    @property
    def mismatch(self) -> str:
        """Both sides' keys in words: their types, and the first of each."""
        known = (key for key in self.table if isinstance(key, tuple))  # NaN equals no key
        keys = [key for _, key in islice(known, _SHOWN_KEYS)]
        own = self.join.key or self.join.on
        table = "the number of a row" if self.join.row_number is not None else f"'{own}'"
        key = "the number" if self.join.on is None else f"'{self.join.on}'"
        shown = (
            f"of {self.name} is {types_and_values(keys)}" if keys else f"of {self.name} has none"
        )
        return f"{key} of the records is {types_and_values(self.asked)}, {table} {shown}"


def with_columns(record: DatasetRecord, columns: Mapping[str, Any]) -> DatasetRecord:
    """Return a record with the constant columns of its source."""
    return {**record, **columns} if columns else record


def compile_transforms(spec: DatasetSpec, lookup: Lookup | None, boundary: Boundary) -> Transform:
    """Return join, explode and where as one function over records.

    Args:
        spec: The dataset.
        lookup: The lookup table of `join`, for a dataset that has one.
        boundary: Which files operations may read.

    The function raises:
        MappingError: a key, list or column is missing; the message has the record.
        DecodeError: a record of the lookup table has no key, or the key of an earlier one.

    Raises:
        ValueError: the condition does not compile.
    """
    transforms: list[Callable[[Iterator[Numbered]], Iterator[Numbered]]] = []
    if lookup is not None:
        places = count(lookup.join.row_number or 0)  # they go on in the next file
        transforms.append(lambda rows: _join(rows, lookup, places))
    transforms += [partial(_explode, explode=one, numbers=count()) for one in spec.explodes]
    holds = None
    if spec.where is not None:
        holds = compile_condition(parse_condition(spec.where))

    def transform(
        rows: Iterator[Numbered], unseen: UnseenColumns | None = None
    ) -> Iterator[Numbered]:
        for one in transforms:
            rows = one(rows)
        if unseen is not None and unseen.uses:
            rows = _watch(rows, unseen)
        return rows if holds is None else _where(rows, holds, boundary)

    return transform


def _join(rows: Iterator[Numbered], lookup: Lookup, places: Iterator[int]) -> Iterator[Numbered]:
    join = lookup.join
    for number, record in rows:
        try:
            key = next(places) if join.on is None else _key(record, join.on)
        except MappingError as error:
            raise error.at(record=number, field="join") from error.__cause__
        found = lookup.row_of(key)
        if found is None and join.missing == "error":
            message = f"{lookup.name} has no record with this key (`missing: null` allows it)"
            if not lookup.is_of_use:  # a whole table without a match is no gap in it
                message = f"{message}; {lookup.mismatch}"
            raise MappingError(message, record=number, field="join", value=key)
        yield number, {**record, join.into: None if found is None else found.record}


def _index(rows: Iterable[LookupRow], join: Join) -> dict[Any, LookupRow]:
    """Return the rows of a lookup table by key."""
    if join.row_number is not None:
        return {key_of(number): row for number, row in enumerate(rows, join.row_number)}
    by_key: dict[Any, LookupRow] = {}
    for row in rows:
        try:
            key = _key(row.record, join.key or join.on or "")
        except MappingError as error:
            raise row.error(str(error)) from error
        first = by_key.setdefault(key_of(key), row)
        if first is not row:
            place = "" if first.file == row.file else f" of {first.file}"
            raise row.error(f"record {first.number}{place} has the key {key!r} already")
    return by_key


def _key(record: DatasetRecord, name: str) -> Any:
    key = get_column(record, name)
    if key is MISSING:
        raise no_column(name, record)
    if isinstance(key, list | dict):
        raise MappingError("a key must be a string or a number", value=key)
    return key


def _explode(
    rows: Iterator[Numbered], explode: Explode, numbers: Iterator[int]
) -> Iterator[Numbered]:
    for number, record in rows:
        try:
            items = get_list(record, explode)
        except MappingError as error:
            raise error.at(record=number, field="explode") from error.__cause__
        if items is MISSING:
            raise no_column(explode.column, record).at(record=number, field="explode")
        if not isinstance(items, list):
            message = f"the column '{explode.column}' must be a list"
            raise MappingError(message, record=number, field="explode", value=items)
        for index, item in enumerate(items):
            exploded = {**record, explode.item: item, explode.index: index}
            if explode.number is not None:
                exploded[explode.number] = next(numbers)
            yield number, exploded


def _watch(rows: Iterator[Numbered], unseen: UnseenColumns) -> Iterator[Numbered]:
    for number, record in rows:
        unseen.see(record)
        yield number, record
        if not unseen.uses:  # nearly always after the first record
            break
    yield from rows


def _where(
    rows: Iterator[Numbered], holds: Callable[[Row], bool], boundary: Boundary
) -> Iterator[Numbered]:
    for number, record in rows:
        try:
            keep = holds(Row(record, number, boundary))
        except MappingError as error:
            raise error.at(record=number, field="where") from error.__cause__
        if keep:
            yield number, record
