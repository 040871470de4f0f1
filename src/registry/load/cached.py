"""Look up what the cache has of a dataset; nothing is built, and no request made."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from registry.errors import LockError, SourceError
from registry.lockfile.pinned import known_sources
from registry.pipeline.fingerprint import find_all, pin_all, samples_fingerprint
from registry.pipeline.plan import first_samples, plan
from registry.sources.pins import SourceContext

if TYPE_CHECKING:
    from registry.base.materials import SamplesId
    from registry.boundary.boundary import Boundary
    from registry.cache.cache import Cache, CacheEntry
    from registry.lockfile.models import Pin
    from registry.lockfile.pinned import PinnedSources
    from registry.manifest.models import DatasetSpec
    from registry.pipeline.expectations import QualityWarning
    from registry.store.arrow_dataset import ArrowDataset

__all__ = [
    "find_fingerprint",
    "find_samples_id",
    "open_cached",
    "open_found",
    "open_pinned",
    "sample_warnings",
]


def find_fingerprint(
    spec: DatasetSpec,
    cache: Cache,
    lock: PinnedSources | None = None,
    *,
    boundary: Boundary,
    code: str | None = None,
) -> tuple[str, CacheEntry | None]:
    """Return what identifies the samples of a dataset, and the cached ones; makes no request.

    The fingerprint is empty if it depends on what only a request can tell. The cached ones may be
    the first ones alone, if these are enough. `code` is the digest of the mapper's package, in
    place of that which is installed.
    """
    context = SourceContext(boundary=boundary, cache=cache, offline=True, lock=lock)
    fingerprint, entry = "", None
    with suppress(SourceError, LockError):
        pins = pin_all(spec, context)
        known = pins if code is None else replace(pins, code=code)
        _, entry = find_all(spec, known, partial(cache.find, "samples"))
        fingerprint = samples_fingerprint(spec, known)
    if entry is None and code is None and first_samples(spec) is not None:
        with suppress(SourceError, LockError):
            entry = plan(spec, context).entry
    return fingerprint, entry


def open_cached(
    spec: DatasetSpec,
    cache: Cache,
    lock: PinnedSources | None = None,
    *,
    boundary: Boundary,
    code: str | None = None,
) -> ArrowDataset | None:
    """Open a dataset if its samples are cached, else return None; as `find_fingerprint`."""
    _, entry = find_fingerprint(spec, cache, lock, boundary=boundary, code=code)
    return None if entry is None else open_found(spec, cache, entry, boundary=boundary)


def open_found(
    spec: DatasetSpec, cache: Cache, entry: CacheEntry, *, boundary: Boundary
) -> ArrowDataset:
    """Open the cached samples that were found for a dataset."""
    from registry.pipeline.open import Opening, open_entry

    return open_entry(Opening.of(spec, boundary), entry, cache, entry.meta["fingerprint"])


def open_pinned(
    spec: DatasetSpec, cache: Cache, pin: Pin, *, boundary: Boundary
) -> ArrowDataset | None:
    """Open the cached samples of a pin, by it alone: the files may have changed since."""
    lock = replace(known_sources(spec, pin), complete=True, any_branch=True, compare=False)
    return open_cached(spec, cache, lock, boundary=boundary)


def find_samples_id(
    spec: DatasetSpec, cache: Cache, lock: PinnedSources | None = None, *, boundary: Boundary
) -> SamplesId | None:
    """Return which samples a dataset has, if they are cached; all of them are read."""
    from registry.load.materials import samples_id_with_named

    _, entry = find_fingerprint(spec, cache, lock, boundary=boundary)
    if entry is None:
        return None
    dataset = open_found(spec, cache, entry, boundary=boundary)
    context = SourceContext(boundary=boundary, cache=cache, offline=True)
    return samples_id_with_named(spec, dataset, entry.meta["columns"], context)


def sample_warnings(spec: DatasetSpec, entry: CacheEntry) -> list[QualityWarning]:
    """Return what is questionable in cached samples, and not accepted by the manifest."""
    # Imported here: a warm open must not pay for it.
    from registry.pipeline.expectations import quality_warnings

    return quality_warnings(spec, entry.meta)
