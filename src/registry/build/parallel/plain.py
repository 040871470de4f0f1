"""Map records by a mapper alone, without what the row pipeline does for each record."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from registry.base.gc import gc_paused
from registry.build.row_pipeline import CHUNK_BYTES, batch_of_chunk
from registry.mapping.sizes import sample_size
from registry.samples.sample import Sample
from registry.sources.source_type import reader_of

if TYPE_CHECKING:
    import pyarrow as pa

    from registry.build.pipeline import Pipeline, PipelineState
    from registry.decode.stream import SourceBytes
    from registry.manifest.models import DatasetSpec
    from registry.manifest.source import Source

__all__ = ["MOST_BYTES", "is_plain", "map_plainly"]


MOST_BYTES = 1 << 26
"""Rows of a block, which are in memory together: `explode`, or a mapper, can make any number."""
_LATER_ROWS = 1 << 12
"""Rows of a batch once the types of the metadata are known, which its first rows determine."""


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
    batches = []
    records, columns, mapper = reader_of(source).decode(file), source.columns, pipeline.mapper
    chunk: list[tuple[int, dict[str, Any]]] = []
    size = 0
    with gc_paused():
        while decoded := list(islice(records, _rows_of_batch(pipeline, state))):
            for number, record in enumerate(decoded, state.next_record):
                sample = mapper({**record, **columns} if columns else record)
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
            state.next_record += len(decoded)
            if chunk:
                batches.append(batch_of_chunk(chunk, pipeline, state))
                chunk, size = [], 0
    return batches if sum(batch.nbytes for batch in batches) <= MOST_BYTES else None


def _rows_of_batch(pipeline: Pipeline, state: PipelineState) -> int:
    return pipeline.chunk_rows if state.metadata_types is None else _LATER_ROWS
