"""Views over a samples file: the order of samples and choices, and the rows of a metadata value.

Each is computed once and stored beside the samples.

The shuffles equal those of Inspect's loaders: `random.Random(seed).shuffle` for files,
`numpy.random.default_rng(seed).permutation` for the Hub, and for choices one
`random.Random(seed)` that shuffles those of each sample in the order of the view.
"""

from __future__ import annotations

import contextlib
import random
from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from registry.base.cache_access import CACHE_FORMAT
from registry.base.digest import canonical_json, decode_value, digest_of, encode_value
from registry.errors import DamagedEntryError, ExpectationError, did_you_mean, list_names
from registry.samples.dataset import shuffle_positions
from registry.samples.letters import index_of
from registry.store import LazyModule
from registry.store.checked_file import StoredArray, open_array, store_arrays

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from registry.base import arrow
    from registry.cache.cache import Cache, CacheEntry
    from registry.store.reader import SampleFile
else:
    np, arrow = LazyModule("numpy"), LazyModule("registry.base.arrow")

__all__ = [
    "Order",
    "ValueRows",
    "ViewArrays",
    "choice_orders",
    "letter_indexes",
    "open_view",
    "row_order",
    "selected_rows",
    "value_rows",
]

_ROWS_AT_ONCE = 1 << 16
_NO_CHOICE = (1 << 31) - 1
_NAMED = 10
"""Values that an error names."""

Order = Literal["file", "hub"]
"""`file` shuffles like csv_dataset and json_dataset, `hub` like hf_dataset."""


class ViewArrays(Struct, frozen=True):
    """Arrays of a view; None keeps the order of the file."""

    rows: NDArray[np.int64] | StoredArray | range | None = None
    """Row in the file of each sample."""
    choices: NDArray[np.int32] | StoredArray | None = None
    """Old positions of each row's choices in their new order, concatenated for all rows."""
    first_bad: int | None = None
    """Position in the view of the first sample whose target is not a letter of its choices."""

    def limited(self, limit: int | None, count: int) -> ViewArrays:
        """Return the view of the first `limit` of `count` samples."""
        if limit is None or limit >= count:
            return self
        rows = range(count) if self.rows is None else self.rows
        rows = rows.first(limit) if isinstance(rows, StoredArray) else rows[:limit]
        bad = self.first_bad
        return replace(self, rows=rows, first_bad=bad if bad is not None and bad < limit else None)

    def replace_by(self, other: ViewArrays) -> None:
        """Read the same numbers from the files of another view, in all that share these arrays."""
        for own, others in ((self.rows, other.rows), (self.choices, other.choices)):
            if isinstance(own, StoredArray) and not isinstance(others, range | None):
                own.replace_by(others)

    def verify(self) -> None:
        """Check all numbers in the cache, and compute damaged ones again."""
        for numbers in (self.rows, self.choices):
            if isinstance(numbers, StoredArray):
                numbers[:]


def open_view(
    file: SampleFile,
    cache: Cache,
    *,
    samples: str,
    order: Order,
    seed: int | None,
    choice_seed: int | None,
    only: Mapping[str, Any] | None = None,
) -> ViewArrays:
    """Return the arrays of a view over the samples with the fingerprint `samples`.

    Args:
        file: The samples.
        cache: Where the arrays are stored.
        samples: Fingerprint of the samples.
        order: Kind of shuffle.
        seed: Seed of the order of samples; None keeps the order of the file.
        choice_seed: Seed of the order of choices; None keeps the order of the file.
        only: Metadata key → the value, or the list of values, that the samples of the view have.

    Raises:
        ExpectationError: no sample has a value of `only`.
    """
    rows = None if only is None else selected_rows(file, cache, samples=samples, only=only)
    if seed is None and choice_seed is None:
        return ViewArrays(rows)
    view = _View(file, cache, samples, order, seed, choice_seed, only, rows)
    entry = cache.find("views", view.fingerprint)
    if entry is not None:
        with contextlib.suppress(DamagedEntryError):
            return view.open(entry)
    return view.compute()


