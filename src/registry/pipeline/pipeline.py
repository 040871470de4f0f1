"""What the row and the columnar pipeline share: the compiled mapping and the state."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from registry.base.locations import Location
from registry.boundary.boundary import UNLIMITED, Limits
from registry.errors import DecodeError, ManifestError, Problem
from registry.mapping.columnar_mapper import ColumnarMapper
from registry.mapping.columns_used import UnreadColumns, mapped_columns
from registry.mapping.custom import load_mapper
from registry.mapping.field_mapper import FieldMapper
from registry.mapping.missing_columns import UnseenColumns
from registry.pipeline.file_references import Resolve, remote_resolver
from registry.pipeline.transforms import Lookup, LookupRow, Transform, compile_transforms
from registry.sources.filesystem import FilesystemPool
from registry.sources.source_type import reader_of

if TYPE_CHECKING:
    from registry.boundary.boundary import Boundary
    from registry.decode.stream import SourceBytes
    from registry.manifest.models import DatasetSpec
    from registry.manifest.source import Source
    from registry.samples.frames.layout import MetadataType
    from registry.samples.sample import RecordToSample
    from registry.sources.pins import Pins, SourceContext

__all__ = [
    "JsonKeys",
    "Pipeline",
    "PipelineState",
    "compile_pipeline",
    "keep_pipeline",
    "lookup_of",
    "lookup_rows",
]

JsonKeys = frozenset[str] | None
"""Metadata keys whose values differ in type; None if all metadata is stored as JSON."""

_CHUNK_ROWS = 512
"""Records mapped at a time: few enough to stay in the CPU cache."""
_FEW_ROWS = 4096
"""Below this limit the row pipeline is used, because it reads less of a file at a time."""


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """The mapping of a dataset, compiled once for all its files."""

    dataset: str
    """Name in messages."""
    mapper: RecordToSample
    """Record → sample."""
    columnar: ColumnarMapper | None
    """Record batches → samples; None sends every record through the row pipeline."""
    transform: Transform
    """`join`, `explode` and `where`, applied to the records before they are mapped."""
    lookup: Lookup | None
    """The lookup table of `join`."""
    resolve: Resolve | None
    """Resolves names of files beside a remote source; None if the source is local."""
    boundary: Boundary
    """Which files operations may read."""
    json_keys: JsonKeys
    chunk_rows: int
    """Number of records that the row pipeline maps at a time."""


@dataclass
class PipelineState:
    """State that is passed from file to file, by both pipelines."""

    next_record: int = 1
    """Number of the next record, across all files."""
    metadata_types: Mapping[str, MetadataType] | None = None
    """Types of the metadata values; None until the first rows determine them."""
    unseen: UnseenColumns = field(default_factory=UnseenColumns)
    """Columns that the manifest names, and that no record has had so far."""
    unread: UnreadColumns = field(default_factory=UnreadColumns)
    """Columns that the manifest doesn't read although a field has their name."""
    dataset: str = ""
    """Name in messages."""
    limits: Limits = UNLIMITED
    """How many records there may be."""
    deadline: float = math.inf
    """Time of the monotonic clock at which the build ends with an error."""
    files: list[tuple[int, str]] = field(default_factory=list)
    """Location of each file so far, with the number of its first record."""

    @classmethod
    def of(cls, spec: DatasetSpec, limits: Limits) -> PipelineState:
        """Return the state before the first file of a dataset."""
        names = spec.derived.get("names")
        if names is None:
            names = spec.derived["names"] = UnreadColumns.of(spec).missing, mapped_columns(spec)
        unread, unseen = UnreadColumns(names[0]), UnseenColumns(names[1])
        deadline = time.monotonic() + limits.seconds
        return cls(
            unread=unread, unseen=unseen, dataset=spec.name, limits=limits, deadline=deadline
        )

    def check(self, file: SourceBytes) -> None:
        """Raise a DecodeError if the records so far are too many, or took too long."""
        if self.next_record - 1 > self.limits.records:
            message = self.limits.message("records", "the dataset has", "records")
            raise DecodeError(message, file=file.location)
        if time.monotonic() > self.deadline:
            what = f"record {self.next_record - 1:,} is not mapped after"
            raise DecodeError(self.limits.message("seconds", what, "s"), file=file.location)


