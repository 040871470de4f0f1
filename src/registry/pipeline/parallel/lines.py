"""Map a run of lines: what workers and the process of the build do with the same function."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from registry.base.locations import Location
from registry.cache.cache import Cache
from registry.decode.stream import SourceBytes
from registry.errors import MappingError, RegistryError
from registry.mapping.unread_columns import UnreadColumns
from registry.pipeline.pipeline import JsonKeys, Pipeline, PipelineState, compile_pipeline
from registry.pipeline.row_pipeline import row_pipeline
from registry.sources.pins import Pins, SourceContext
from registry.store.rows import FILE_COLUMNS
from registry.store.schema import (
    MetadataTypeMismatchError,
    schema_of,
    with_all_columns,
)

if TYPE_CHECKING:
    from registry.base.processes.child import Tell
    from registry.boundary.boundary import Boundary
    from registry.manifest.models import DatasetSpec
    from registry.manifest.source import Source
    from registry.store.schema import MetadataType

__all__ = [
    "Lines",
    "Mapped",
    "Setup",
    "answer",
    "has_files",
    "map_lines",
    "packed",
    "prepare",
    "ready",
    "trial_of",
    "unpacked",
]

_TRIAL_RECORDS = 64
_MOST_BYTES = 1 << 26
"""Rows of a block, which are in memory together: `explode`, or a mapper, can make any number."""


@dataclass(frozen=True)
class Lines:
    """A run of complete lines of a file."""

    text: bytes | bytearray
    first: int
    """Number of the first record."""
    count: int
    """How many lines there are, and records unless a line is empty."""


class Mapped(NamedTuple):
    """The rows of the samples of some lines."""

    rows: pa.RecordBatch | None
    """None without samples."""
    records: int
    """Number of the records."""
    metadata_types: Mapping[str, MetadataType] | None
    found: frozenset[str]
    """Columns with a value of those that `UnreadColumns` looks for."""


def map_lines(
    lines: Lines, source: Source, pipeline: Pipeline, state: PipelineState
) -> Mapped | None:
    """Return the rows of some lines; None if the row pipeline has to map or to refuse them.

    `state` stays as it is, but for the columns that the records have.
    """
    file = SourceBytes(Location("lines.jsonl"), lambda: io.BytesIO(lines.text), limits=state.limits)
    own = PipelineState(
        next_record=lines.first,
        metadata_types=state.metadata_types,
        unseen=state.unseen,
        unread=UnreadColumns(state.unread.missing),
        limits=state.limits,
        deadline=math.inf,  # the build has its own clock
    )
    batches: list[pa.RecordBatch] = []
    try:
        for batch in row_pipeline(file, source, pipeline, own):
            batches.append(batch)
            if sum(one.nbytes for one in batches) > _MOST_BYTES:
                return None
    except (RegistryError, MetadataTypeMismatchError):
        return None
    rows = pa.concat_batches(batches) if batches else None
    records = own.next_record - lines.first
    return Mapped(rows, records, own.metadata_types, own.unread.found)


@dataclass(frozen=True)
class Setup:
    """What a worker has to know once, and lines whose rows are known."""

    spec: DatasetSpec
    boundary: Boundary
    """What its expressions may read."""
    json_keys: JsonKeys
    """Keys of the metadata that are stored as JSON."""
    names_files: bool
    """Whether names of files have to be looked up beside a remote source."""
    metadata_types: dict[str, MetadataType]
    missing: frozenset[str]
    """Columns that `UnreadColumns` still looks for."""
    trial: Lines
    source: int
    """Index of the source of the trial."""
    rows: bytes
    """Those of the trial, as Arrow IPC: a worker that gives others is not used."""


_prepared: list[tuple[Setup, Pipeline]] = []
"""What this process maps, if it is a worker."""


def prepare(tell: Tell, setup: Setup) -> None:
    """Compile the mapping, in a worker, which reads no source and makes no request.

    Raises:
        MappingError: this process gives other rows than that of the build.
    """
    nowhere = Cache(Path(os.devnull), passive=True)
    context = SourceContext(boundary=setup.boundary, cache=nowhere, offline=True)
    pipeline = compile_pipeline(setup.spec, Pins(()), context, json_keys=setup.json_keys)
    _prepared[:] = [(setup, replace(pipeline, resolve=None))]
    mapped = answer(tell, setup.source, setup.trial)
    found = b"" if mapped is None else mapped[0]
    # By their text, as NaN differs from itself.
    rows, expected = (unpacked(one, setup.metadata_types) for one in (found, setup.rows))
    if rows is None or expected is None or str(rows.to_pylist()) != str(expected.to_pylist()):
        first, last = setup.trial.first, setup.trial.first + setup.trial.count - 1
        raise MappingError(
            f"the samples of records {first:,} to {last:,} differ in another process"
            " (is the mapper a function of its record alone?)"
        )


def ready(tell: Tell) -> None:
    """Return, in a worker, which is prepared before it calls anything."""


def answer(tell: Tell, source: int, lines: Lines) -> tuple[bytes, int, frozenset[str]] | None:
    """Return the rows of some lines as Arrow IPC, in a worker, and what else `Mapped` has.

    Returns None if the process of the build has to map them.
    """
    ((setup, pipeline),) = _prepared
    state = PipelineState(
        metadata_types=setup.metadata_types,
        unread=UnreadColumns(setup.missing),
        limits=pipeline.boundary.limits,
    )
    mapped = map_lines(lines, setup.spec.sources[source], pipeline, state)
    if mapped is None or (setup.names_files and has_files(mapped.rows)):
        return None
    rows = b"" if mapped.rows is None else packed(mapped.rows)
    return rows, mapped.records, mapped.found


def has_files(rows: pa.RecordBatch | None) -> bool:
    """Return whether a sample names files."""
    return rows is not None and any(
        rows.column(name).null_count < len(rows) for name in FILE_COLUMNS
    )


def packed(rows: pa.RecordBatch) -> bytes:
    """Return rows as Arrow IPC, without columns of nulls, which take space too."""
    names = [name for name in rows.schema.names if rows.column(name).null_count < len(rows)]
    sink = pa.BufferOutputStream()
    narrow = rows.select(names)
    with pa.ipc.new_stream(sink, narrow.schema) as writer:
        writer.write_batch(narrow)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def unpacked(rows: bytes, metadata_types: Mapping[str, MetadataType]) -> pa.RecordBatch | None:
    """Return the rows of an `answer`."""
    if not rows:
        return None
    batch = pa.ipc.open_stream(rows).read_next_batch()
    return with_all_columns(batch, schema_of(metadata_types))


def trial_of(lines: Lines) -> Lines:
    """Return the last of some lines, few enough to map them again; never all of several."""
    count = max(1, min(_TRIAL_RECORDS, lines.count // 2))
    found = io.BytesIO(lines.text).readlines()[-count:]
    return Lines(b"".join(found), lines.first + lines.count - count, count)
