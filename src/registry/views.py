"""Views over a samples file: order and choice order, computed once and stored.

The shuffles are those of the loaders: `random.Random(seed).shuffle` for files,
`numpy.random.default_rng(seed).permutation` for the Hub, and for choices one
`random.Random(seed)` that walks the samples in the view's order.
"""

from __future__ import annotations

import contextlib
import random
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from registry.cache import FORMAT
from registry.canonical import digest_of
from registry.dataset import shuffle_positions
from registry.errors import CacheError
from registry.letters import index_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from registry.cache import Cache, CacheEntry
    from registry.sample_file import SampleFile

__all__ = ["Order", "ViewArrays", "choice_orders", "open_view", "row_order"]

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
    key = {"format": FORMAT, "samples": samples, "choices": choice_seed}
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
    rows = list(range(count))
    random.Random(seed).shuffle(rows)
    return np.array(rows, dtype=np.int64)


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
    targets = _targets(file)
    orders = np.zeros(file.choices, dtype=np.int32)
    first_bad = None
    for index, row in enumerate(range(file.rows) if rows is None else rows.tolist()):
        start, end = starts[row], starts[row + 1]
        if start == end:
            continue
        orders[start:end] = shuffle_positions(end - start, rng)
        if first_bad is None and not _fits(targets(row), end - start):
            first_bad = index
    return orders, first_bad


def _targets(file: SampleFile) -> Callable[[int], list[str]]:
    """Return the function that gives the targets of a row."""
    columns = [file.whole_batch(number) for number in range(file.batch_count)]
    single = [one for batch in columns for one in batch.column("target").to_pylist()]
    several = [one for batch in columns for one in batch.column("targets").to_pylist()]
    return lambda row: several[row] if single[row] is None else [single[row]]


def _fits(letters: list[str], count: int) -> bool:
    try:
        return all(index_of(letter) < count for letter in letters)
    except ValueError:
        return False


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
