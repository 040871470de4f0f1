"""The rows of each value of a metadata key, found once and stored beside the samples."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from registry.base.cache_access import CACHE_FORMAT
from registry.base.digest import canonical_json, decode_value, digest_of, encode_value
from registry.errors import DamagedEntryError, ExpectationError, did_you_mean, list_names
from registry.store.checked_file import StoredArray, open_array, store_arrays
from registry.store.lazy import LazyModule

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from registry.cache.cache import Cache, CacheEntry
    from registry.store.reader import SampleFile
else:
    np = LazyModule("numpy")

__all__ = ["ValueRows", "selected_rows", "value_rows"]

_NAMED = 10


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
        rows = open_array(self.cache, entry, "rows", "q", self.file.rows, self._rows)
        values = [decode_value(one) for one in entry.meta["values"]]
        return ValueRows(self.key, values, entry.meta["ends"], rows)

    def _rows(self) -> NDArray[np.int64]:
        return np.asarray(self.compute().rows)

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
