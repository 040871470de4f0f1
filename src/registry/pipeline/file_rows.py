"""A file → rows of samples: by its columns while these are the records exactly, else one by one.

The row pipeline supports every manifest and raises every error; the columnar pipeline returns the
same rows faster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from registry.base.process_state import gc_paused
from registry.decode.frame import MISSING, NotColumnarError, ValueFrame
from registry.errors import MappingError, RegistryError
from registry.mapping.batch import sample_size
from registry.mapping.columns_used import UnreadColumns, mapping_dependencies
from registry.mapping.field_mapper import FieldMapper, map_records, map_values
from registry.mapping.missing_columns import UnseenColumns
from registry.mapping.record_batch import RecordBatchView
from registry.pipeline.file_references import resolve_files
from registry.pipeline.transforms import Numbered, with_columns
from registry.samples.fields import NAMES
from registry.samples.sample import Sample
from registry.sources.source_type import reader_of
from registry.store.columns import (
    batch_of,
    common_keys,
    fields_of,
)
from registry.store.rows import FILE_COLUMNS
from registry.store.schema import (
    metadata_type_of,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from registry.decode.frame import AnyFrame, Wanted
    from registry.decode.stream import SourceBytes
    from registry.manifest.models import DatasetSpec
    from registry.manifest.source import Source
    from registry.mapping.columnar_mapper import ColumnarMapper
    from registry.pipeline.pipeline import Pipeline, PipelineState
    from registry.samples.sample import DatasetRecord

__all__ = ["columnar_pipeline", "columns_read", "map_file_samples", "row_pipeline", "see_columns"]


_CHUNK_BYTES = 1 << 25
"""Samples that are larger together are not mapped at a time, however few they are."""
_IN_ORDER = itemgetter(*NAMES)
_Item = TypeVar("_Item")
_Fields = Mapping[str, Any]
"""Values of a sample by field."""


def columnar_pipeline(
    file: SourceBytes, source: Source, pipeline: Pipeline, state: PipelineState
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the samples of a file; `state` counts the mapped records.

    Raises:
        NotColumnarError: the row pipeline has to map the remaining records.
        DecodeError: the remaining part of the file is invalid.
    """
    mapper = pipeline.columnar
    if mapper is None:
        raise NotColumnarError("the dataset is mapped record by record")
    wanted = mapper.dependencies
    names = None if wanted is None else _names(wanted, source, state.unread.missing)
    # Ended here, whoever keeps an error and so this frame: a thread may be reading ahead.
    with closing(reader_of(source).decode_tables(file, names)) as frames:
        while True:
            # Until the values of the batch are gone; not across the `yield`, after which the caller
            # may do anything.
            with gc_paused():
                frame = next(frames, None)
                if frame is None:
                    return
                batch = _map_frame(frame, source, mapper, pipeline, state)
                del frame
            if batch.num_rows:
                yield batch
            state.check(file)


def _map_frame(
    frame: AnyFrame,
    source: Source,
    mapper: ColumnarMapper,
    pipeline: Pipeline,
    state: PipelineState,
) -> pa.RecordBatch:
    end = state.next_record + frame.count
    state.unread.add_frame(frame)
    numbers = np.arange(state.next_record, end)
    view = RecordBatchView(frame, source.columns, numbers, pipeline.boundary)
    see_columns(state.unseen, view)
    batch, metadata_types = mapper.map(view, state.metadata_types)
    if pipeline.resolve is not None and _may_name_files(batch):
        # Finding a file beside a remote source takes a request per name, made record by record.
        raise NotColumnarError("files beside a remote source")
    state.next_record = end
    if batch.num_rows:
        state.metadata_types = metadata_types
    return batch


def _may_name_files(batch: pa.RecordBatch) -> bool:
    return any(batch.column(name).null_count < len(batch) for name in FILE_COLUMNS)


def columns_read(spec: DatasetSpec, source: Source) -> Wanted:
    """Return the columns of a source that are read, by names in the manifest; None for all."""
    if spec.mapper is not None or spec.join is not None or spec.explode is not None:
        return None
    wanted = mapping_dependencies(spec.fields, spec.where)
    return None if wanted is None else _names(wanted, source, UnreadColumns.of(spec).missing)


def _names(wanted: frozenset[str], source: Source, unread: frozenset[str]) -> frozenset[str]:
    return (wanted - source.columns.keys()) | unread


def see_columns(unseen: UnseenColumns, view: RecordBatchView) -> None:
    """Remove the columns that records have from those not seen yet.

    It may miss one, such as a path that only records decide. So a column that stays unseen has to
    be looked for record by record.
    """
    # Nearly always after the first batch. A header alone is no record that has a column.
    if not unseen.uses or view.count == 0:
        return

    def exists(name: str) -> bool:
        if name in view.constants:
            return True
        if isinstance(view.frame, ValueFrame):
            return view.kinds(name) != {type(MISSING)}
        column = view.arrow_column(name)
        is_column = name in view.frame.names  # whose nulls are values
        return is_column or (column is not None and column.null_count < len(column))

    unseen.remove_if(exists)


