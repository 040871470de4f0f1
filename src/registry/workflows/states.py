"""Which datasets are cached and pinned, and which use what is in the cache, without a request."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from registry.boundary.paths import fixed_folder
from registry.cache.contents import Item
from registry.errors import RegistryError
from registry.lockfile.pinned import pin_sources, state_of
from registry.pipeline.fingerprint import parts_fingerprint, pin_all, samples_fingerprint
from registry.pipeline.plan import first_samples, plan
from registry.sources.pins import SourceContext, UnknownDigestError

if TYPE_CHECKING:
    from registry.base.materials import State
    from registry.boundary.boundary import Boundary
    from registry.cache.cache import Cache, CacheEntry
    from registry.catalog.catalog import Catalog
    from registry.lockfile.models import Lock, Pin
    from registry.lockfile.pinned import SourcePinner
    from registry.manifest.models import DatasetSpec

__all__ = ["CacheUsage", "DatasetState", "cache_usage", "samples_of", "states_of"]

_MOST_READ = 1 << 24
"""At most so many bytes of local files are read for their digests, over all datasets."""


class DatasetState(Struct, frozen=True, kw_only=True):
    """What is cached and pinned of a dataset."""

    samples: int | None
    """Number of its samples, as its pin, the cache or `expect` tells; None if none does."""
    bytes: int | None
    """Size of its samples in the cache."""
    cached: bool | None
    """Whether its samples are in the cache; None if only reading much of its files would tell."""
    state: State
    """How far its samples are determined."""
    locked: bool
    """Whether datasets.lock has a pin or a commit for it."""
    stale: bool
    """Whether that is for an older manifest, or of a newer release."""
    newer: bool = False
    """Whether a newer release of this package wrote it: nothing is wrong with the manifest."""
    version: str | None = None
    """Version in that pin, such as `2-A`."""

    @property
    def shown(self) -> str:
        """The state as people see it: `stale` if it is locked for an older manifest."""
        if self.newer:
            return "newer"
        return "stale" if self.stale else self.state


def states_of(
    specs: Iterable[DatasetSpec], cache: Cache, lock: Lock | None, *, boundary: Boundary
) -> dict[str, DatasetState]:
    """Return the state of each dataset by its name; makes no request."""
    samples = _CachedSamples(cache, boundary)
    found = {}
    for spec in specs:
        pin = None if lock is None else lock.pins.get(spec.name)
        row = pin if pin is not None or lock is None else lock.commits.get(spec.name)
        agrees = row is not None and row.agrees(spec)
        reviewed = pin if agrees else None
        cached, entry = samples.find(spec, pin)
        found[spec.name] = DatasetState(
            samples=samples_of(spec, reviewed, entry),
            bytes=None if entry is None else entry.size,
            cached=cached,
            state="verified" if reviewed else state_of(spec, None),
            locked=row is not None,
            stale=row is not None and not agrees,
            newer=row is not None and row.is_newer,
            version=None if pin is None else pin.version,
        )
    return found


def samples_of(spec: DatasetSpec, pin: Pin | None, entry: CacheEntry | None) -> int | None:
    """Return how many samples it has, by a pin of this manifest, the cache or `expect`, or None."""
    if spec.view.only is not None:
        return None
    if pin is not None:
        return pin.samples
    found = spec.expect.samples if entry is None else entry.meta["samples"]
    limit = spec.view.limit
    return min(found, limit) if isinstance(found, int) and limit is not None else found


class _CachedSamples:
    """Looks for the samples of datasets, and reads only so many bytes for that."""

    def __init__(self, cache: Cache, boundary: Boundary) -> None:
        self._cache = replace(cache, passive=True)
        self._boundary = boundary
        self._left = _MOST_READ
        # Without entries no fingerprint has to be computed, which takes most of the time.
        self._is_empty = next(self._cache.entries("samples"), None) is None

    def find(self, spec: DatasetSpec, pin: Pin | None) -> tuple[bool | None, CacheEntry | None]:
        """Return whether the samples of a dataset are cached, None for unknown, and the entry."""
        if self._is_empty:
            return False, None
        try:
            return self._find(spec, pin, whole=False)
        except UnknownDigestError:
            pass  # of a local file that was written just before its digest was noted, or later
        except RegistryError:  # only a request could tell, or nothing: a source is invalid
            return False, None
        locations = [one for source in spec.all_sources for one in source.paths()]
        if not all(one.is_local for one in locations):  # it was never downloaded
            return False, None
        try:
            is_read = self._may_read([one.local_path() for one in locations])
            return self._find(spec, pin, whole=True) if is_read else (None, None)
        except (RegistryError, OSError):
            return False, None

    def _find(
        self, spec: DatasetSpec, pin: Pin | None, *, whole: bool
    ) -> tuple[bool, CacheEntry | None]:
        context = SourceContext(
            boundary=self._boundary,
            cache=self._cache,
            offline=True,
            whole=whole,
            lock=pin_sources(spec, pin),
        )
        entry = plan(spec, context).entry
        return entry is not None, entry

    def _may_read(self, paths: Sequence[str]) -> bool:
        """Return whether few enough bytes of files are left to read, and count them.

        Raises:
            OSError: a file does not exist.
        """
        # What a glob matches, or a folder has, would have to be listed first.
        if any(fixed_folder(path) != path for path in paths):
            return False
        states = [os.stat(path) for path in paths]
        size = sum(state.st_size for state in states)
        if size > self._left or not all(stat.S_ISREG(state.st_mode) for state in states):
            return False
        self._left -= size
        return True


@dataclass
class CacheUsage:
    """What the datasets of a catalog use, as far as it is known without a request."""

    names: dict[str, list[str]] = field(default_factory=dict)
    """Key of samples, records or a blob → the datasets that use it."""
    revisions: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """Repository and commit of records, of which a part may be cached → the same."""
    parts: dict[tuple[str, int], list[str]] = field(default_factory=dict)
    """Location and limit of datasets that need only the first samples → the same."""
    locations: dict[str, list[str]] = field(default_factory=dict)
    """Location of a dataset, or path of one of its sources → the same."""
    unknown: dict[str, RegistryError] = field(default_factory=dict)
    """Datasets for which only a request, or a valid manifest, could tell what they use."""

    def users(self, item: Item) -> list[str]:
        """Return the datasets that use an item, sorted."""
        meta = item.meta
        key = meta["samples"] if item.kind in ("views", "exports") else item.key
        found = set(self.names.get(key.removeprefix("sha256:"), ()))
        if item.kind == "records":
            commit = str(meta.get("source")), str(meta.get("revision"))
            found.update(self.revisions.get(commit, ()))
        if meta.get("limit") is not None:
            # What identifies them is known to the server only, so an old part counts too.
            found.update(self.parts.get((str(meta["source"]), meta["limit"]), ()))
        return sorted(found)

    def may_use(self, item: Item) -> bool:
        """Return whether a dataset uses an item, or may, if what it uses is unknown."""
        if self.users(item):
            return True
        if item.kind == "blobs":  # which don't say what they are
            return bool(self.unknown)
        located = self.locations.get(str(item.meta.get("source")), [])
        return not self.unknown.keys().isdisjoint([item.meta.get("name"), *located])


def cache_usage(
    names: Iterable[str], catalog: Catalog, cache: Cache, pin_sources: SourcePinner
) -> CacheUsage:
    """Return which items of the cache the named datasets use; makes no request."""
    usage = CacheUsage()
    cache = replace(cache, passive=True)
    for name in names:
        try:
            _add(name, usage, catalog, cache, pin_sources)
        except RegistryError as error:
            usage.unknown[name] = error
    return usage


def _add(
    name: str, usage: CacheUsage, catalog: Catalog, cache: Cache, pin_sources: SourcePinner
) -> None:
    spec = catalog[name]
    for location in {spec.location, *(str(source.path) for source in spec.all_sources)}:
        usage.locations.setdefault(location, []).append(name)
    lock, boundary = pin_sources(spec), catalog.boundary
    context = SourceContext(boundary=boundary, cache=cache, offline=True, lock=lock)
    limit = first_samples(spec)
    if limit is not None:
        usage.parts.setdefault((spec.location, limit), []).append(name)
    decided = plan(spec, context)
    keys = {decided.fingerprint}
    pins = decided.pins
    # The first samples have a key of their own; all of them may be cached too.
    with contextlib.suppress(UnknownDigestError):
        pins = pin_all(spec, replace(context, whole=False))
        keys |= {*filter(None, (samples_fingerprint(spec, pins), parts_fingerprint(spec, pins)))}
    sources = pins.all_sources
    files = [file for one in sources for file in (*one.files, *one.contents)]
    keys |= {file.sha256 for file in files} | {file.parts.sha256 for file in files if file.parts}
    keys |= {one.digest for one in sources}
    for key in keys:
        usage.names.setdefault(key.removeprefix("sha256:"), []).append(name)
    for source, pin in zip(spec.sources, pins.sources, strict=True):
        if pin.revision is not None:
            usage.revisions.setdefault((str(source.path), pin.revision), []).append(name)
