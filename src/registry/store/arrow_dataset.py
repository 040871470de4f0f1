"""A dataset over a samples file: a Sample is created when it is accessed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol, Self, SupportsIndex, TypeVar, overload

from msgspec import Struct
from msgspec.structs import replace

from registry.errors import CacheError, DamagedEntryError, RegistryError, list_names
from registry.samples.dataset import Dataset, permute_choices, refuse_inspect, shuffle_choices_of
from registry.samples.sample import (
    Sample,
    drop_unchanged,
    keep_if_changed,
    sample_input_len,
    state_of,
)
from registry.samples.selection import Positions, is_index, position_in, positions_of, shuffle_list
from registry.store import LazyModule
from registry.store.checked_file import StoredArray
from registry.store.frame_methods import StoredFrameMethods
from registry.store.rows import samples_of
from registry.store.views import ViewArrays, choice_orders

if TYPE_CHECKING:
    import numpy as np
    from _typeshed import SupportsRichComparison
    from numpy.typing import NDArray

    from registry.samples.provenance import Provenance
    from registry.store.reader import SampleFile
    from registry.store.rows import Columns
else:
    np = LazyModule("numpy")

__all__ = ["ArrowDataset", "Origin"]

_PREFETCH_ROWS = 1 << 16
_PREFETCH_BYTES = 1 << 25
_FIRST_ROWS = 1 << 8
_NAMED = 20
"""Number of changed samples that a provenance names."""
_REOPENINGS = 3
"""How often one reading opens its file again; what is damaged each time is no chance."""

Finish = Callable[[Sample], Sample]
_Result = TypeVar("_Result")


class Origin(Protocol):
    """Opens a dataset again, in the process that unpickles it."""

    def __call__(self) -> ArrowDataset:
        """Return the dataset as it was opened."""


class Description(Protocol):
    """Says where the samples come from, as they were opened."""

    @property
    def location(self) -> str:
        """The source in the manifest, without a folder of this machine."""

    def __call__(self) -> Provenance:
        """Return their provenance, with the digest of the lockfile or none."""


class ArrowDataset(StoredFrameMethods, Dataset):
    """Samples of the cache, in the order of a view.

    A sample is made when it is accessed. One that was accessed by its index is kept. A loop keeps
    the samples that the caller changes or holds, as long as they are those of this dataset.
    Pickled, it is its origin and what has changed since it was opened.
    """

    def __init__(
        self,
        file: SampleFile,
        *,
        name: str,
        location: str,
        view: ViewArrays | None = None,
        shuffled: bool = False,
        auto_id: bool = False,
        finish: Finish | None = None,
    ) -> None:
        """Create a dataset over a samples file.

        Args:
            file: The samples.
            name: Name of the dataset.
            location: Origin of the data.
            view: Order of the samples and of their choices.
            shuffled: Whether the order was shuffled.
            auto_id: Use the number of the row, from 1, as id.
            finish: Called with each new sample; it makes relative file names absolute.
        """
        self.origin: Origin | None = None
        """Opens the same dataset in another process; None if that reads this very file."""
        self.described: Description | None = None
        """Says where the samples come from; None if they were opened without a manifest."""
        self._steps: tuple[str, ...] = ()
        """What was done with the dataset since it was opened."""
        self._file = file
        self._view = self._opened = view or ViewArrays()
        self._name = name
        self._location = location
        self._shuffled = shuffled
        self._auto_id = auto_id
        self._finish = finish
        self._kept: dict[int, Sample] = {}
        """Slot → the sample that was accessed by its index, or assigned to."""
        self._slots: NDArray[np.int64] | None = None
        """The slot at each position, which sorting moves; None if they are the positions."""
        self._refuse_bad_target()

    def _refuse_bad_target(self) -> None:
        """Raise the error of the first sample whose target is not a letter of its choices."""
        # Access raises it, and only access has the target for the message.
        if self._view.first_bad is not None:
            self[self._view.first_bad]

    @property
    def name(self) -> str | None:
        """Name of the dataset."""
        return self._name

    @property
    def location(self) -> str | None:
        """Origin of the data."""
        return self._location

    @property
    def shuffled(self) -> bool:
        """Whether the order was shuffled."""
        return self._shuffled

    @property
    def provenance(self) -> Provenance:
        """Which samples these are, and where they come from; see `Dataset.provenance`."""
        # Imported here: a warm open must not pay for them.
        from registry.samples.digest import digest_samples
        from registry.samples.provenance import Provenance

        changed = self._changes()
        modified = (*self._steps, *filter(None, [_changed_text(changed.values())]))
        known = None if self.described is None else self.described()
        if known is None or known.ordered is None or modified:
            stored = self.as_stored()
            digest = digest_samples(changed.get(at, one) for at, one in enumerate(stored))
            found = {"samples": digest.samples, "ordered": digest.ordered}
        else:
            found = {"samples": len(self), "ordered": known.ordered}
        known = known or Provenance(name=self._name, samples=0)
        return replace(known, **found, name=self._name, modified=modified)

    def __len__(self) -> int:
        """Return the number of samples."""
        rows = self._view.rows
        return self._file.rows if rows is None else len(rows)

    def __repr__(self) -> str:
        """Return name and length."""
        return f"ArrowDataset(name={self._name!r}, samples={len(self)})"

    @overload
    def __getitem__(self, index: int) -> Sample: ...

    @overload
    def __getitem__(self, index: slice | Positions) -> Dataset: ...

    def __getitem__(self, index: SupportsIndex | slice | Positions) -> Sample | Dataset:
        """Return a sample, or a dataset of several over the same file."""
        if isinstance(index, slice):
            part = range(len(self))[index]
            return self._part("sliced", part, self._rows(index))
        if not is_index(index):
            return self._part("selected", positions_of(index, len(self)))
        position = position_in(index, len(self))
        (slot,) = self._slots_at([position])
        if slot not in self._kept:
            self._kept.setdefault(slot, self._made(position))
        return self._kept[slot]

    def _made(self, position: int) -> Sample:
        rows = self._view.rows
        row = position if rows is None else int(self._select(rows, position))
        columns = self._reading(lambda file: file.row(row))
        samples = samples_of(columns, 1, self._file.json_keys)
        return next(self._finished(samples, [row], position, self._view.choices))

    def __iter__(self) -> Iterator[Sample]:
        """Yield the samples in order."""
        refuse_inspect()
        # Those of now: a later sort or shuffle must not affect this iteration.
        return self._samples(self._view, self._slots, len(self))

    def _samples(
        self, view: ViewArrays, slots: Sequence[int] | NDArray[np.int64] | None, count: int
    ) -> Iterator[Sample]:
        """Yield the samples of a view, which have the given slots.

        The number of rows read at a time starts small and doubles: a caller that stops early does
        not wait for many, and selecting many rows at once costs less per row.
        """
        kept, most = self._kept, self._rows_at_once
        start, size = 0, min(_FIRST_ROWS, most)
        while start < count:
            part = slice(start, min(start + size, count))
            own = range(count)[part] if slots is None else np.asarray(slots[part]).tolist()
            made: Iterator[Sample] = iter(())
            sample: Sample | None = None
            try:
                made = self._build(self._rows(part, view), start, view)
                for slot, sample in zip(own, made, strict=True):
                    yield kept.get(slot) or keep_if_changed(sample, kept, slot)
            finally:
                if kept:
                    del made, sample  # so that nothing of this loop holds one
                    drop_unchanged(kept, own)
            start, size = start + size, min(2 * size, most)

    @property
    def _rows_at_once(self) -> int:
        """How many rows of average size are read together at most."""
        return max(1, min(_PREFETCH_ROWS, self._file.rows_within(_PREFETCH_BYTES)))

    def samples_at(self, positions: Sequence[int]) -> Iterator[Sample]:
        """Yield the samples at positions, in their order; many rows are read at a time."""
        view = replace(self._view, rows=self._rows_at(positions))
        return self._samples(view, self._slots_at(positions), len(positions))

    def _slots_at(self, positions: Sequence[int]) -> Sequence[int]:
        slots = self._slots
        return positions if slots is None else slots[np.asarray(positions, np.int64)].tolist()

    def _kept_at(self, positions: Sequence[int] | None = None) -> dict[int, Sample]:
        """Return the kept samples among those at positions, by their place in these."""
        kept = self._kept
        if not kept:
            return {}
        slots = self._slots_at(range(len(self)) if positions is None else positions)
        return {place: kept[slot] for place, slot in enumerate(slots) if slot in kept}

    def _changes(self, positions: Sequence[int] | None = None) -> dict[int, Sample]:
        """Return the changed samples among those at positions, by their place in these."""
        kept = self._kept_at(positions)
        places = [*kept] if positions is None else [positions[place] for place in kept]
        stored = self._build(self._rows_at(places), 0) if kept else ()
        return {
            place: sample
            for (place, sample), one in zip(kept.items(), stored, strict=True)
            if state_of(sample) != state_of(one)
        }

    def _rows_at(self, positions: Sequence[int]) -> NDArray[np.int64]:
        """Return the rows of the samples at positions."""
        numbers = np.asarray(positions, dtype=np.int64)
        view = self._view.rows
        if isinstance(view, range):
            view = np.arange(len(view))
        return numbers if view is None else self._select(view, numbers)

    def records_at(self, positions: Sequence[int]) -> list[int]:
        """Return the numbers of the records, from 1, of the samples at positions."""
        rows = self._rows_at(positions).tolist()
        return self._reading(lambda file: list(map(file.record_of, rows)))

    def rename(self, name: str) -> None:
        """Give the dataset another name: that by which it was asked for."""
        self._name = name

    def as_opened(self) -> tuple[SampleFile, ViewArrays]:
        """Return the samples, and the view that they were opened with."""
        return self._file, self._opened

    def verify_view(self) -> None:
        """Check the whole view in the cache; what is damaged is computed again."""
        self._view.verify()

    def as_stored(self) -> ArrowDataset:
        """Return the samples as stored, with file names relative to the source."""
        return self._changed(_finish=None, _kept={})

    def __copy__(self) -> Self:
        """Return a dataset over the same file, whose order can be changed separately."""
        return self._changed(_kept=dict(self._kept))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return a copy with its own samples: the file and the arrays of a view never change."""
        return self._changed(_kept=deepcopy(self._kept, memo))

    def __reduce__(self) -> tuple[object, ...]:
        view, opened = self._view, self._opened
        change = _Change(
            name=self._name,
            shuffled=self._shuffled,
            as_stored=self._finish is None,
            rows=None if view.rows is opened.rows else _packed(view.rows),
            choices=None if view.choices is opened.choices else _packed(view.choices),
            samples=self._changes(),
            steps=self._steps,
        )
        opening = self.origin or partial(
            ArrowDataset,
            self._file,
            name=self._name,
            location=self._location,
            view=opened,
            auto_id=self._auto_id,
            finish=self._finish,
        )
        return opening, (), change

    def __setstate__(self, change: _Change) -> None:
        """Apply to a dataset, as it was opened, what had changed before it was pickled."""
        self._name, self._shuffled = change.name, change.shuffled
        self._kept, self._steps = change.samples, change.steps
        if change.as_stored:
            self._finish = None
        if change.rows is not None:
            self._view = replace(self._view, rows=_unpacked(change.rows, np.int64))
        if change.choices is not None:
            self._view = replace(self._view, choices=_unpacked(change.choices, np.int32))

    def _rows(self, part: slice, view: ViewArrays | None = None) -> NDArray[np.int64]:
        """Return the rows of the samples in a slice of a view, by default of the current one."""
        rows = (view or self._view).rows
        if rows is None:
            rows = range(self._file.rows)
        if isinstance(rows, range):
            chosen = rows[part]
            return np.arange(chosen.start, chosen.stop, chosen.step, dtype=np.int64)
        return np.asarray(self._select(rows, part), dtype=np.int64)

    def _select(
        self,
        numbers: NDArray[Any] | StoredArray | range,
        part: int | slice | NDArray[np.int64],
    ) -> Any:
        # Neither a damaged view nor the samples can be read.
        return self._reading(lambda _: numbers[part])

    def _build(
        self, rows: NDArray[np.int64], start: int, view: ViewArrays | None = None
    ) -> Iterator[Sample]:
        """Yield the samples of rows; the first has the position `start` in the view."""
        keys = self._file.json_keys
        parts = self._columns(rows)
        samples = chain.from_iterable(samples_of(part, count, keys) for count, part in parts)
        choices = (view or self._view).choices
        if not self._auto_id and self._finish is None and choices is None:
            return samples
        return self._finished(samples, rows.tolist(), start, choices)

    def _columns(self, rows: NDArray[np.int64]) -> Iterator[tuple[int, Columns]]:
        """Yield groups of rows; a damaged file is opened again."""
        done = failures = 0
        while done < len(rows):
            try:
                for count, part in self._file.read(rows[done:]):
                    yield count, part
                    done += count
            except DamagedEntryError as error:
                failures += 1
                self._reopen(error, failures)

    def _reading(self, read: Callable[[SampleFile], _Result]) -> _Result:
        """Return what a function reads in the file; a damaged file is opened again."""
        failures = 0
        while True:
            try:
                return read(self._file)
            except DamagedEntryError as error:
                failures += 1
                self._reopen(error, failures)

    def _reopen(self, error: DamagedEntryError, failures: int) -> None:
        """Continue with the same samples in another file; they are built again if necessary."""
        if self.origin is None or failures > _REOPENINGS:
            raise error
        try:
            file, opened = self.origin().as_opened()
        except RegistryError as failure:
            raise CacheError(f"{error}; building it again failed: {failure}") from failure
        if file.batches != self._file.batches:
            raise CacheError(
                f"{error}; opened again it has other samples (has its source changed?)"
            )
        self._file = file
        self._opened.replace_by(opened)

    def _finished(
        self,
        samples: Iterator[Sample],
        rows: list[int],
        start: int,
        choices: NDArray[np.int32] | StoredArray | None,
    ) -> Iterator[Sample]:
        """Yield samples with generated ids, absolute file names and choices in the view's order."""
        for position, (row, sample) in enumerate(zip(rows, samples, strict=True), start):
            if self._auto_id:
                sample.id = row + 1
            if self._finish is not None:
                self._finish(sample)
            if choices is not None and sample.choices:
                positions = self._choice_positions(choices, row)
                permute_choices(sample, positions, where=f"{self._name}: sample {position}")
            yield sample

    def _choice_positions(self, choices: NDArray[np.int32] | StoredArray, row: int) -> list[int]:
        """Return the old positions of a row's choices in their new order."""

        def read(file: SampleFile) -> list[int]:
            start, end = file.choice_range(row)
            if isinstance(choices, StoredArray):
                return choices.tolist(start, end)
            positions: list[int] = choices[start:end].tolist()
            return positions

        return self._reading(read)

    def sort(
        self,
        reverse: bool = False,
        key: Callable[[Sample], SupportsRichComparison] = sample_input_len,
    ) -> None:
        """Sort in place; see `Dataset.sort`."""
        rows = self._rows(slice(None))
        # The default key can be computed from the column, without creating any sample.
        lengths = None
        if key is sample_input_len:
            lengths = self._reading(lambda file: file.input_lengths())
        if lengths is not None:
            found = lengths[rows]
            for position, sample in self._kept_at().items():
                found[position] = sample_input_len(sample)
            self._reorder("sorted", np.argsort(-found if reverse else found, kind="stable"))
            return
        keys = [key(sample) for sample in self]
        self._reorder("sorted", sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse))

    def filter(self, predicate: Callable[[Sample], bool], name: str | None = None) -> ArrowDataset:
        """Return a dataset over the same file of the samples for which `predicate` holds."""
        is_kept = np.array([predicate(sample) for sample in self], dtype=bool)
        return self._part("filtered", np.flatnonzero(is_kept).tolist(), name=name)

    def shuffle(self, seed: int | None = None) -> None:
        """Shuffle the order in place; see `Dataset.shuffle`."""
        positions = list(range(len(self)))
        shuffle_list(positions, seed)
        self._reorder("shuffled", positions)
        self._shuffled = True

    def shuffle_choices(self, seed: int | None = None) -> None:
        """Shuffle the choices of each sample in place; see `Dataset.shuffle_choices`."""
        if self._changes():
            # The order of its choices depends on the number of those before it, in every sample.
            shuffle_choices_of(self._all_kept(), seed, name=self._name)
            return
        # Always seeded, as an order that cannot be stored would differ from access to access.
        seed = random.SystemRandom().getrandbits(64) if seed is None else seed
        rows = self._rows(slice(None))
        old = self._view
        orders, bad = self._reading(lambda file: choice_orders(file, rows, seed))
        if orders is not None and old.choices is not None:
            # Apply the new order to the old one. `orders` has no order for rows that a filter
            # removed from this view; they keep the old one.
            starts = self._reading(lambda file: file.choice_starts())
            counts = np.diff(starts)
            is_shuffled = np.zeros(len(counts), bool)
            is_shuffled[rows] = True
            both = self._select(old.choices, np.repeat(starts[:-1], counts) + orders)
            orders = np.where(np.repeat(is_shuffled, counts), both, old.choices[:])
        self._view = replace(old, choices=orders, first_bad=bad)
        steps, self._steps = self._steps, (*self._steps, "choices shuffled")
        try:
            self._refuse_bad_target()
        except ValueError:
            self._view, self._steps = old, steps
            raise
        for position, sample in self._kept_at().items():
            made = self._made(position)
            sample.choices, sample.target = made.choices, made.target

    def _all_kept(self) -> Iterator[Sample]:
        """Yield all samples; those with choices are kept."""
        slots = self._slots_at(range(len(self)))
        for slot, sample in zip(slots, self, strict=True):
            yield self._kept.setdefault(slot, sample) if sample.choices else sample

    def _reorder(self, step: str, order: Sequence[int] | NDArray[np.int64]) -> None:
        """Put the sample at each of these positions next."""
        order = np.asarray(order, dtype=np.int64)
        self._steps = (*self._steps, step)
        self._slots = order if self._slots is None else self._slots[order]
        self._view = replace(self._view, rows=self._rows(slice(None))[order], first_bad=None)

    def _part(
        self,
        step: str,
        positions: Sequence[int],
        rows: NDArray[np.int64] | None = None,
        name: str | None = None,
    ) -> Self:
        """Return a dataset of the samples at positions, with copies of those that were changed."""
        rows = self._rows_at(positions) if rows is None else rows
        # `dataset[:]` is the same dataset.
        is_whole = len(positions) == len(self) and [*positions] == [*range(len(self))]
        return self._changed(
            _view=replace(self._view, rows=rows, first_bad=None),
            _name=name or self._name,
            _kept={
                place: sample.model_copy(deep=True)
                for place, sample in self._changes(positions).items()
            },
            _slots=None,
            _steps=self._steps if is_whole else (*self._steps, step),
        )

    def _changed(self, **attributes: Any) -> Self:
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__, **attributes)
        return made


