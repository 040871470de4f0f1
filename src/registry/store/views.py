"""Views over a samples file: the order of samples and choices, computed once and stored.

The shuffles equal those of Inspect's loaders: `random.Random(seed).shuffle` for files,
`numpy.random.default_rng(seed).permutation` for the Hub, and for choices one
`random.Random(seed)` that shuffles those of each sample in the order of the view.
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

    from registry.cache.cache import Cache
    from registry.store.reader import SampleFile

__all__ = ["Order", "ViewArrays", "choice_orders", "open_view", "row_order"]

_ROWS_AT_ONCE = 1 << 16
_NO_CHOICE = np.iinfo(np.int32).max

Order = Literal["file", "hub"]
"""`file` shuffles like csv_dataset and json_dataset, `hub` like hf_dataset."""


class ViewArrays(Struct, frozen=True):
    """Arrays of a view; None keeps the order of the file."""

    rows: NDArray[np.int64] | None = None
    """Row in the file of each sample."""
    choices: NDArray[np.int32] | None = None
    """Old positions of each row's choices in their new order, concatenated for all rows."""
    first_bad: int | None = None
    """Position in the view of the first sample whose target is not a letter of its choices."""

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
        cache: Where the arrays are stored.
        samples: Fingerprint of the samples.
        order: Kind of shuffle.
        seed: Seed of the order of samples; None keeps the order of the file.
        choice_seed: Seed of the order of choices; None keeps the order of the file.
    """
    if seed is None and choice_seed is None:
        return ViewArrays()
    # Only what the arrays depend on: datasets that differ in `limit` share a view.
    key = {"format": CACHE_FORMAT, "samples": samples, "choices": choice_seed}
    fingerprint = digest_of({**key, "order": None if seed is None else [order, seed]})
    entry = cache.find("views", fingerprint)
    if entry is not None:
        try:
            arrays = {
                # A plain array over the mapped memory: indexing a `memmap` takes ten times longer.
                name: np.asarray(np.load(entry.folder / f"{name}.npy", mmap_mode="r"))
                for name in ("rows", "choices")
                if f"{name}.npy" in entry.meta["files"]
            }
            return ViewArrays(**arrays, first_bad=entry.meta["first_bad"])
        except (ValueError, OSError):
            cache.quarantine("views", fingerprint)
    rows = None if seed is None else row_order(file.rows, order, seed)
    choices, bad = choice_orders(file, rows, choice_seed)
    # Without a writable cache, the view is computed each time.
    with contextlib.suppress(CacheError), cache.temporary() as folder:
        for name, values in (("rows", rows), ("choices", choices)):
            if values is not None:
                np.save(folder / f"{name}.npy", values)
        cache.publish(folder, "views", fingerprint, {"first_bad": bad, "samples": samples})
    return ViewArrays(rows, choices, bad)


def row_order(count: int, order: Order, seed: int | None) -> NDArray[np.int64]:
    """Return the rows in the order of a loader's shuffle; without a seed, a random order."""
    if order == "hub":
        if seed is None:
            # `datasets.Dataset.shuffle` takes its seed from the global state of numpy like this.
            state: Any = np.random.get_state(legacy=True)  # noqa: NPY002 (the global state)
            keys, position = state[1], state[2]
            np.random.random()  # noqa: NPY002
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
        orders[np.repeat(starts[part], counts) + ranges(counts)] = drawn
    bad = _bad_targets(file, np.diff(starts))[rows]
    return orders, int(bad.argmax()) if bad.any() else None


def _bad_targets(file: SampleFile, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which rows have a target that is not the letter of one of their `counts` choices."""
    bad = np.zeros(len(counts), bool)
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
            bad[owners[_letter_indexes(texts) >= counts[owners]]] = True
    return bad & (counts > 0)


def _letter_indexes(texts: pa.Array) -> NDArray[np.int64]:
    """Return the index of each letter: -1 for a null, `_NO_CHOICE` for any other string."""
    encoded = texts.dictionary_encode()  # targets repeat: few letters in many rows
    indexes = []
    for text in encoded.dictionary.to_pylist():
        try:
            indexes.append(min(index_of(text), _NO_CHOICE))
        except ValueError:
            indexes.append(_NO_CHOICE)
    # The index -1 of a null selects the last item, -1.
    return np.array([*indexes, -1])[to_numpy_int64(encoded.indices.fill_null(-1))]
