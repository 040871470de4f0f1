"""Record batches of a file → rows of samples, while columns represent the records exactly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np

from registry.base.process_state import gc_paused
from registry.decode.frame import MISSING, NotColumnarError, ValueFrame
from registry.mapping.columns_used import UnreadColumns, mapping_dependencies
from registry.mapping.missing_columns import UnseenColumns
from registry.mapping.record_batch import RecordBatchView
from registry.sources.source_type import reader_of
from registry.store.rows import FILE_COLUMNS

if TYPE_CHECKING:
    import pyarrow as pa

    from registry.decode.frame import AnyFrame, Wanted
    from registry.decode.stream import SourceBytes
    from registry.manifest.models import DatasetSpec
    from registry.manifest.source import Source
    from registry.mapping.columnar_mapper import ColumnarMapper
    from registry.pipeline.pipeline import Pipeline, PipelineState

__all__ = ["columnar_pipeline", "columns_read", "see_columns"]


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
