"""What happens to records before they are mapped, and to samples after.

The order is fixed: decode → columns → join → explode → where → map → duplicates → sample.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from registry.errors import DecodeError, MappingError
from registry.expressions import parse_condition
from registry.mapping.condition import Holds, compile_condition
from registry.mapping.expression import compile_expression
from registry.mapping.row import MISSING, Row, look_up, no_column

if TYPE_CHECKING:
    from registry.sample import DatasetRecord, Sample
    from registry.spec import DatasetSpec, Explode, Join, SampleOf

__all__ = ["DuplicateRule", "prepare", "select", "unique", "with_columns"]

Numbered = tuple[int, "DatasetRecord"]
"""A record and its number in the source, from 1."""

DuplicateRule = str
"""error, drop, suffix, or keep."""


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


def unique(
    samples: Iterable[tuple[int, Sample]], rule: DuplicateRule, *, dataset: str
) -> Iterator[tuple[int, Sample]]:
    """Yield samples with ids that are their own; the rule says what to do with the others.

    Samples come with the numbers of the records that they are made of.
    """
    seen: dict[str | int, int] = {}
    for number, sample in samples:
        if sample.id is None or rule == "keep":
            yield number, sample
            continue
        if sample.id in seen:
            if rule == "drop":
                continue
            if rule == "error":
                raise _duplicate(sample, number, seen[sample.id], dataset)
            sample.id = _free_id(sample.id, seen)
        seen[sample.id] = number
        yield number, sample


def _duplicate(sample: Sample, number: int, first: int, dataset: str) -> MappingError:
    message = (
        f"the id is that of record {first} already"
        " (`on_duplicate: drop` keeps the first, `suffix` numbers them)"
    )
    return MappingError(message, dataset=dataset, record=number, field="id", value=sample.id)


def _free_id(taken: str | int, seen: Mapping[str | int, int]) -> str:
    number = 2
    while f"{taken}-{number}" in seen:
        number += 1
    return f"{taken}-{number}"


def select(
    samples: Iterable[tuple[int, Sample]], wanted: SampleOf | None
) -> Iterable[tuple[int, Sample]]:
    """Return a fixed selection of the samples, in their order; all of them for None."""
    if wanted is None:
        return samples
    listed = list(samples)
    strata = [_stratum(sample, wanted.stratify_by) for _, sample in listed]
    shares = _shares(Counter(strata), wanted.n)
    places = list(range(len(listed)))
    random.Random(wanted.seed).shuffle(places)
    kept = set()
    for place in places:
        if shares[strata[place]] > 0:
            shares[strata[place]] -= 1
            kept.add(place)
    return (pair for place, pair in enumerate(listed) if place in kept)


def _stratum(sample: Sample, key: str | None) -> str:
    if key is None:
        return ""
    value = look_up(sample.metadata or {}, key)
    if value is MISSING:
        raise no_column(key, sample.metadata or {}).at(field="sample.stratify_by")
    return str(value)


def _shares(counts: Counter[str], n: int) -> dict[str, int]:
    """Divide `n` by the counts: whole parts first, then the largest remainders, by name."""
    total = sum(counts.values())
    if n >= total:
        return dict(counts)
    shares = {name: count * n // total for name, count in counts.items()}
    rest = n - sum(shares.values())
    by_remainder = sorted(counts, key=lambda name: (-(counts[name] * n % total), name))
    for name in by_remainder[:rest]:
        shares[name] += 1
    return shares
