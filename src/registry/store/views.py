"""Views over a samples file: order and choice order, computed once and stored.

The shuffles are those of the loaders: `random.Random(seed).shuffle` for files,
`numpy.random.default_rng(seed).permutation` for the Hub, and for choices one
`random.Random(seed)` that walks the samples in the view's order.
"""

from __future__ import annotations

import contextlib
import random
from array import array
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from registry.base.arrow import list_offsets, ranges, to_numpy_int64
from registry.base.cache_format import CACHE_FORMAT
from registry.base.digest import digest_of
from registry.errors import CacheError
from registry.samples.dataset import shuffle_positions
from registry.samples.letters import index_of

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from registry.cache import Cache, CacheEntry
    from registry.store.reader import SampleFile

__all__ = ["Order", "ViewArrays", "choice_orders", "open_view", "row_order"]

_ROWS_AT_ONCE = 1 << 16
_NO_CHOICE = np.iinfo(np.int32).max

Order = Literal["file", "hub"]
"""Whose shuffle: that of csv_dataset and json_dataset, or that of hf_dataset."""


class ViewArrays(Struct, frozen=True):
    """A view's arrays; None keeps the order of the file."""

    rows: NDArray[np.int64] | None = None
    """Row of each sample."""
    choices: NDArray[np.int32] | None = None
    """New order of choices: aligned to the flattened column, old positions of each row."""
    first_bad: int | None = None
    """First sample, in the view's order, with choices and a target that is no letter of them."""

    def limited(self, limit: int | None, count: int) -> ViewArrays:
        """Return the view of the first `limit` of `count` samples."""
        if limit is None or limit >= count:
            return self
        rows = np.arange(limit) if self.rows is None else self.rows[:limit]
        bad = self.first_bad
        return replace(self, rows=rows, first_bad=bad if bad is not None and bad < limit else None)


def open_view(
    file: SampleFile,
    cache: Cache,
    *,
    samples: str,
    order: Order,
    seed: int | None,
    choice_seed: int | None,
) -> ViewArrays:
    """Return the arrays of a view over the samples with the fingerprint `samples`.

    Args:
        file: The samples.
        cache: Where the arrays are kept.
        samples: Fingerprint of the samples.
        order: Whose shuffle.
        seed: Seed of the order, None for the file's.
        choice_seed: Seed of the choices' order, None for the file's.
    """
    if seed is None and choice_seed is None:
        return ViewArrays()
    key = {"format": CACHE_FORMAT, "samples": samples, "choices": choice_seed}
    fingerprint = digest_of({**key, "order": None if seed is None else [order, seed]})
    entry = cache.find("views", fingerprint)
    if entry is not None:
        try:
            return _read(entry)
        except (ValueError, OSError):
            cache.quarantine("views", fingerprint)
    rows = None if seed is None else row_order(file.rows, order, seed)
    choices, bad = choice_orders(file, rows, choice_seed)
    arrays = ViewArrays(rows, choices, bad)
    _publish(cache, fingerprint, arrays)
    return arrays


def row_order(count: int, order: Order, seed: int | None) -> NDArray[np.int64]:
    """Return the rows in the order that a loader's shuffle gives; no seed gives any order."""
    if order == "hub":
        return np.random.default_rng(_global_seed() if seed is None else seed).permutation(count)
    rows = array("q", range(count))  # a fifth of what a list of numbers takes
    random.Random(seed).shuffle(rows)
    return np.asarray(rows)


def _global_seed() -> int:
    """Draw a seed from numpy's global state, as `datasets.Dataset.shuffle` does."""
    state: Any = np.random.get_state(legacy=True)  # noqa: NPY002 (that state it is)
    keys, place = state[1], state[2]
    np.random.random()  # noqa: NPY002
    return int(keys[place] if place < len(keys) else keys[0])


def choice_orders(
    file: SampleFile, rows: NDArray[np.int64] | None, seed: int | None
) -> tuple[NDArray[np.int32] | None, int | None]:
    """Return the choices' orders and the first sample whose target does not fit."""
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
        drawn = [place for count in counts.tolist() for place in shuffle_positions(count, rng)]
        orders[np.repeat(starts[part], counts) + ranges(counts)] = drawn
    bad = _misfits(file, np.diff(starts))[rows]
    return orders, int(bad.argmax()) if bad.any() else None


def _misfits(file: SampleFile, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which rows have so many choices, and a target that is no letter of them."""
    misfits = np.zeros(len(counts), bool)
    first = 0
    for number in range(file.batch_count):
        batch = file.full_batch(number)
        several = batch.column("targets")
        rows = np.arange(first, first + len(batch))
        first += len(batch)
        for texts, owners in (
            (batch.column("target"), rows),
            (several.flatten(), np.repeat(rows, np.diff(list_offsets(several)))),
        ):
            misfits[owners[_letter_indexes(texts) >= counts[owners]]] = True
    return misfits & (counts > 0)


def _letter_indexes(texts: pa.Array) -> NDArray[np.int64]:
    """Return the indexes of letters: -1 of a null, and one beyond any choice of what is none."""
    encoded = texts.dictionary_encode()
    indexes = [_letter_index(text) for text in encoded.dictionary.to_pylist()]
    return np.array([*indexes, -1])[to_numpy_int64(encoded.indices.fill_null(-1))]


def _letter_index(text: str) -> int:
    try:
        return min(index_of(text), _NO_CHOICE)
    except ValueError:
        return _NO_CHOICE


def _publish(cache: Cache, fingerprint: str, arrays: ViewArrays) -> None:
    """Keep a view; a cache that can't be written has it computed each time."""
    with contextlib.suppress(CacheError), cache.temporary() as folder:
        for name in ("rows", "choices"):
            array = getattr(arrays, name)
            if array is not None:
                np.save(folder / f"{name}.npy", array)
        cache.publish(folder, "views", fingerprint, {"first_bad": arrays.first_bad})


def _read(entry: CacheEntry) -> ViewArrays:
    arrays = {
        # A plain array over the mapped memory: to index a `memmap` takes ten times as long.
        name: np.asarray(np.load(entry.folder / f"{name}.npy", mmap_mode="r"))
        for name in ("rows", "choices")
        if f"{name}.npy" in entry.meta["files"]
    }
    return ViewArrays(**arrays, first_bad=entry.meta["first_bad"])
