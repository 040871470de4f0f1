"""A dataset that is about to be written, with what says where it comes from."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from registry.catalog.catalog import display_path
from registry.export.provenance import provenance_of
from registry.load import find_fingerprint, load
from registry.lockfile.pin_cache import read_pin
from registry.lockfile.pinned import pin_sources
from registry.lockfile.spec_digest import spec_digest
from registry.progress import Progress, log_waits, silent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from registry.cache.cache import Cache, CacheEntry
    from registry.catalog.catalog import Catalog
    from registry.manifest.models import DatasetSpec
    from registry.progress import Report
    from registry.samples.sample import Sample
    from registry.settings import Settings
    from registry.store.arrow_dataset import ArrowDataset

__all__ = ["Exported", "open_exported"]


_REPORT_ROWS = 1000


class Exported(Struct, frozen=True, kw_only=True):
    """A dataset that is about to be written."""

    spec: DatasetSpec
    dataset: ArrowDataset
    """Its samples in the order of the view."""
    provenance: dict[str, Any]
    """Where the samples come from, as JSON data; equal on every machine unless it has `files`."""
    entry: CacheEntry
    """The samples in the cache, which may be only the first ones."""
    report: Report = silent
    """Called with the number of samples that were written."""

    def samples(self) -> Iterator[Sample]:
        """Yield the samples in their order, and report how many."""
        for number, sample in enumerate(self.dataset, 1):
            yield sample
            if number % _REPORT_ROWS == 0:
                self.report(Progress("map", number, len(self.dataset)))


def open_exported(
    name: str,
    catalog: Catalog,
    cache: Cache,
    settings: Settings,
    *,
    overrides: Mapping[str, Any] | None = None,
    absolute_files: bool = False,
    report: Report | None = None,
) -> Exported:
    """Open a dataset for an export; it is built first if necessary.

    Args:
        name: The dataset.
        catalog: Its catalog.
        cache: Where samples are stored.
        settings: Whether requests and new pins are allowed.
        overrides: Values that replace those of the view.
        absolute_files: Give files beside a local source the absolute paths of this machine.
        report: Called with the progress of a build.

    Raises:
        RegistryError: as `get_dataset`.
    """
    unmodified = catalog.resolve(name)
    spec = catalog.resolve(name, overrides=overrides) if overrides else unmodified
    pin = read_pin(
        settings.lock_file, name, settings.cache_dir, shown_as=display_path(settings.lock_file)
    )
    lock = pin_sources(unmodified, pin, locked=settings.locked, frozen=settings.frozen)
    if lock is not None and spec != unmodified:
        lock = replace(lock, samples=None)
    is_used = pin is not None and (settings.frozen or pin.agrees(spec_digest(unmodified)))
    open_samples = partial(
        load,
        spec,
        cache,
        boundary=catalog.boundary,
        offline=settings.offline,
        lock=lock,
        report=report,
    )
    with catalog.locating(name):
        result = open_samples()
        fingerprint = result.entry.meta["fingerprint"]
        if result.entry.meta["limit"] is not None:
            # Whether only the first samples were built depends on what the cache had before; the
            # fingerprint in a file must not.
            fingerprint, _ = find_fingerprint(spec, cache, lock, boundary=catalog.boundary)
            if not fingerprint:
                result = open_samples(full=True)
                fingerprint = result.entry.meta["fingerprint"]
    provenance = provenance_of(spec, pin if is_used else None, fingerprint, len(result.dataset))
    if absolute_files:
        # The bytes then depend on the folder, and so must the key of the export.
        provenance["files"] = spec.source.base_location
    return Exported(
        spec=spec,
        dataset=result.dataset if absolute_files else result.dataset.as_stored(),
        provenance=provenance,
        entry=result.entry,
        report=report or log_waits(name),
    )
