"""Transforms of records before mapping: join, explode and where.

The order is fixed: decode → columns → join → explode → where → map → duplicates → sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from registry.errors import DecodeError, MappingError
from registry.manifest.expressions import parse_condition
from registry.mapping.conditions import equal
from registry.mapping.evaluation.evaluate import compile_condition
from registry.mapping.missing_columns import UnseenColumns
from registry.mapping.row import MISSING, Row, get_column, get_list, no_column

if TYPE_CHECKING:
    from registry.boundary.boundary import Boundary
    from registry.manifest.models import DatasetSpec, Explode, Join
    from registry.samples.sample import DatasetRecord

__all__ = ["LookupRow", "Numbered", "Transform", "compile_transforms", "with_columns"]

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


def with_columns(record: DatasetRecord, columns: Mapping[str, Any]) -> DatasetRecord:
    """Return a record with the constant columns of its source."""
    return {**record, **columns} if columns else record


def compile_transforms(
    spec: DatasetSpec, read_lookup: Callable[[], Iterable[LookupRow]], boundary: Boundary
) -> Transform:
    """Return join, explode and where as one function over records.

    Args:
        spec: The dataset.
        read_lookup: Reads the lookup table of `join`; called once, for the first record.
        boundary: Which files operations may read.

    The function raises:
        MappingError: a key, list or column is missing; the message has the record.
        DecodeError: a record of the lookup table has no key, or the key of an earlier one.

    Raises:
        ValueError: the condition does not compile.
    """
    transforms: list[Callable[[Iterator[Numbered]], Iterator[Numbered]]] = []
    if (join := spec.join) is not None:
        lookup = cache(lambda: _index(read_lookup(), join))
        transforms.append(lambda rows: _join(rows, join, lookup))
    if (explode := spec.explode) is not None:
        numbers = count()  # they go on in the next file
        transforms.append(lambda rows: _explode(rows, explode, numbers))
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


def _join(
    rows: Iterator[Numbered], join: Join, lookup: Callable[[], dict[Any, LookupRow]]
) -> Iterator[Numbered]:
    by_key = lookup()
    for number, record in rows:
        try:
            key = _key(record, join.on)
        except MappingError as error:
            raise error.at(record=number, field="join") from error.__cause__
        found = by_key.get(_hashable(key))
        if found is None and join.missing == "error":
            message = "the lookup table has no record with this key (`missing: null` allows it)"
            raise MappingError(message, record=number, field="join", value=key)
        yield number, {**record, join.into: None if found is None else found.record}


def _index(rows: Iterable[LookupRow], join: Join) -> dict[Any, LookupRow]:
    """Return the rows of a lookup table by key."""
    if join.row_number is not None:
        return {_hashable(number): row for number, row in enumerate(rows, join.row_number)}
    by_key: dict[Any, LookupRow] = {}
    for row in rows:
        try:
            key = _key(row.record, join.key or join.on)
        except MappingError as error:
            raise row.error(str(error)) from error
        first = by_key.setdefault(_hashable(key), row)
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


def _hashable(key: Any) -> Any:
    """Return a dict key that compares as `equal` does: True differs from 1, NaN from itself."""
    return (isinstance(key, bool), key) if equal(key, key) else object()


def _explode(
    rows: Iterator[Numbered], explode: Explode, numbers: Iterator[int]
) -> Iterator[Numbered]:
    for number, record in rows:
        items = get_list(record, explode)
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
