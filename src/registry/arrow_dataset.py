"""A dataset over a memory-mapped samples file: a Sample is built when it is asked for."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np

from registry.dataset import Dataset, permute_choices
from registry.sample import Sample, sample_input_len
from registry.sample_table import sample_of
from registry.views import ViewArrays, choice_offsets, choice_orders

if TYPE_CHECKING:
    import pyarrow as pa
    from _typeshed import SupportsRichComparison
    from numpy.typing import NDArray

__all__ = ["ArrowDataset"]

_PREFETCH = 1024


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """A samples table and what turns its rows into samples."""

    table: pa.Table
    auto_id: bool = False
    """Number samples by their row, from 1."""
    finish: Callable[[Sample], Sample] = lambda sample: sample
    """Last step: resolves relative file names."""

    @cached_property
    def offsets(self) -> list[int]:
        return choice_offsets(self.table)

    def build(self, row: int, columns: dict[str, Any]) -> Sample:
        sample = sample_of(columns)
        if self.auto_id:
            sample.id = row + 1
        return self.finish(sample)


class ArrowDataset(Dataset):
    """Samples of the cache, in the order of a view.

    What is changed in a sample stays with that object: the next access builds it anew.
    """

    def __init__(
        self,
        table: pa.Table,
        *,
        name: str,
        location: str,
        view: ViewArrays | None = None,
        shuffled: bool = False,
        auto_id: bool = False,
        finish: Callable[[Sample], Sample] = lambda sample: sample,
    ) -> None:
        """Make a dataset over a table of samples.

        Args:
            table: Rows as in `sample_table.SCHEMA`.
            name: Name of the dataset.
            location: Where it comes from.
            view: Order and choice order.
            shuffled: Whether the order was shuffled.
            auto_id: Number samples by their row, from 1.
            finish: Applied to each sample that is built.
        """
        self._rows = _Rows(table=table, auto_id=auto_id, finish=finish)
        self._view = view or ViewArrays()
        self._name = name
        self._location = location
        self._shuffled = shuffled
        self._refuse_bad_target()

    def _refuse_bad_target(self) -> None:
        """Raise the error of the first sample whose target is no letter of its choices."""
        if self._view.first_bad is not None:
            self[self._view.first_bad]

    @property
    def name(self) -> str | None:
        """Name of the dataset."""
        return self._name

    @property
    def location(self) -> str | None:
        """Where it comes from."""
        return self._location

    @property
    def shuffled(self) -> bool:
        """Whether the order was shuffled."""
        return self._shuffled

    def __len__(self) -> int:
        """Return the number of samples."""
        rows = self._view.rows
        return self._rows.table.num_rows if rows is None else len(rows)

    def __repr__(self) -> str:
        """Return name and length."""
        return f"ArrowDataset(name={self._name!r}, samples={len(self)})"

    @overload
    def __getitem__(self, index: int) -> Sample: ...

    @overload
    def __getitem__(self, index: slice) -> Dataset: ...

    def __getitem__(self, index: SupportsIndex | slice) -> Sample | Dataset:
        """Return a sample, or a dataset of several over the same file."""
        if isinstance(index, slice):
            return self._with_rows(self._order()[index])
        place = operator.index(index)
        count = len(self)
        if not -count <= place < count:
            raise IndexError(f"index {place} of a dataset of {count} samples")
        row = int(self._order()[place % count])
        return next(self._build([row], place % count))

    def __iter__(self) -> Iterator[Sample]:
        """Yield the samples in order, a batch of rows read at a time."""
        order = self._order()
        for start in range(0, len(order), _PREFETCH):
            yield from self._build([int(row) for row in order[start : start + _PREFETCH]], start)

    def _order(self) -> Sequence[int] | NDArray[np.int64]:
        rows = self._view.rows
        return range(self._rows.table.num_rows) if rows is None else rows

    def _build(self, rows: list[int], start: int) -> Iterator[Sample]:
        for place, (row, columns) in enumerate(zip(rows, self._read(rows), strict=True), start):
            sample = self._rows.build(row, columns)
            if self._view.choices is not None and sample.choices:
                offsets = self._rows.offsets
                positions = self._view.choices[offsets[row] : offsets[row + 1]].tolist()
                permute_choices(sample, positions, where=f"{self._name}: sample {place}")
            yield sample

    def _read(self, rows: list[int]) -> list[dict[str, Any]]:
        table = self._rows.table
        taken = table.slice(rows[0], 1) if len(rows) == 1 else table.take(rows)
        records: list[dict[str, Any]] = taken.to_pylist()
        return records

    def sort(
        self,
        reverse: bool = False,
        key: Callable[[Sample], SupportsRichComparison] = sample_input_len,
    ) -> None:
        """Sort in place; see `Dataset.sort`."""
        keys = [key(sample) for sample in self]
        places = sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)
        self._set_rows(np.asarray(self._order(), dtype=np.int64)[places])

    def filter(self, predicate: Callable[[Sample], bool], name: str | None = None) -> ArrowDataset:
        """Return a dataset over the same file of the samples for which `predicate` holds."""
        kept = [row for row, sample in zip(self._order(), self, strict=True) if predicate(sample)]
        return self._with_rows(kept, name)

    def shuffle(self, seed: int | None = None) -> None:
        """Shuffle the order in place; see `Dataset.shuffle`."""
        rows = [int(row) for row in self._order()]
        if seed is None:
            random.shuffle(rows)
        else:
            random.Random(seed).shuffle(rows)
        self._set_rows(rows)
        self._shuffled = True

    def shuffle_choices(self, seed: int | None = None) -> None:
        """Shuffle the choices of each sample in place; see `Dataset.shuffle_choices`."""
        seed = random.SystemRandom().getrandbits(64) if seed is None else seed
        rows = np.asarray(self._order(), dtype=np.int64)
        old = self._view
        orders, bad = choice_orders(self._rows.table, rows, seed)
        before = self._view.choices
        if orders is not None and before is not None:
            orders = _composed(before, orders, self._rows.offsets, rows)
        self._view = replace(self._view, choices=orders, first_bad=bad)
        try:
            self._refuse_bad_target()
        except ValueError:
            self._view = old
            raise

    def _set_rows(self, rows: Any) -> None:
        rows = np.asarray(rows, dtype=np.int64)
        self._view = replace(self._view, rows=rows, first_bad=None)

    def _with_rows(self, rows: Any, name: str | None = None) -> ArrowDataset:
        return ArrowDataset(
            self._rows.table,
            name=name or self._name,
            location=self._location,
            view=replace(self._view, rows=np.asarray(rows, dtype=np.int64), first_bad=None),
            shuffled=self._shuffled,
            auto_id=self._rows.auto_id,
            finish=self._rows.finish,
        )


def _composed(
    before: NDArray[np.int32],
    after: NDArray[np.int32],
    offsets: list[int],
    rows: NDArray[np.int64],
) -> NDArray[np.int32]:
    """Return the orders of shuffling `before`, then `after`."""
    composed = np.array(before)
    for row in rows.tolist():
        part = slice(offsets[row], offsets[row + 1])
        composed[part] = before[part][after[part]]
    return composed
