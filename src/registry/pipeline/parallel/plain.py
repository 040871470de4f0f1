"""Map records by a mapper alone, without what the row pipeline does for each record."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from registry.base.gc import gc_paused
from registry.mapping.sizes import sample_size
from registry.pipeline.row_pipeline import CHUNK_BYTES, batch_of_chunk, batch_of_fields
from registry.samples.fields import OBJECTS
from registry.samples.sample import Sample
from registry.sources.source_type import reader_of
from registry.store.schema import METADATA_VALUES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from registry.decode.stream import SourceBytes
    from registry.manifest.models import DatasetSpec
    from registry.manifest.source import Source
    from registry.pipeline.pipeline import Pipeline, PipelineState
    from registry.samples.sample import DatasetRecord

__all__ = ["MOST_BYTES", "is_plain", "map_plainly"]


MOST_BYTES = 1 << 26
"""Rows of a block, which are in memory together: `explode`, or a mapper, can make any number."""
_LATER_ROWS = 1 << 12
"""Rows of a batch at most, once its first ones have shown the types and sizes of the samples."""
_OBJECTS = ("messages", *OBJECTS)
"""Columns whose values count more than they take."""
_FIELD_BYTES = 64
"""At least what the fields that are no text count for a sample."""


def is_plain(spec: DatasetSpec, pipeline: Pipeline) -> bool:
    """Return whether a mapper is all that makes samples of records."""
    is_changed = spec.where or spec.join or spec.explode or pipeline.resolve
    return spec.mapper is not None and not is_changed


def map_plainly(
    file: SourceBytes, source: Source, pipeline: Pipeline, state: PipelineState
) -> list[pa.RecordBatch] | None:
    """Return the rows of a file; None if a record does not give one sample within the limits.

    Raises:
        RegistryError, MetadataTypeMismatchError: as the row pipeline, which has to raise it, as
            errors here are not those of the first record that fails.
    """
    batches: list[pa.RecordBatch] = []
    records, columns = reader_of(source).decode(file), source.columns
    size = 0
    with gc_paused():
        while decoded := list(islice(records, _rows_of_batch(pipeline, state, batches))):
            if columns:
                decoded = [{**record, **columns} for record in decoded]
            map_batch = _map_small if len(decoded) > pipeline.chunk_rows else _map_any
            found = map_batch(decoded, pipeline, state)
            if found is None:
                return None
            state.next_record += len(decoded)
            batches += found
            size += sum(batch.nbytes for batch in found)
            if size > MOST_BYTES:
                return None
    return batches


def _rows_of_batch(
    pipeline: Pipeline, state: PipelineState, batches: Sequence[pa.RecordBatch]
) -> int:
    """Return how many records to map next: more once the types are known and samples are small."""
    if state.metadata_types is None or not batches:
        return pipeline.chunk_rows
    last = batches[-1]
    most = CHUNK_BYTES * int(last.num_rows) // (2 * int(last.nbytes) + 1)
    return max(pipeline.chunk_rows, min(most, _LATER_ROWS))


def _map_any(
    decoded: Sequence[DatasetRecord], pipeline: Pipeline, state: PipelineState
) -> list[pa.RecordBatch] | None:
    """Return the rows of records, in batches that are small even if a sample is large."""
    batches, chunk, size = [], [], 0
    for number, record in enumerate(decoded, state.next_record):
        sample = pipeline.mapper(record)
        if type(sample) is not Sample:
            return None
        fields = sample.__dict__
        own = sample_size(fields)
        if own > state.limits.sample_bytes:
            return None
        chunk.append((number, fields))
        size += own
        if size > CHUNK_BYTES:
            batches.append(batch_of_chunk(chunk, pipeline, state))
            chunk, size = [], 0
            if sum(batch.nbytes for batch in batches) > MOST_BYTES:
                return None
    return [*batches, batch_of_chunk(chunk, pipeline, state)] if chunk else batches


def _map_small(
    decoded: Sequence[DatasetRecord], pipeline: Pipeline, state: PipelineState
) -> list[pa.RecordBatch] | None:
    """Return the rows of records whose samples are small if they are like those before.

    Without a step of Python for each sample, which takes a tenth of the time of all.
    """
    samples = list(map(pipeline.mapper, decoded))
    if set(map(type, samples)) != {Sample}:
        return None
    values = [sample.__dict__ for sample in samples]
    numbers = range(state.next_record, state.next_record + len(decoded))
    batch = batch_of_fields(values, numbers, pipeline, state)
    most = state.limits.sample_bytes
    if not _are_small(batch, most) and any(sample_size(fields) > most for fields in values):
        return None
    return [batch]


def _are_small(batch: pa.RecordBatch, most: int) -> bool:
    """Return whether `sample_size` is at most some bytes for all samples; a False may be wrong."""
    if any(batch.column(name).null_count < batch.num_rows for name in _OBJECTS):
        return False
    # A number, a None and an empty list count as eight bytes, and take at least one in JSON. A
    # metadata key of its own column counts with each value.
    has_keys = METADATA_VALUES in batch.schema.names
    keys = batch.schema.field(METADATA_VALUES).type.names if has_keys else ()
    beside = sum(8 + len(key) for key in keys) + _FIELD_BYTES
    return 8 * int(batch.nbytes) + beside * int(batch.num_rows) <= most
