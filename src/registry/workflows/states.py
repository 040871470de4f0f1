"""Which datasets are cached and pinned, without a request and reading little of their files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from registry.boundary.paths import fixed_folder
from registry.errors import RegistryError
from registry.lockfile.pinned import pin_sources, state_of
from registry.pipeline.plan import plan
from registry.sources.pins import SourceContext, UnknownDigestError

if TYPE_CHECKING:
    from registry.base.materials import State
    from registry.boundary.boundary import Boundary
    from registry.cache.cache import Cache, CacheEntry
    from registry.lockfile.models import Lock, Pin
    from registry.manifest.models import DatasetSpec

__all__ = ["DatasetState", "states_of"]

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
        stale = row is not None and not row.agrees(spec)
        cached, entry = samples.find(spec, pin)
        found[spec.name] = DatasetState(
            samples=_number(spec, entry) if pin is None or stale else pin.samples,
            bytes=None if entry is None else entry.size,
            cached=cached,
            state=state_of(spec, pin),
            locked=row is not None,
            stale=stale,
            newer=row is not None and row.is_newer,
            version=None if pin is None else pin.version,
        )
    return found


def _number(spec: DatasetSpec, entry: CacheEntry | None) -> int | None:
    """Return how many of the samples, cached or expected, are left in the view, if it is known."""
    found = spec.expect.samples if entry is None else entry.meta["samples"]
    if spec.view.only is not None:
        return None
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
