"""What happens to records before they are mapped.

The order is fixed: decode → columns → join → explode → where → map → duplicates → sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from registry.errors import DecodeError, MappingError
from registry.expressions import parse_condition
from registry.mapping.condition import Holds, compile_condition
from registry.mapping.expression import compile_expression
from registry.mapping.row import MISSING, Row, look_up, no_column

if TYPE_CHECKING:
    from registry.sample import DatasetRecord
    from registry.spec import DatasetSpec, Explode, Join

__all__ = ["Numbered", "prepare", "with_columns"]

Numbered = tuple[int, "DatasetRecord"]
"""A record and its number in the source, from 1."""


def with_columns(record: DatasetRecord, columns: Mapping[str, Any]) -> DatasetRecord:
    """Return a record with the constant columns of its source."""
    return {**record, **columns} if columns else record


def prepare(
    rows: Iterator[Numbered], spec: DatasetSpec, side: Iterable[DatasetRecord]
) -> Iterator[Numbered]:
    """Apply join, explode and where to the records of a dataset.

    Raises:
        MappingError: a key, list or column is not there; it names the record.
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


def _join(
    rows: Iterator[Numbered], join: Join, side: Iterable[DatasetRecord]
) -> Iterator[Numbered]:
    by_key: dict[Any, DatasetRecord] = {}
    for record in side:
        key = _key(record, join.key or join.on, 0)
        if key in by_key:
            raise DecodeError(f"the key {key!r} stands twice in the side file", file=join.into)
        by_key[key] = record
    for number, record in rows:
        key = _key(record, join.on, number)
        if key not in by_key and join.missing == "error":
            message = "the side file has no record with this key (missing: null allows it)"
            raise MappingError(message, record=number, field="join", value=key)
        yield number, {**record, join.into: by_key.get(key)}


def _key(record: DatasetRecord, name: str, number: int) -> Any:
    key = look_up(record, name)
    if key is MISSING:
        raise no_column(name, record).at(record=number or None, field="join")
    if isinstance(key, list | dict):
        message = "a key must be text or a number"
        raise MappingError(message, record=number or None, field="join", value=key)
    return key


def _explode(rows: Iterator[Numbered], explode: Explode) -> Iterator[Numbered]:
    for number, record in rows:
        items = look_up(record, explode.column)
        if items is MISSING:
            raise no_column(explode.column, record).at(record=number, field="explode")
        if not isinstance(items, list):
            message = f"the column '{explode.column}' must be a list"
            raise MappingError(message, record=number, field="explode", value=items)
        for index, item in enumerate(items):
            yield number, {**record, explode.item: item, explode.index: index}


def _where(rows: Iterator[Numbered], holds: Holds) -> Iterator[Numbered]:
    for number, record in rows:
        try:
            keep = holds(Row(record, number))
        except MappingError as error:
            raise error.at(record=number, field="where") from error.__cause__
        if keep:
            yield number, record
