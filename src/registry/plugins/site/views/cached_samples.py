"""The samples of a dataset that are on this machine: those of the cache, or a preview."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from registry import Catalog, SourceError
from registry.api import (
    ArrowDataset,
    Cache,
    CacheEntry,
    DatasetRecord,
    DatasetSpec,
    Opening,
    PinnedSources,
    find_fingerprint,
    open_entry,
    preview_records,
    quality_warnings,
    read_records,
    sample_warnings,
    svg,
)
from registry.plugins.site.text import visible
from registry.plugins.site.views.dataset_view import DatasetView

__all__ = ["SampleSource", "sample_count", "warnings_of"]

_LAST_RECORD = 5_000
"""A record is found by reading all before it."""


@dataclass(frozen=True, kw_only=True)
class SampleSource:
    """Finds samples of a dataset without a request or a build."""

    spec: DatasetSpec
    catalog: Catalog
    cache: Cache
    lock: PinnedSources | None
    first: int
    """The number of the first sample to show."""
    most: int
    """How many samples to show."""

    def cached(self, view: DatasetView) -> DatasetView | None:
        """Add samples of the cache, and plots beside the first ones; None if they are not there."""
        fingerprint, entry = find_fingerprint(
            self.spec, self.cache, self.lock, boundary=self.catalog.boundary
        )
        if entry is None:
            return None
        opening = Opening.of(self.spec, self.catalog.boundary)
        # As stored: a page that is published must not show the paths of this machine.
        dataset = open_entry(opening, entry, self.cache, fingerprint).as_stored()
        chosen = range(len(dataset))[self.first - 1 : self.first - 1 + self.most]
        return replace(
            view,
            samples=tuple(dataset[chosen.start : chosen.stop]),
            first=self.first,
            records=self._records(dataset.records_at(chosen), self.lock),
            total=len(dataset),
            plots=_plots(dataset) if self.first == 1 else (),
            warnings=warnings_of(self.spec, entry),
        )

    def preview(self, view: DatasetView) -> DatasetView:
        """Add samples made of local files, without the order that the view of the spec has."""
        if any(source.is_remote for source in self.spec.sources):
            return view
        before = self.first - 1
        pairs, meta = preview_records(
            self.spec, self.cache, before + self.most, boundary=self.catalog.boundary
        )
        return replace(
            view,
            samples=tuple(sample for _, sample in pairs[before:]),
            first=self.first,
            records=self._records([number for number, _ in pairs[before:]], None),
            warnings=tuple(one.message for one in quality_warnings(self.spec, meta)),
        )

    def _records(
        self, numbers: Sequence[int], lock: PinnedSources | None
    ) -> tuple[tuple[int, DatasetRecord] | None, ...]:
        """Return the records of samples: those on this machine that are near the start."""
        near = [number for number in numbers if number <= _LAST_RECORD]
        try:
            records = read_records(
                self.spec, self.cache, near, boundary=self.catalog.boundary, lock=lock
            )
        except SourceError:  # only samples are cached, not what they were made of
            return ()
        return tuple((one, records[one]) if one in records else None for one in numbers)


def sample_count(entry: CacheEntry, spec: DatasetSpec) -> int:
    """Return the number of samples that the view has."""
    count: int = entry.meta["samples"]
    return count if spec.view.limit is None else min(count, spec.view.limit)


def warnings_of(spec: DatasetSpec, entry: CacheEntry) -> tuple[str, ...]:
    """Return what is odd about cached samples."""
    return tuple(one.message for one in sample_warnings(spec, entry))


def _plots(dataset: ArrowDataset) -> tuple[Markup, ...]:
    """Return the plots of a dataset as SVG, which has escaped the labels."""
    return tuple(
        Markup(visible(svg(plot)))  # nosec B704 # noqa: S704
        for plot in dataset.describe().plots()
    )
