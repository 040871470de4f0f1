"""A dataset that is about to be written, with what says where it comes from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from registry.api import (
    Progress,
    find_fingerprint,
    load,
    log_waits,
    pinned_sources,
    silent,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from registry import Catalog, Sample
    from registry.api import (
        ArrowDataset,
        Cache,
        CacheEntry,
        DatasetSpec,
        PinnedSources,
        Provenance,
        Report,
        Settings,
    )

__all__ = ["PROVENANCE_KEY", "Exported", "open_exported", "provenance_text"]

_REPORT_ROWS = 1000
PROVENANCE_KEY = "registry"
"""Key of the provenance in the metadata of Arrow and Parquet schemas."""


class Exported(Struct, frozen=True, kw_only=True):
    """A dataset that is about to be written."""

    spec: DatasetSpec
    dataset: ArrowDataset
    """Its samples in the order of the view."""
    provenance: Provenance
    """Where the samples come from, without the commit of the catalog, as most don't concern it."""
    files: str | None = None
    """The location that names of files were made absolute by."""
    entry: CacheEntry
    """The samples in the cache, which may be only the first ones."""
    report: Report = silent
    """Called with the number of samples that were written."""

    @property
    def name(self) -> str:
        """The dataset, or the member of a group."""
        return self.provenance.name or self.spec.name

    def samples(self) -> Iterator[Sample]:
        """Yield the samples in their order, and report how many."""
        for number, sample in enumerate(self.dataset, 1):
            yield sample
            if number % _REPORT_ROWS == 0:
                self.report(Progress("write", number, len(self.dataset)))


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
    spec = catalog.resolve(name, overrides=overrides)
    lock = pinned_sources(spec, catalog, settings, overrides=overrides)
    with catalog.locating(spec.name):
        dataset, entry, fingerprint = _open(
            spec, cache, lock, boundary=catalog.boundary, offline=settings.offline, report=report
        )
    if catalog.is_member(name):
        dataset.rename(name)
    provenance = replace(dataset.provenance, fingerprint=fingerprint, catalog=None)
    return Exported(
        spec=spec,
        dataset=dataset if absolute_files else dataset.as_stored(),
        provenance=provenance,
        files=spec.source.base_location if absolute_files else None,
        entry=entry,
        report=report or log_waits(name),
    )


def _open(
    spec: DatasetSpec, cache: Cache, lock: PinnedSources | None, **options: Any
) -> tuple[ArrowDataset, CacheEntry, str]:
    """Open a dataset; return it with its entry and the fingerprint of all samples of its source.

    Whether only the first samples were built depends on what the cache had before; the fingerprint
    in a file must not.
    """
    result = load(spec, cache, lock=lock, **options)
    if result.entry.meta["limit"] is not None:
        fingerprint, _ = find_fingerprint(spec, cache, lock, boundary=options["boundary"])
        if fingerprint:
            return result.dataset, result.entry, fingerprint
        result = load(spec, cache, lock=lock, full=True, **options)
    return result.dataset, result.entry, result.entry.meta["fingerprint"]


def provenance_text(provenance: Provenance) -> str:
    """Return a provenance as JSON on one line."""
    return json.dumps(provenance.as_data(), ensure_ascii=False, separators=(",", ":"))
