"""A dataset as a call asks for it, which every door makes and opens in the same way."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from registry.base.locations import Location
from registry.base.process_state import cached_property
from registry.cache.cache import Cache
from registry.catalog.catalog import Catalog
from registry.errors import LockError, LockStaleError, SourceError
from registry.load.load import find_fingerprint, load, open_found
from registry.lockfile.pin_cache import CatalogPins
from registry.lockfile.pinned import PinnedSources, for_call
from registry.lockfile.spec_digest import location_in, portable
from registry.manifest.models import without_corrections
from registry.settings import Settings

if TYPE_CHECKING:
    from registry.boundary.boundary import Boundary
    from registry.cache.cache import CacheEntry
    from registry.manifest.models import DatasetSpec
    from registry.pipeline.execute import LoadResult
    from registry.progress import Report
    from registry.samples.sample import DatasetRecord
    from registry.sources.pins import Pins
    from registry.store.arrow_dataset import ArrowDataset

__all__ = ["DatasetCall", "OpenCatalog"]


class _Parts(NamedTuple):
    catalog: Catalog
    cache: Cache
    settings: Settings


class OpenCatalog(_Parts):
    """A catalog with the cache and the settings of a call."""

    @classmethod
    def of(cls, settings: Settings, **how: Any) -> OpenCatalog:
        """Open the catalog of the settings; `how` are arguments of `Catalog.open`."""
        return cls(Catalog.open(settings=settings, **how), Cache(settings.cache_dir), settings)

    @property
    def pins(self) -> CatalogPins:
        """The pins of its datasets; a LockError for a lockfile that is invalid."""
        if isinstance(self._pins, LockError):
            raise self._pins.with_traceback(None)
        return self._pins

    @cached_property
    def _pins(self) -> CatalogPins | LockError:
        try:
            return CatalogPins.read(self.catalog, self.settings)
        except LockError as error:  # not read again for each dataset
            return error

    def call_of(
        self, name: str, overrides: Mapping[str, Any] | None = None, *, source: str | None = None
    ) -> DatasetCall:
        """Return a dataset, or a member of a group, with choices in place of its manifest's.

        Args:
            name: As for `get_dataset`.
            overrides: Arguments of `get_dataset` that count in place of keys of the manifest.
            source: A path or URL to read in place of the manifest's.

        Raises:
            RegistryError: there is no such dataset, it can't be used, or the settings require a pin
                that is not there.
        """
        spec = self.catalog.resolve(name, overrides=overrides, source=source)
        boundary = self.catalog.boundary
        if source is not None:
            from registry.boundary.paths import allow_location  # few calls name one

            # It is the user's own word, and the rest of the manifest is not.
            boundary = allow_location(boundary, Location(source))
        shown = spec.name
        if self.catalog.is_member(name):
            is_as_named = self.catalog.named(name) == spec.name
            shown = name if is_as_named else f"{name}:{spec.name.partition(':')[2]}"
        return DatasetCall(
            name=shown,
            spec=spec,
            opened=self,
            boundary=boundary,
            lock=self._pinned(spec, overrides or {}, source),
            source=source,
        )

    def _pinned(
        self, spec: DatasetSpec, overrides: Mapping[str, Any], source: str | None
    ) -> PinnedSources | None:
        """Return what the lockfile pins for a call; None means the current sources are used.

        A member of a group has the pin of its dataset. A pin belongs to the manifest. It remains
        valid for overrides of the view, but not for overrides that select other data. Examples that
        a call asks for have the pin of their dataset.
        """
        # A split that the manifest declares is the dataset itself.
        selecting = ("revision",) if spec.split is not None else ("split", "revision")
        other_data = [key for key in selecting if key in overrides]
        other_data += [] if source is None else ["source"]
        if other_data:
            if self.settings.locked or self.settings.frozen:
                message = f"`{other_data[0]}` selects data that datasets.lock does not pin"
                raise LockStaleError(spec.name, f"{message} (omit it, or `locked` and `frozen`)")
            return None
        is_view = overrides or spec.view.only is not None
        unmodified = self.catalog.resolve(spec.name) if is_view else spec
        lock = for_call(self.pins.sources(unmodified), unmodified=unmodified, spec=spec)
        if lock is None or spec.companion is None:
            return lock
        own = unmodified.companion and without_corrections(unmodified.companion)
        if without_corrections(spec.companion) == own:  # the pin has what it is made of
            return lock
        return self._with_companion(lock, spec.companion)

    def _with_companion(self, lock: PinnedSources, companion: DatasetSpec) -> PinnedSources:
        """Add what the lockfile pins for the dataset that a call takes examples from."""
        if companion.name == lock.dataset:  # another split: of the same commit, or of other files
            own = None
        else:
            own = self.pins.sources(self.catalog.resolve(companion.name))
        strict = self.settings.locked or self.settings.frozen
        if own is None:
            return replace(lock, complete=strict, reviewed=None)
        rows = tuple(
            replace(row, location=portable(location_in(own.folder, row.location), lock.folder))
            for row in own.sources
        )
        complete = strict or (lock.complete and own.complete)
        reviewed = lock.reviewed if own.reviewed is not None else None
        return replace(
            lock, sources=(*lock.sources, *rows), complete=complete, named=False, reviewed=reviewed
        )


class DatasetCall(Struct, frozen=True, kw_only=True):
    """A dataset as a call asks for it, with the rules by which it is opened."""

    name: str
    """Of the dataset, or as it was asked for: the member of a group."""
    spec: DatasetSpec
    opened: OpenCatalog
    boundary: Boundary
    """What it may reach: what the catalog may, and the source that the call names."""
    lock: PinnedSources | None
    """What the lockfile pins of it."""
    source: str | None = None
    """The source that the call names."""

    def made_of_it(self, spec: DatasetSpec) -> DatasetCall:
        """Return a call of other samples that are made of the same bytes, without a pin."""
        lock = self.lock and replace(self.lock, samples=None)
        return replace(self, name=spec.name, spec=spec, lock=lock)

    def load(
        self, report: Report | None = None, *, refresh: bool = False, full: bool = False
    ) -> LoadResult:
        """Open the samples; what is not cached is built. Arguments and errors as for `load`."""
        catalog, cache, settings = self.opened
        with catalog.locating(self.spec.name):
            try:
                result = load(
                    self.spec,
                    cache,
                    boundary=self.boundary,
                    offline=settings.offline,
                    refresh=refresh,
                    full=full,
                    lock=self.lock,
                    report=report,
                )
            except SourceError as error:
                if self.source is None:
                    raise
                from registry.sources.filesystem import missing_argument

                raise missing_argument(error).with_traceback(None) from error.__cause__
        if self.name != self.spec.name:
            result.dataset.rename(self.name)
        return result

    def find(self) -> tuple[str, CacheEntry | None]:
        """Return `find_fingerprint` of it; makes no request."""
        return find_fingerprint(self.spec, self.opened.cache, self.lock, boundary=self.boundary)

    def open_found(self, entry: CacheEntry) -> ArrowDataset:
        """Open the cached samples that `find` has found."""
        return open_found(self.spec, self.opened.cache, entry, boundary=self.boundary)

    def records(
        self, numbers: Collection[int], pins: Pins | None = None, *, offline: bool = True
    ) -> dict[int, DatasetRecord]:
        """Return `read_records` of it."""
        from registry.pipeline.preview import read_records  # few calls read any

        with self.opened.catalog.locating(self.spec.name):
            return read_records(
                self.spec,
                self.opened.cache,
                numbers,
                boundary=self.boundary,
                offline=offline,
                lock=self.lock,
                pins=pins,
            )
