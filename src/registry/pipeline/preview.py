"""Read records of a dataset's sources, and map some of them; nothing is cached."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from registry.errors import SourceError, count_text
from registry.manifest.resolve import spec_of_source
from registry.mapping.columns_used import UnreadColumns
from registry.pipeline.diagnosis import check_columns, check_not_empty
from registry.pipeline.execute import Opening, finisher
from registry.pipeline.file_rows import map_file_samples
from registry.pipeline.fingerprint import pin_all
from registry.pipeline.pipeline import PipelineState, compile_pipeline
from registry.progress import counted
from registry.sources.pins import SourceContext
from registry.sources.source_type import reader_of, records_of
from registry.store.columns import batch_of
from registry.store.quality import QualityCounter, unused_columns

if TYPE_CHECKING:
    from pathlib import Path

    from registry.boundary.boundary import Boundary
    from registry.cache.cache import Cache
    from registry.manifest.models import DatasetSpec
    from registry.samples.sample import DatasetRecord, Sample
    from registry.sources.pins import Expected, Pins, SourcePin

__all__ = [
    "inspect_source",
    "map_first_records",
    "preview_records",
    "preview_samples",
    "read_records",
    "records_numbered",
    "samples_in_order",
]

_CHECKED_FIELDS = ("input", "target", "choices", "id")


def samples_in_order(
    spec: DatasetSpec,
    pins: Pins,
    context: SourceContext,
    state: PipelineState | None = None,
    *,
    records: int | None = None,
) -> Iterator[tuple[int, Sample]]:
    """Return an iterator over the samples in source order, with the numbers of their records.

    Args:
        spec: The dataset.
        pins: Versions of its sources.
        context: How they may be read.
        state: Notes what is read.
        records: Number of records to map of each file; None for all.

    Raises:
        ManifestError: the mapping does not compile, or names columns that no record has; raised
            before the first sample.
    """
    pipeline, state = compile_pipeline(spec, pins, context), state or PipelineState()
    check_columns(spec, pins, context)
    state.unread = UnreadColumns.of(spec)

    def by_file() -> Iterator[Iterator[tuple[int, Sample]]]:
        for source, pinned in zip(spec.sources, pins.sources, strict=True):
            for file in reader_of(source).fetch(pinned, context):
                state.files.append((state.next_record, file.location))
                own = source.of_file(file.location)
                yield map_file_samples(file, own, pipeline, state, stop=records)

    return chain.from_iterable(by_file())


def records_numbered(
    spec: DatasetSpec, pins: Pins, context: SourceContext, numbers: Collection[int]
) -> dict[int, DatasetRecord]:
    """Return records by their numbers, as the source has them, before any step of the manifest.

    Everything before the last one is read again.

    Raises:
        SourceError: there are fewer records than when the samples were built.
    """
    wanted, number, found = set(numbers), 0, dict[int, Any]()
    for source, pinned in zip(spec.sources, pins.sources, strict=True):
        reader = reader_of(source)
        for file in reader.fetch(pinned, context) if wanted else ():
            for record in reader.decode(file):
                number += 1
                if number in wanted:
                    wanted.remove(number)
                    found[number] = record
                    if not wanted:
                        return found
    if wanted:
        message = f"its sources have {count_text(number, 'record')} now, and no record"
        raise SourceError(
            f"{spec.name}: {message} {min(wanted):,} (registry sync {spec.name} --refresh)"
        )
    return found


def preview_samples(
    spec: DatasetSpec, pins: Pins, context: SourceContext, count: int
) -> tuple[list[tuple[int, Sample]], dict[str, Any]]:
    """Return the first samples, and what the `meta.json` of a build of only these would say.

    With each sample comes the number of its record.
    """
    state = PipelineState.of(spec, context.boundary.limits)
    iterator = samples_in_order(spec, pins, context, state)
    pairs = list(islice(iterator, count))
    if not pairs and count and spec.expect.samples != 0:
        check_not_empty(spec, pins, context)
    return pairs, _meta_of(pairs, state, count)


def map_first_records(
    spec: DatasetSpec, pins: Pins, context: SourceContext, records: int
) -> tuple[list[Sample], dict[str, Any]]:
    """Return the samples of the first records of each file, and their `meta.json`.

    Unlike `preview_samples` it maps no further records where `where` drops the first ones.
    """
    state = PipelineState.of(spec, context.boundary.limits)
    pairs = list(samples_in_order(spec, pins, context, state, records=records))
    return [sample for _, sample in pairs], _meta_of(pairs, state, records)


def _meta_of(
    pairs: Sequence[tuple[int, Sample]], state: PipelineState, limit: int
) -> dict[str, Any]:
    fields = {name: [getattr(one, name) for _, one in pairs] for name in _CHECKED_FIELDS}
    batch = batch_of(fields, [number for number, _ in pairs], {})
    counter = QualityCounter()
    counter.add(batch)
    columns = [one for one in batch.schema.names if batch.column(one).null_count < len(pairs)]
    return {
        "samples": len(pairs),
        "columns": columns,
        "quality": counter.result(state.files, columns) | unused_columns(state.unread.found),
        "limit": limit,
    }


def preview_records(
    spec: DatasetSpec, cache: Cache, count: int, *, boundary: Boundary
) -> tuple[list[tuple[int, Sample]], dict[str, Any]]:
    """Return the first samples of local files, with the numbers of their records, without view.

    Nothing is cached. The second item describes them as `meta.json` does a cached dataset.
    """
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
    lock: Expected | None = None,
    pins: Pins | None = None,
) -> dict[int, DatasetRecord]:
    """Return records of a dataset's sources by their numbers, from 1.

    All before the last of the numbers are read too. `pins` are the versions of the sources that
    the samples were built from; None for the current ones.

    Raises:
        SourceError: a source can't be read, or is no longer what the samples were built from.
    """
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
