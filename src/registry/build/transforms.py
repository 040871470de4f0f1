"""What happens to records before they are mapped.

The order is fixed: decode → columns → join → explode → where → map → duplicates → sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from registry.errors import DecodeError, MappingError
from registry.manifest.expressions import parse_condition
from registry.mapping.conditions import RowPredicate, compile_condition, equal
from registry.mapping.evaluate import compile_expression
from registry.mapping.row import MISSING, Row, get_column, no_column

if TYPE_CHECKING:
    from registry.manifest.models import DatasetSpec, Explode, Join
    from registry.samples.sample import DatasetRecord

__all__ = ["LookupRow", "Numbered", "prepare", "with_columns"]

Numbered = tuple[int, "DatasetRecord"]
"""A record and its number in the source, from 1."""


class LookupRow(NamedTuple):
    """A record of the side file of `join`."""

    file: str
    """Location of the file, without secrets."""
    number: int
    """Number of the record in the file, from 1."""
    record: DatasetRecord

    def fault(self, message: str) -> DecodeError:
        """Return the error of a record that can't be joined."""
        return DecodeError(f"record {self.number} can't be joined: {message}", file=self.file)


def with_columns(record: DatasetRecord, columns: Mapping[str, Any]) -> DatasetRecord:
    """Return a record with the constant columns of its source."""
    return {**record, **columns} if columns else record


def prepare(
    rows: Iterator[Numbered], spec: DatasetSpec, side: Iterable[LookupRow]
) -> Iterator[Numbered]:
    """Apply join, explode and where to the records of a dataset.

    Raises:
        MappingError: a key, list or column is not there; it names the record.
        DecodeError: a record of the side file has no key, or that of another one.
        ValueError: the condition does not compile.
    """
    if spec.join is not None:
        rows = _join(rows, spec.join, side)
    if spec.explode is not None:
        rows = _explode(rows, spec.explode)
    if spec.where is not None:
        holds = compile_condition(parse_condition(spec.where), compile_expression)
        rows = _where(rows, holds)
    return rows


def _join(rows: Iterator[Numbered], join: Join, side: Iterable[LookupRow]) -> Iterator[Numbered]:
    by_key = _by_key(side, join.key or join.on)
    for number, record in rows:
        try:
            key = _key(record, join.on)
        except MappingError as error:
            raise error.at(record=number, field="join") from error.__cause__
        found = by_key.get(_told_apart(key))
        if found is None and join.missing == "error":
            message = "the side file has no record with this key (missing: null allows it)"
            raise MappingError(message, record=number, field="join", value=key)
        yield number, {**record, join.into: None if found is None else found.record}


def _by_key(side: Iterable[LookupRow], name: str) -> dict[Any, LookupRow]:
    by_key: dict[Any, LookupRow] = {}
    for one in side:
        try:
            key = _key(one.record, name)
        except MappingError as error:
            raise one.fault(str(error)) from error
        other = by_key.setdefault(_told_apart(key), one)
        if other is not one:
            place = "" if other.file == one.file else f" of {other.file}"
            raise one.fault(f"the key {key!r} is that of record {other.number}{place} already")
    return by_key


def _key(record: DatasetRecord, name: str) -> Any:
    key = get_column(record, name)
    if key is MISSING:
        raise no_column(name, record)
    if isinstance(key, list | dict):
        raise MappingError("a key must be text or a number", value=key)
    return key


def _told_apart(key: Any) -> Any:
    """Return what dicts tell apart as `equal` does: true is not 1, and NaN is not itself."""
    return (isinstance(key, bool), key) if equal(key, key) else object()


def _explode(rows: Iterator[Numbered], explode: Explode) -> Iterator[Numbered]:
    for number, record in rows:
        items = get_column(record, explode.column)
        if items is MISSING:
            raise no_column(explode.column, record).at(record=number, field="explode")
        if not isinstance(items, list):
            message = f"the column '{explode.column}' must be a list"
            raise MappingError(message, record=number, field="explode", value=items)
        for index, item in enumerate(items):
            yield number, {**record, explode.item: item, explode.index: index}


def _where(rows: Iterator[Numbered], holds: RowPredicate) -> Iterator[Numbered]:
    for number, record in rows:
        try:
            keep = holds(Row(record, number))
        except MappingError as error:
            raise error.at(record=number, field="where") from error.__cause__
        if keep:
            yield number, record
