"""Which of its written samples a dataset keeps: those of repeated ids, and those of a subsample.

Repeated ids are detected in little memory, then rejected, dropped or numbered. Ascending ids can't
repeat, so nothing is stored for them. From the first batch that does not ascend, a 64-bit hash of
each id is stored; ids are compared only if their hashes are equal.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow import int64_array, string_hashes, to_numpy_int64
from registry.errors import MappingError
from registry.mapping.row import MISSING, get_column, no_column
from registry.samples.fields import FIELDS
from registry.store.columns import field_columns
from registry.store.reader import SampleFile
from registry.store.rows import ids_of
from registry.store.schema import METADATA_VALUES, with_all_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from registry.manifest.models import Subsample

__all__ = ["DuplicateIdDetector", "DuplicateRule", "resolve_duplicates", "select"]

DuplicateRule = Literal["error", "drop", "suffix"]
"""What to do with a sample that has the id of an earlier sample."""

Id = str | int | None
_FEW_ROWS = 1 << 11
"""Rows of a file whose ids are compared as Python's values, without hashes."""
_COLUMNS = ("id", "id_number")
"""Columns of str and int ids; one is null where the other has a value."""


class DuplicateIdDetector:
    """Collects the ids of batches while they are written, to find repeated ones."""

    def __init__(self) -> None:
        self._last: str | int | None = None
        self._ascending = 0
        """Number of batches before the first one whose ids don't ascend."""
        self._hashes: list[NDArray[np.uint64]] = []
        self._only: pa.RecordBatch | None = None
        """The first batch, until there is another."""
        self._count = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Add the ids of a batch."""
        self._count += 1
        if self._count == 1 and batch.num_rows <= _FEW_ROWS:
            self._only = batch
            return
        self._add_only()
        self._add(batch)

    def _add_only(self) -> None:
        """Add the first batch, which was not looked at."""
        if self._only is not None:
            only, self._only = self._only, None
            self._add(only)

    def _add(self, batch: pa.RecordBatch) -> None:
        if not self._hashes and self._ascends(batch):
            self._ascending += 1
        else:
            self._hashes.append(_hashes(batch))

    def _ascends(self, batch: pa.RecordBatch) -> bool:
        """Return whether the ids are all str or all int, and each is greater than the last."""
        ids = (
            batch.column("id") if batch.column("id").null_count == 0 else batch.column("id_number")
        )
        if len(ids) == 0:
            return True
        first, last = ids[0].as_py(), ids[-1].as_py()
        if ids.null_count or not (self._last is None or type(first) is type(self._last)):
            return False
        above = self._last is None or first > self._last
        self._last = last
        higher = pc.greater(ids.slice(1), ids.slice(0, len(ids) - 1))
        return above and bool(pc.all(higher, min_count=0).as_py())

    def repeated(self, open_file: Callable[[], SampleFile]) -> frozenset[str | int]:
        """Return the repeated ids of the written file, which is opened only if it must be."""
        if self._only is not None:
            ids = [one for one in ids_of(self._only) if one is not None]
            if len(set(ids)) == len(ids):
                return frozenset()
        self._add_only()
        if not self._hashes:
            return frozenset()
        file = open_file()
        # The ascending batches were not hashed while they were written.
        before = [_hashes(batch) for batch in islice(file.full_batches(), self._ascending)]
        hashes = np.concatenate([*before, *self._hashes])
        hashes.sort()
        # Different ids may share a hash, so these are only candidates.
        candidates = hashes[1:][hashes[1:] == hashes[:-1]]
        if not len(candidates):
            return frozenset()
        return frozenset().union(*(_repeated(file, name, candidates) for name in _COLUMNS))


def _repeated(file: SampleFile, name: str, candidates: NDArray[np.uint64]) -> frozenset[str | int]:
    """Return the repeated ids of one of the columns, of those whose hashes are candidates."""
    parts = []
    for batch in file.full_batches():
        ids = batch.column(name).drop_null()
        hashes = _hashes_of(ids)
        places = np.searchsorted(candidates, hashes)
        places[places == len(candidates)] = 0
        parts.append(ids.take(int64_array(np.flatnonzero(candidates[places] == hashes))))
    counts = pc.value_counts(pa.chunked_array(parts))
    repeated = counts.filter(pc.greater(counts.field("counts"), 1))
    return frozenset(repeated.field("values").to_pylist())


def _hashes(batch: pa.RecordBatch) -> NDArray[np.uint64]:
    """Return a hash of each id of a batch."""
    columns = (batch.column(name).drop_null() for name in _COLUMNS)
    return np.concatenate(list(map(_hashes_of, columns)))


def _hashes_of(ids: pa.Array) -> NDArray[np.uint64]:
    """Return a hash of each value of a column of ids without nulls."""
    if pa.types.is_integer(ids.type):
        return to_numpy_int64(ids).view(np.uint64)
    return string_hashes(ids)


def resolve_duplicates(
    file: SampleFile, repeated: frozenset[str | int], rule: DuplicateRule, *, dataset: str
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file with unique ids.

    Args:
        file: The file.
        repeated: The repeated ids, from `DuplicateIdDetector.repeated`.
        rule: What to do with the second and later rows of an id.
        dataset: Name in messages.

    Raises:
        MappingError: the rule is `error`; the message has the record and the first with its id.
    """
    change = {"error": _refusing, "drop": _dropping, "suffix": _numbering}[rule]
    return change(file, repeated, dataset)