class _View(Struct, frozen=True):
    """What the arrays of a view depend on: datasets that differ in `limit` share them."""

    file: SampleFile
    cache: Cache
    samples: str
    order: Order
    seed: int | None
    choice_seed: int | None
    only: Mapping[str, Any] | None
    chosen: NDArray[np.int64] | None
    """The rows that `only` leaves; None for all."""

    @property
    def fingerprint(self) -> str:
        """Key of the arrays in the cache."""
        return digest_of(
            {
                "format": CACHE_FORMAT,
                "samples": self.samples,
                "choices": self.choice_seed,
                "order": None if self.seed is None else [self.order, self.seed],
                "only": self.only,
            }
        )

    def open(self, entry: CacheEntry) -> ViewArrays:
        """Return the arrays of an entry; none is read."""
        stored = {name: self._open_array(name, entry) for name in entry.meta["checksums"]}
        if "rows" not in stored:
            return ViewArrays(self.chosen, **stored, first_bad=entry.meta["first_bad"])
        return ViewArrays(**stored, first_bad=entry.meta["first_bad"])

    def _open_array(self, name: str, entry: CacheEntry) -> StoredArray:
        code: Literal["i", "q"] = "i"
        count = self.file.choices
        if name == "rows":
            code, count = "q", self.file.rows if self.chosen is None else len(self.chosen)
        return open_array(
            self.cache, entry, name, code, count, lambda: getattr(self.compute(), name)
        )

    def compute(self) -> ViewArrays:
        """Compute the arrays and store them in the cache."""
        rows, chosen = self.chosen, self.chosen
        if self.seed is not None:
            count = self.file.rows if chosen is None else len(chosen)
            rows = row_order(count, self.order, self.seed)
            rows = rows if chosen is None else chosen[rows]
        choices, bad = choice_orders(self.file, rows, self.choice_seed)
        made = {"rows": None if self.seed is None else rows, "choices": choices}
        arrays = {name: values for name, values in made.items() if values is not None}
        meta = {"first_bad": bad, "samples": self.samples}
        store_arrays(self.cache, self.fingerprint, arrays, meta)
        return ViewArrays(rows, choices, bad)


def row_order(count: int, order: Order, seed: int | None) -> NDArray[np.int64]:
    """Return the rows in the order of a loader's shuffle; without a seed, a random order."""
    if order == "hub":
        if seed is None:
            # `datasets.Dataset.shuffle` takes its seed from the global state of numpy like this.
            state: Any = np.random.get_state(legacy=True)  # the global state
            keys, position = state[1], state[2]
            np.random.random()
            seed = int(keys[position] if position < len(keys) else keys[0])
        return np.random.default_rng(seed).permutation(count)
    rows = array("q", range(count))  # a fifth of the memory of a list of ints
    random.Random(seed).shuffle(rows)
    return np.asarray(rows)


def choice_orders(
    file: SampleFile, rows: NDArray[np.int64] | None, seed: int | None
) -> tuple[NDArray[np.int32] | None, int | None]:
    """Return the orders of choices, and the position of the first sample with a bad target.

    A target is bad if the sample has choices and it is not a letter of one of them.
    """
    if seed is None:
        return None, None
    rng = random.Random(seed)
    starts = file.choice_starts()
    orders = np.zeros(file.choices, dtype=np.int32)
    if rows is None:
        rows = np.arange(file.rows)
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        part = rows[first : first + _ROWS_AT_ONCE]
        counts = starts[part + 1] - starts[part]
        drawn = [old for count in counts.tolist() for old in shuffle_positions(count, rng)]
        orders[np.repeat(starts[part], counts) + arrow.ranges(counts)] = drawn
    bad = _bad_targets(file, np.diff(starts))[rows]
    return orders, int(bad.argmax()) if bad.any() else None


