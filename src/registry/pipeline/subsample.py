"""The key `sample`: a fixed, optionally stratified subsample of a file, in file order."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from registry.base.arrow import int64_array
from registry.mapping.row import MISSING, get_column, no_column
from registry.store.reader import SampleFile

if TYPE_CHECKING:
    from registry.manifest.models import Subsample

__all__ = ["select"]


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