def _refusing(
    file: SampleFile, repeated: frozenset[str | int], dataset: str
) -> Iterator[pa.RecordBatch]:
    first: dict[Id, tuple[int, int]] = {}
    for number, batch in enumerate(file.full_batches()):
        for place, one in enumerate(ids_of(batch)):
            if one in first:
                before, again = _row(file, *first[one]), _row(file, number, place)
                raise MappingError(
                    f"record {before['record']} has the same id {_compared(before, again)}",
                    dataset=dataset,
                    record=again["record"],
                    field="id",
                    value=one,
                )
            if one in repeated:
                first[one] = number, place
        yield batch


def _row(file: SampleFile, number: int, place: int) -> dict[str, Any]:
    (row,) = file.full_batch(number).slice(place, 1).to_pylist()
    return dict(row)


def _compared(before: dict[str, Any], again: dict[str, Any]) -> str:
    """Return what two samples of one id have in common, and what to do then."""
    names = {field.name: [name for name, _ in field.columns] for field in FIELDS}
    names["metadata"].append(METADATA_VALUES)
    other = [
        field
        for field, columns in names.items()
        if any(before.get(name) != again.get(name) for name in columns)
    ]
    if not other:
        return "and is the same sample (`on_duplicate: drop` keeps the first)"
    return (
        f"but another {' and '.join(other)} (give `id` a column that tells them apart, or its"
        " `hash` more columns; `on_duplicate: suffix` numbers them, `drop` loses all but the first)"
    )


def _dropping(
    file: SampleFile, repeated: frozenset[str | int], dataset: str
) -> Iterator[pa.RecordBatch]:
    seen: set[Id] = set()
    for batch in file.full_batches():
        kept = []
        for place, one in enumerate(ids_of(batch)):
            if one in seen:
                continue
            if one in repeated:
                seen.add(one)
            kept.append(place)
        yield batch.take(int64_array(np.array(kept, np.int64)))


def _numbering(
    file: SampleFile, repeated: frozenset[str | int], dataset: str
) -> Iterator[pa.RecordBatch]:
    numbers = _Numbers(repeated)
    for batch in file.full_batches():
        ids = list(map(numbers.own, ids_of(batch)))
        columns = {name: batch.column(name) for name in batch.schema.names if name not in _COLUMNS}
        columns |= field_columns("id", ids, batch.column("record").to_pylist())
        yield with_all_columns(pa.RecordBatch.from_pydict(columns), batch.schema)


class _Numbers:
    """Appends the lowest number to each repeated id that makes it unique.

    Storing every id of a large file would need too much memory. Only ids that can collide are
    stored: repeated ones, numbered ones, and those that look like a repeated id with a number.
    """

    def __init__(self, repeated: frozenset[str | int]) -> None:
        self._repeated = repeated
        self._stems = {str(one) for one in repeated}
        self._seen: set[str | int] = set()
        self._next: dict[str | int, int] = {}
        """Id → the next number to try; all lower ones, from 2, are taken."""

    def own(self, one: Id) -> Id:
        """Return an id unchanged if it is new, else with a number."""
        if one is None:
            return None
        if one in self._seen:
            one = self._numbered(one)
            self._seen.add(one)
        elif one in self._repeated or self._looks_numbered(one):
            self._seen.add(one)
        return one

    def _numbered(self, taken: str | int) -> str:
        number = self._next.get(taken, 2)
        while f"{taken}-{number}" in self._seen:
            number += 1
        self._next[taken] = number + 1
        return f"{taken}-{number}"

    def _looks_numbered(self, one: str | int) -> bool:
        """Return whether an id equals a repeated one with numbers appended."""
        stem, dash, number = str(one).rpartition("-")
        while dash and number.isdecimal():
            if stem in self._stems:
                return True
            stem, dash, number = stem.rpartition("-")
        return False


def select(file: SampleFile, wanted: Subsample) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the subsample.

    Raises:
        MappingError: a sample's metadata lacks the key of `stratify_by`.
    """
    key = wanted.stratify_by
    strata = [""] * file.rows
    if key is not None:
        for place, metadata in enumerate(file.metadata()):
            value = get_column(metadata or {}, key)
            if value is MISSING:
                raise no_column(key, metadata or {}).at(field="sample.stratify_by")
            strata[place] = str(value)
    shares = _shares(Counter(strata), wanted.n)
    # Python's generator: its sequence for a seed is the same in every version, on every machine.
    places = list(range(file.rows))
    random.Random(wanted.seed).shuffle(places)
    kept = np.zeros(file.rows, bool)
    for place in places:
        if shares[strata[place]] > 0:
            shares[strata[place]] -= 1
            kept[place] = True
    start = 0
    for batch in file.full_batches():
        here = np.flatnonzero(kept[start : start + batch.num_rows])
        start += batch.num_rows
        yield batch.take(int64_array(here))


def _shares(counts: Counter[str], n: int) -> dict[str, int]:
    """Divide `n` in proportion to the counts, by largest remainder; ties are broken by name."""
    total = sum(counts.values())
    if n >= total:
        return dict(counts)
    shares = {name: count * n // total for name, count in counts.items()}
    rest = n - sum(shares.values())
    by_remainder = sorted(counts, key=lambda name: (-(counts[name] * n % total), name))
    for name in by_remainder[:rest]:
        shares[name] += 1
    return shares