def row_pipeline(
    file: SourceBytes,
    source: Source,
    pipeline: Pipeline,
    state: PipelineState,
    *,
    skip: int = 0,
    stop: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the samples of a file.

    An error is raised after the rows of all earlier records, independent of chunk boundaries.

    Args:
        file: The file.
        source: Its type and options.
        pipeline: The compiled mapping.
        state: State after the previous files; it is updated.
        skip: Number of records at the start that are mapped already.
        stop: Number of records that are mapped then; None for all.
    """
    if isinstance(pipeline.mapper, FieldMapper) and pipeline.resolve is None:
        # Only the fields: constructing a Sample costs more than the mapping.
        records = _transformed(file, source, pipeline, state, skip, stop)
        samples = map_values(records, pipeline.mapper, dataset=pipeline.dataset)
    else:
        made = map_file_samples(file, source, pipeline, state, skip=skip, stop=stop)
        # The fields of our own sample are as they are stored, and a copy of them takes time.
        samples = (
            (number, sample.__dict__ if type(sample) is Sample else fields_of(sample))
            for number, sample in made
        )
    error = None
    while error is None:
        with gc_paused():  # until the records of the chunk are gone
            chunk, error = _take_samples(samples, pipeline, state)
            batches, mapping_error = _batches(chunk, pipeline, state)
        yield from batches
        if mapping_error is not None:  # of an earlier record than the error that ended the chunk
            raise mapping_error
        if not chunk and error is None:
            return
    raise error


def map_file_samples(
    file: SourceBytes,
    source: Source,
    pipeline: Pipeline,
    state: PipelineState,
    *,
    skip: int = 0,
    stop: int | None = None,
) -> Iterator[tuple[int, Sample]]:
    """Yield the samples of a file, up to record `stop`, with the numbers of their records."""
    records = _transformed(file, source, pipeline, state, skip, stop)
    samples = map_records(records, pipeline.mapper, dataset=pipeline.dataset)
    resolve = pipeline.resolve
    if resolve is None:
        return samples
    return ((number, resolve_files(sample, resolve)) for number, sample in samples)


def _transformed(
    file: SourceBytes,
    source: Source,
    pipeline: Pipeline,
    state: PipelineState,
    skip: int,
    stop: int | None = None,
) -> Iterator[Numbered]:
    records: Iterable[DatasetRecord] = islice(reader_of(source).decode(file), skip, stop)

    def numbered() -> Iterator[Numbered]:
        columns, unread = source.columns, state.unread
        for record in records:
            number = state.next_record
            state.next_record += 1
            state.check(file)
            if unread.missing:
                unread.add_record(record)
            yield number, with_columns(record, columns) if columns else record

    return pipeline.transform(numbered(), state.unseen)


def _take_samples(
    samples: Iterator[tuple[int, _Fields]], pipeline: Pipeline, state: PipelineState
) -> tuple[list[tuple[int, _Fields]], RegistryError | None]:
    """Return the next samples, fewer if they are large, and the error that ended them."""
    taken: list[tuple[int, _Fields]] = []
    size, most = 0, state.limits.sample_bytes
    try:
        for number, fields in samples:
            own = sample_size(fields)
            if own > most:
                message = state.limits.message("sample_bytes", "the sample has", "bytes")
                raise MappingError(message, dataset=pipeline.dataset, record=number)
            taken.append((number, fields))
            size += own
            if len(taken) == pipeline.chunk_rows or size > _CHUNK_BYTES:
                break
    except RegistryError as error:
        return taken, error
    return taken, None


def _take(items: Iterator[_Item], count: int) -> tuple[list[_Item], RegistryError | None]:
    """Return the next items, and the error that ended them."""
    taken: list[_Item] = []
    try:
        taken.extend(islice(items, count))
    except RegistryError as error:
        return taken, error
    return taken, None


def _batches(
    chunk: Sequence[tuple[int, _Fields]], pipeline: Pipeline, state: PipelineState
) -> tuple[list[pa.RecordBatch], RegistryError | None]:
    """Return the rows of a chunk up to the first sample that can't be stored, and its error."""
    try:
        return [_batch_of_chunk(chunk, pipeline, state)] if chunk else [], None
    except MappingError:
        # One row at a time, so that the error names the first record that fails.
        return _take((_batch_of_chunk([one], pipeline, state) for one in chunk), len(chunk))


def _batch_of_chunk(
    chunk: Sequence[tuple[int, _Fields]], pipeline: Pipeline, state: PipelineState
) -> pa.RecordBatch:
    """Return samples as rows; the first ones determine the types of the metadata.

    Raises:
        MappingError: a value can't be stored.
        MetadataTypeMismatchError: metadata has different keys or types.
    """
    numbers, values = zip(*chunk, strict=True)
    fields = dict(zip(NAMES, zip(*map(_IN_ORDER, values), strict=True), strict=True))
    if state.metadata_types is None:
        metadata, json_keys = fields["metadata"], pipeline.json_keys
        # Determined by the first rows. If some of them lack a key, all metadata becomes JSON.
        state.metadata_types = {
            key: "json"
            if json_keys and key in json_keys
            else metadata_type_of([item[key] for item in metadata if item])
            for key in (common_keys(metadata) if json_keys is not None else ())
        }
    try:
        return batch_of(fields, numbers, state.metadata_types)
    except MappingError as error:
        raise error.at(dataset=pipeline.dataset) from error.__cause__