class _Change(Struct, frozen=True, kw_only=True):
    """How a pickled dataset differs from the one that its origin opens."""

    name: str
    shuffled: bool
    as_stored: bool
    """Whether file names stay relative to the source."""
    rows: range | NDArray[Any] | None
    """None if the view has the order it was opened with."""
    choices: range | NDArray[Any] | None
    samples: dict[int, Sample]
    """Position → the sample that its caller has changed."""
    steps: tuple[str, ...]
    """What was done with the dataset."""


def _changed_text(samples: Iterable[Sample]) -> str:
    """Return which samples were changed, by their ids as far as they are few; empty if none."""
    ids = [str(one.id) for one in samples]
    return f"changed: {list_names(ids, _NAMED)}" if ids else ""


def _packed(numbers: NDArray[Any] | StoredArray | range | None) -> range | NDArray[Any] | None:
    """Return numbers of at least 0 in little space: as a range, else in the smallest type."""
    if numbers is None or isinstance(numbers, range):
        return numbers
    values = numbers[:]
    steps = np.diff(values)
    if len(values) > 1 and steps[0] and (steps == steps[0]).all():
        step = int(steps[0])
        return range(int(values[0]), int(values[-1]) + step, step)
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def _unpacked(values: range | NDArray[Any], dtype: type[np.integer[Any]]) -> NDArray[Any]:
    if isinstance(values, range):
        return np.arange(values.start, values.stop, values.step, dtype=dtype)
    return values.astype(dtype)
