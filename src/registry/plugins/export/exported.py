"""A dataset that is about to be written, with what says where it comes from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from registry.api import Progress, log_waits, silent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry import Sample
    from registry.api import (
        ArrowDataset,
        CacheEntry,
        DatasetCall,
        DatasetSpec,
        LoadResult,
        Provenance,
        Report,
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
    asked: DatasetCall, *, absolute_files: bool = False, report: Report | None = None
) -> Exported:
    """Open a dataset for an export; it is built first if necessary.

    Args:
        asked: The dataset.
        absolute_files: Give files beside a local source the absolute paths of this machine.
        report: Called with the progress of a build.

    Raises:
        RegistryError: as `get_dataset`.
    """
    spec, (result, fingerprint) = asked.spec, _open(asked, report)
    dataset = result.dataset
    provenance = replace(dataset.provenance, fingerprint=fingerprint, catalog=None)
    return Exported(
        spec=spec,
        dataset=dataset if absolute_files else dataset.as_stored(),
        provenance=provenance,
        files=spec.source.base_location if absolute_files else None,
        entry=result.entry,
        report=report or log_waits(asked.name),
    )


def _open(asked: DatasetCall, report: Report | None) -> tuple[LoadResult, str]:
    """Open a dataset; return it with the fingerprint of all samples of its source.

    Whether only the first samples were built depends on what the cache had before; the fingerprint
    in a file must not.
    """
    result = asked.load(report)
    if result.entry.meta["limit"] is not None:
        fingerprint, _ = asked.find()
        if fingerprint:
            return result, fingerprint
        result = asked.load(report, full=True)
    return result, result.entry.meta["fingerprint"]


def provenance_text(provenance: Provenance) -> str:
    """Return a provenance as JSON on one line."""
    return json.dumps(provenance.as_data(), ensure_ascii=False, separators=(",", ":"))
