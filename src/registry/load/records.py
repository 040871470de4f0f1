"""Read records of a dataset's sources, and map some of them; nothing is cached."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from registry.manifest.resolve import spec_of_source
from registry.pipeline.fingerprint import pin_all
from registry.progress import counted
from registry.sources.pins import Pins, SourceContext, SourcePin
from registry.sources.source_type import reader_of, records_of

if TYPE_CHECKING:
    from pathlib import Path

    from registry.boundary.boundary import Boundary
    from registry.cache.cache import Cache
    from registry.lockfile.pinned import PinnedSources
    from registry.manifest.models import DatasetSpec
    from registry.samples.sample import DatasetRecord, Sample

__all__ = ["inspect_source", "preview_records", "read_records"]


def preview_records(
    spec: DatasetSpec, cache: Cache, count: int, *, boundary: Boundary
) -> tuple[list[tuple[int, Sample]], dict[str, Any]]:
    """Return the first samples of local files, with the numbers of their records, without view.

    Nothing is cached. The second item describes them as `meta.json` does a cached dataset.
    """
    from registry.pipeline.open import Opening, finisher
    from registry.pipeline.preview import preview_samples

    context = SourceContext(boundary=boundary, cache=cache, offline=True)
    samples, meta = preview_samples(spec, pin_all(spec, context), context, count)
    finish = finisher(Opening.of(spec, boundary)) or (lambda sample: sample)
    return [(number, finish(sample)) for number, sample in samples], meta


def read_records(
    spec: DatasetSpec,
    cache: Cache,
    numbers: Collection[int],
    *,
    boundary: Boundary,
    offline: bool = True,
    lock: PinnedSources | None = None,
    pins: Pins | None = None,
) -> dict[int, DatasetRecord]:
    """Return records of a dataset's sources by their numbers, from 1.

    All before the last of the numbers are read too. `pins` are the versions of the sources that
    the samples were built from; None for the current ones.

    Raises:
        SourceError: a source can't be read, or is no longer what the samples were built from.
    """
    from registry.pipeline.preview import records_numbered

    context = SourceContext(
        boundary=boundary, cache=cache, offline=offline, lock=lock, dataset=spec.name
    )
    return records_numbered(spec, pins or pin_all(spec, context), context, numbers)


def inspect_source(
    source: Mapping[str, Any], folder: Path, context: SourceContext, most: int | None = None
) -> tuple[SourcePin, list[DatasetRecord]]:
    """Return the pin and the first records of a source that has no manifest yet.

    `most` is how many records are read; None for all.
    """
    resolved = spec_of_source(source, folder)
    pinned = reader_of(resolved).pin(context)
    records = islice(records_of(resolved, pinned, context), most)
    return pinned, list(counted(records, context.report))