def compile_pipeline(
    spec: DatasetSpec,
    pins: Pins,
    context: SourceContext,
    *,
    json_keys: JsonKeys = frozenset(),
    limit: int | None = None,
) -> Pipeline:
    """Compile the mapping of a dataset.

    Args:
        spec: The dataset.
        pins: Versions of its sources; the lookup table of `join` is read on first use.
        context: How they may be read.
        json_keys: Keys of the metadata that are stored as JSON.
        limit: Number of samples to build; None for all.

    Raises:
        ManifestError: an expression or a condition does not compile.
        AccessError: the mapper's package is not trusted.
    """
    # Taken away while it is used: its functions remember texts of the records that they map.
    known: Pipeline | None = spec.derived.pop(("pipeline", json_keys, limit), None)
    if known is not None and known.boundary == context.boundary:
        return known
    return _compile(spec, pins, context, json_keys, limit)


def keep_pipeline(spec: DatasetSpec, pipeline: Pipeline, limit: int | None = None) -> None:
    """Let the next build of a spec use the pipeline of this one, which has ended."""
    # A mapper is code that may change; the others have a state, or read a table.
    by_record = spec.mapper is not None or spec.join is not None or spec.explode is not None
    if not by_record and pipeline.resolve is None:
        spec.derived["pipeline", pipeline.json_keys, limit] = pipeline


def _compile(
    spec: DatasetSpec,
    pins: Pins,
    context: SourceContext,
    json_keys: JsonKeys,
    limit: int | None,
) -> Pipeline:
    few = limit is not None and limit < _FEW_ROWS
    # These need one record at a time: they add records or values, or call Python code.
    rows_only = spec.mapper is not None or spec.join is not None or spec.explode is not None
    # Fields first: if both are invalid, the problem of the fields is reported.
    try:
        mapper = (
            FieldMapper(spec.fields, context.boundary, accept=spec.accept)
            if spec.mapper is None
            else load_mapper(spec.mapper)
        )
    except ValueError as error:
        raise _uncompiled(error, spec, "$.fields") from error
    try:
        lookup = lookup_of(spec, pins, context)
        transform = compile_transforms(spec, lookup, context.boundary)
        # Of Parquet, columns that are not read are not requested either.
        by_columns = all(source.type == "parquet" for source in spec.sources)
        is_columnar = not (rows_only or (few and not by_columns))
        columnar = (
            ColumnarMapper(spec.fields, spec.where, json_keys, accept=spec.accept)
            if is_columnar
            else None
        )
    except ValueError as error:
        raise _uncompiled(error, spec, "$.where") from error
    return Pipeline(
        dataset=spec.name,
        mapper=mapper,
        columnar=columnar,
        transform=transform,
        lookup=lookup,
        resolve=_remote_resolver(spec.source, context),
        boundary=context.boundary,
        json_keys=json_keys,
        chunk_rows=limit or 1 if few else _CHUNK_ROWS,
    )


def _remote_resolver(source: Source, context: SourceContext) -> Resolve | None:
    # Names beside a local file are resolved when a sample is read, so that the cache contains no
    # path of this machine. A URL is the same everywhere, and can't be looked up again offline.
    base = source.base_location
    if base is None or base.is_local:
        return None
    return remote_resolver(base, FilesystemPool(source.fs_options, context.boundary), context)


def lookup_of(spec: DatasetSpec, pins: Pins, context: SourceContext) -> Lookup | None:
    """Return the lookup table of `join`, which is read when the first record needs it."""
    if spec.join is None:
        return None
    location = Location(spec.join.source.location).file
    table = os.path.relpath(location.local_path(), spec.folder) if location.is_path else location
    return Lookup(spec.join, lambda: lookup_rows(spec, pins, context), table=table)


def lookup_rows(spec: DatasetSpec, pins: Pins, context: SourceContext) -> Iterator[LookupRow]:
    """Yield the records of the lookup table of `join`."""
    assert spec.join is not None  # noqa: S101 (only called for a dataset with `join`)
    assert pins.side is not None  # noqa: S101 (it is pinned with the sources)
    reader = reader_of(spec.join.source)
    for file in reader.fetch(pins.side, context):
        for number, record in enumerate(reader.decode(file), 1):
            yield LookupRow(file.location, number, record)


def _uncompiled(error: ValueError, spec: DatasetSpec, path: str) -> ManifestError:
    problem = Problem(message=str(error), file=spec.name, path=path, rule="bad-expression")
    return ManifestError([problem])