def _bad_targets(file: SampleFile, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which rows have a target that is not the letter of one of their `counts` choices."""
    bad = np.zeros(len(counts), bool)
    first = 0
    for batch in file.full_batches():
        several = batch.column("targets")
        rows = np.arange(first, first + len(batch))
        first += len(batch)
        for texts, owners in (
            (batch.column("target"), rows),
            (several.flatten(), np.repeat(rows, np.diff(arrow.list_offsets(several)))),
        ):
            bad[owners[letter_indexes(texts) >= counts[owners]]] = True
    return bad & (counts > 0)


def letter_indexes(texts: pa.Array) -> NDArray[np.int64]:
    """Return the index of each letter: -1 for a null, `_NO_CHOICE` for any other string."""
    encoded = texts.dictionary_encode()  # targets repeat: few letters in many rows
    indexes = []
    for text in encoded.dictionary.to_pylist():
        try:
            indexes.append(min(index_of(text), _NO_CHOICE))
        except ValueError:
            indexes.append(_NO_CHOICE)
    found = encoded.indices
    if found.null_count:
        # The index -1 of a null selects the last item, -1.
        found = found.cast("int64").fill_null(arrow.int64_array(np.array([-1]))[0])
    return np.array([*indexes, -1])[arrow.to_numpy_int64(found)]


class ValueRows(Struct, frozen=True):
    """The rows of a samples file by the value of a metadata key."""

    key: str
    values: Sequence[Any]
    """The values, in the order in which the file has them; None is that of samples without one."""
    ends: Sequence[int]
    """Where the rows of each value end in `rows`."""
    rows: NDArray[np.int64] | StoredArray
    """The rows of the first value, ascending, then those of the next one."""

    def of(self, value: Any) -> NDArray[np.int64]:
        """Return the rows of the samples with a value, ascending.

        Raises:
            ExpectationError: no sample has it.
        """
        number = self._number(value)
        if number is not None:
            start = self.ends[number - 1] if number else 0
            return np.asarray(self.rows[start : self.ends[number]], dtype=np.int64)
        # A number is not the text of it, which is nearest to it.
        known = [one if isinstance(one, str) else repr(one) for one in self.values]
        near = " ".join(
            filter(None, [did_you_mean(str(value), known), f"values: {list_names(known, _NAMED)}"])
        )
        raise ExpectationError(f"no sample has {value!r} as `{self.key}` in its metadata ({near})")

    def _number(self, value: Any) -> int | None:
        wanted = _identity(value)
        known = map(_identity, self.values)
        return next((number for number, one in enumerate(known) if one == wanted), None)

    def count(self, number: int) -> int:
        """Return how many samples have the value with this number."""
        return self.ends[number] - (self.ends[number - 1] if number else 0)


def _identity(value: Any) -> str | bytes:
    """Return a key for a value, which may be a list; unlike to `==`, 1 is neither 1.0 nor True."""
    return value if type(value) is str else canonical_json(value)


def selected_rows(
    file: SampleFile, cache: Cache, *, samples: str, only: Mapping[str, Any]
) -> NDArray[np.int64]:
    """Return the rows whose metadata has these values, ascending.

    Args:
        file: The samples.
        cache: Where the rows of each value are stored.
        samples: Fingerprint of the samples.
        only: Metadata key → its value, or a list of values.

    Raises:
        ExpectationError: no sample has one of the values.
    """
    found: NDArray[np.int64] | None = None
    for key, wanted in only.items():
        known = value_rows(file, cache, samples=samples, key=key)
        parts = [known.of(one) for one in (wanted if isinstance(wanted, list) else [wanted])]
        rows = np.unique(np.concatenate(parts))
        found = rows if found is None else np.intersect1d(found, rows, assume_unique=True)
    assert found is not None  # noqa: S101 (the schema refuses an empty `only`)
    return found


def value_rows(file: SampleFile, cache: Cache, *, samples: str, key: str) -> ValueRows:
    """Return the rows of each value of a metadata key; all samples are read the first time."""
    fingerprint = digest_of({"format": CACHE_FORMAT, "samples": samples, "values_of": key})
    index = _Index(file, cache, samples, key, fingerprint)
    entry = cache.find("views", fingerprint)
    if entry is not None:
        with contextlib.suppress(DamagedEntryError):
            return index.open(entry)
    return index.compute()


class _Index(Struct, frozen=True):
    """The rows of a key's values as an entry of the cache."""

    file: SampleFile
    cache: Cache
    samples: str
    key: str
    fingerprint: str

    def open(self, entry: CacheEntry) -> ValueRows:
        size, compute = self.file.rows, lambda: np.asarray(self.compute().rows)
        rows = open_array(self.cache, entry, "rows", "q", size, compute)
        values = [decode_value(one) for one in entry.meta["values"]]
        return ValueRows(self.key, values, entry.meta["ends"], rows)

    def compute(self) -> ValueRows:
        """Read the metadata of all samples and store what was found."""
        numbers: dict[str | bytes, int] = {}
        values: list[Any] = []
        of_rows: list[int] = []
        for metadata in self.file.metadata():
            value = None if metadata is None else metadata.get(self.key)
            text = _identity(value)
            if text not in numbers:
                numbers[text] = len(values)
                values.append(value)
            of_rows.append(numbers[text])
        found = np.array(of_rows, dtype=np.int64)
        rows = np.argsort(found, kind="stable").astype(np.int64)
        counts: Iterable[int] = np.bincount(found, minlength=len(values)) if values else []
        made = ValueRows(self.key, values, [*accumulate(map(int, counts))], rows)
        meta = {
            "first_bad": None,
            "samples": self.samples,
            "values": [encode_value(one) for one in values],
            "ends": made.ends,
        }
        store_arrays(self.cache, self.fingerprint, {"rows": rows}, meta)
        return made
