"""Records of pinned sources → a finished samples file.

Each file of the sources goes by whole columns for as long as those are exactly what its records
hold, and record by record from there on; both roads end in the same rows.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from registry.base.gc import gc_paused
from registry.base.locations import is_local
from registry.build.deduplicate import DuplicateIdDetector, resolve_duplicates
from registry.build.expectations import check_samples
from registry.build.file_references import remote_resolver, resolve_files
from registry.build.subsample import select
from registry.build.transforms import LookupRow, Numbered, prepare, with_columns
from registry.decode.frame import NotColumnarError
from registry.errors import DecodeError, ManifestError, MappingError, Problem, RegistryError
from registry.mapping import map_records
from registry.mapping.columnar.mapper import ColumnarMapper
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.mapping.custom import load_mapper
from registry.mapping.field_mapper import FieldMapper
from registry.mapping.map_records import map_values
from registry.progress import Progress, Report
from registry.samples.sample import RecordToSample, Sample
from registry.sources import fetch
from registry.sources.source_type import reader_of
from registry.store.reader import SampleFile
from registry.store.schema import (
    FIELDS,
    MetadataType,
    MetadataTypeMismatchError,
    batch_of,
    common_keys,
    fields_of,
    metadata_type_of,
)
from registry.store.schema import schema_of as samples_schema
from registry.store.writer import SampleWriter

if TYPE_CHECKING:
    from registry.decode.stream import SourceBytes
    from registry.manifest.models import DatasetSpec
    from registry.manifest.source import Source
    from registry.samples.sample import DatasetRecord
    from registry.sources.pins import Pins, SourceContext, SourcePin

__all__ = ["BuildResult", "build", "records_of", "samples_in_order"]

_CHUNK_ROWS = 512
"""Records whose samples are made together: so few that they stay in the processor's cache."""
_FEW_ROWS = 4096
"""Fewer first samples than these are read record by record, which reads less at a time."""
_IN_ORDER = itemgetter(*FIELDS)
_FILE_COLUMNS = ("messages", "sandbox", "files", "setup")
"""Columns of a samples file that may name files beside the source."""


@dataclass(frozen=True)
class BuildResult:
    """A samples file that is finished."""

    path: Path
    sha256: str
    """Digest of the file, 64 hex digits."""
    rows: int
    """Number of samples."""
    batches: list[list[int]]
    """Rows and choices of each batch, as `SampleFile` takes them."""
    columns: list[str]
    """Columns that hold anything."""
    repeated: frozenset[str | int]
    """Ids that stand in more than one row."""

    def open(self) -> SampleFile:
        """Open the file."""
        return SampleFile(self.path, self.batches)


def build(
    spec: DatasetSpec, pins: Pins, context: SourceContext, folder: Path, *, limit: int | None = None
) -> BuildResult:
    """Write the samples of a dataset to `samples.arrow` in a folder.

    Args:
        spec: The dataset.
        pins: What its sources hold.
        context: How they may be read.
        folder: A private folder.
        limit: Samples at most; None is all of them. No more is read than they need.

    Raises:
        SourceError: a source is not what was pinned, or can't be read.
        DecodeError: a file is not what its type says.
        MappingError: a record does not become a sample, or an id stands twice.
        ExpectationError: the samples are not what is expected of them.
    """
    as_json: AsJson = frozenset()
    while True:
        try:
            return _built(spec, pins, context, folder, limit, as_json)
        except MetadataTypeMismatchError as error:
            # Begin again with the values of the key as JSON; a second one tells that the source
            # is mixed, and that to guess on would take long.
            as_json = frozenset({error.key}) if error.key is not None and not as_json else None
            for path in folder.iterdir():
                path.unlink()


AsJson = frozenset[str] | None
"""Keys of the metadata whose values differ in type; None where metadata is JSON as a whole."""


def _built(
    spec: DatasetSpec,
    pins: Pins,
    context: SourceContext,
    folder: Path,
    limit: int | None,
    as_json: AsJson,
) -> BuildResult:
    batches = _mapped(spec, pins, context, as_json, limit)
    if limit is not None:
        batches = _first(batches, limit)
    result = _write(batches, folder / "mapped.arrow", context.report)
    rule = spec.duplicate_rule
    if result.repeated and rule != "keep":
        own = resolve_duplicates(result.open(), result.repeated, rule, dataset=spec.name)
        result = _write(own, folder / "own.arrow", context.report)
    if spec.sample is not None:
        selected = select(result.open(), spec.sample)
        result = _write(selected, folder / "selected.arrow", context.report)
    check_samples(result.open(), spec.expect, result.repeated, dataset=spec.name)
    return _alone(result, folder / "samples.arrow")


def _alone(result: BuildResult, path: Path) -> BuildResult:
    """Give a file its final name, and remove those that it was made of."""
    result.path.rename(path)
    for other in path.parent.iterdir():
        if other != path:
            other.unlink()
    return replace(result, path=path)


def _first(batches: Iterator[pa.RecordBatch], limit: int) -> Iterator[pa.RecordBatch]:
    left = limit
    while left > 0 and (batch := next(batches, None)) is not None:
        yield batch.slice(0, left)
        left -= batch.num_rows


def _write(batches: Iterable[pa.RecordBatch], path: Path, report: Report) -> BuildResult:
    """Write rows to a new file."""
    waiting = iter(batches)
    first = next(waiting, None)
    schema = samples_schema({}) if first is None else first.schema
    watch = DuplicateIdDetector()
    with SampleWriter(path, schema, watch.add) as writer:
        for batch in chain([] if first is None else [first], waiting):
            writer.write(batch)
            report(Progress("map", writer.rows))
    report(Progress("map", writer.rows, writer.rows))
    repeated = watch.repeated(SampleFile(path, writer.batches))
    columns = sorted(writer.columns)
    return BuildResult(path, writer.sha256, writer.rows, writer.batches, columns, repeated)


def _mapped(
    spec: DatasetSpec, pins: Pins, context: SourceContext, as_json: AsJson, limit: int | None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of all samples in the order of the sources."""
    few = limit is not None and limit < _FEW_ROWS
    by_record = _RecordRoad(spec, as_json, chunk=limit or 1 if few else _CHUNK_ROWS)
    if spec.mapper is not None or spec.join is not None or spec.explode is not None:
        yield from by_record.rows(_numbered(spec, pins, context))
        return
    by_column = _ColumnRoad(spec, as_json, by_record, skip=few)
    for source, pinned in zip(spec.sources, pins.sources, strict=True):
        for file in fetch(source, pinned, context, rows=limit):
            yield from by_column.rows(file, source)


Mapped = tuple[int, Sample | dict[str, Any]]
"""The number of a record, and its sample or the fields of it."""


@dataclass
class _RecordRoad:
    """Maps records one by one."""

    spec: DatasetSpec
    as_json: AsJson
    chunk: int = _CHUNK_ROWS
    """How many records are mapped before their rows are handed on."""
    metadata_types: Mapping[str, MetadataType] | None = None
    """Kinds of the values of the metadata, known from the first rows on."""

    def __post_init__(self) -> None:
        self._mapper = _mapper_of(self.spec)
        source = self.spec.sources[0]
        self.resolve = None
        base = source.base_location
        if base is not None and not is_local(base):
            self.resolve = remote_resolver(base, source.fs_options)
        self._fields_only = isinstance(self._mapper, FieldMapper) and self.resolve is None

    def samples(self, records: Iterator[Numbered]) -> Iterator[tuple[int, Sample]]:
        """Yield the samples of records, each with its record's number."""
        samples = map_records(records, self._mapper, dataset=self.spec.name)
        resolve = self.resolve
        if resolve is None:
            return samples
        return ((number, resolve_files(sample, resolve)) for number, sample in samples)

    def rows(self, records: Iterator[Numbered]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the samples of records.

        An error comes behind the rows of the records before it, wherever a chunk begins.
        """
        mapped = self._mapped(records)
        fault = None
        while fault is None:
            with gc_paused():  # until the records of the chunk are gone
                batches, fault = self._next(mapped)
            if not batches and fault is None:
                return
            yield from batches
        raise fault

    def _next(self, mapped: Iterator[Mapped]) -> tuple[list[pa.RecordBatch], RegistryError | None]:
        """Return the rows of the next records, and the error that ended them."""
        chunk, fault = _gathered(mapped, self.chunk)
        try:
            return [self._batch(chunk)] if chunk else [], fault
        except MappingError:  # one by one, so that the first that fails is the one that is named
            batches, first = _gathered((self._batch([one]) for one in chunk), len(chunk))
            return batches, first or fault

    def _mapped(self, records: Iterator[Numbered]) -> Iterator[Mapped]:
        if self._fields_only and isinstance(self._mapper, FieldMapper):
            return map_values(records, self._mapper, dataset=self.spec.name)
        return self.samples(records)

    def _batch(self, chunk: Sequence[Mapped]) -> pa.RecordBatch:
        numbers, mapped = zip(*chunk, strict=True)
        values = mapped if self._fields_only else map(fields_of, mapped)
        fields = dict(zip(FIELDS, zip(*map(_IN_ORDER, values), strict=True), strict=True))
        if self.metadata_types is None:
            self.metadata_types = self._kinds_of(fields["metadata"])
        try:
            return batch_of(fields, numbers, self.metadata_types)
        except MappingError as error:
            raise error.at(dataset=self.spec.name) from error.__cause__

    def _kinds_of(self, metadata: Sequence[dict[str, Any] | None]) -> Mapping[str, MetadataType]:
        """Return the kinds of the values of the first samples' metadata, if all have its keys."""
        as_json = self.as_json
        if as_json is None:
            return {}
        return {
            key: "json"
            if key in as_json
            else metadata_type_of([item[key] for item in metadata if item])
            for key in common_keys(metadata)
        }


_Item = TypeVar("_Item")


def _gathered(items: Iterator[_Item], most: int) -> tuple[list[_Item], RegistryError | None]:
    """Return the next ones, and the error that ended them."""
    gathered: list[_Item] = []
    try:
        gathered.extend(islice(items, most))
    except RegistryError as error:
        return gathered, error
    return gathered, None


class _ColumnRoad:
    """Maps the records of files by whole columns, and hands what it can't to the other road."""

    def __init__(
        self, spec: DatasetSpec, as_json: AsJson, by_record: _RecordRoad, *, skip: bool
    ) -> None:
        """Compile a dataset; `skip` leaves all to the other road, which reads less at a time."""
        self._spec = spec
        self._skip = skip
        try:
            self._mapper = ColumnarMapper(spec.fields, spec.where, as_json)
        except ValueError as error:  # the fields were compiled before
            raise _uncompiled(error, spec, "$.where") from error
        self._by_record = by_record
        self._next = 1
        """Number of the next record."""

    def rows(self, file: SourceBytes, source: Source) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the samples of a file."""
        start = self._next
        if self._skip:
            yield from self._by_record.rows(self._counted(reader_of(source).decode(file), source))
            return
        with contextlib.suppress(NotColumnarError, DecodeError):
            yield from self._by_column(file, source)
            return
        # What these rows hold, or what is wrong with them, is told record by record.
        rest = islice(reader_of(source).decode(file), self._next - start, None)
        yield from self._by_record.rows(self._counted(rest, source))

    def _by_column(self, file: SourceBytes, source: Source) -> Iterator[pa.RecordBatch]:
        wanted = self._mapper.wanted
        names = wanted if wanted is None else wanted - source.columns.keys()
        for frame in reader_of(source).decode_tables(file, names):
            end = self._next + frame.batch.num_rows
            view = RecordBatchView(frame, source.columns, np.arange(self._next, end))
            with gc_paused():
                batch, metadata_types = self._mapper.map(view, self._by_record.metadata_types)
            if self._by_record.resolve is not None and _may_name_files(batch):
                raise NotColumnarError("files beside a remote source")
            self._next = end
            if batch.num_rows:
                self._by_record.metadata_types = metadata_types
                yield batch

    def _counted(self, records: Iterator[DatasetRecord], source: Source) -> Iterator[Numbered]:
        """Yield records with their numbers, those that the condition holds of."""
        return prepare(self._numbers(records, source), self._spec, ())

    def _numbers(self, records: Iterator[DatasetRecord], source: Source) -> Iterator[Numbered]:
        for record in records:
            number = self._next
            self._next += 1
            yield number, with_columns(record, source.columns)


def _may_name_files(batch: pa.RecordBatch) -> bool:
    return any(batch.column(name).null_count < batch.num_rows for name in _FILE_COLUMNS)


def records_of(
    source: Source, pinned: SourcePin, context: SourceContext
) -> Iterator[DatasetRecord]:
    """Yield the records of a pinned source, file after file."""
    files = fetch(source, pinned, context)
    return chain.from_iterable(reader_of(source).decode(file) for file in files)


def _widened(source: Source, pinned: SourcePin, context: SourceContext) -> Iterator[DatasetRecord]:
    """Return the records of a source with its constant columns."""
    records = records_of(source, pinned, context)
    if not source.columns:
        return records
    return (with_columns(record, source.columns) for record in records)


def _numbered(spec: DatasetSpec, pins: Pins, context: SourceContext) -> Iterator[Numbered]:
    """Yield the records of all sources, numbered through, with the steps before mapping done."""
    sources = zip(spec.sources, pins.sources, strict=True)
    records = chain.from_iterable(_widened(*one, context) for one in sources)
    side: Iterable[LookupRow] = ()
    if spec.join is not None and pins.side is not None:
        side = _side_records(spec.join.source, pins.side, context)
    try:
        return prepare(enumerate(records, 1), spec, side)
    except ValueError as error:
        raise _uncompiled(error, spec, "$.where") from error


def _side_records(source: Source, pinned: SourcePin, context: SourceContext) -> Iterator[LookupRow]:
    for file in fetch(source, pinned, context):
        for number, record in enumerate(reader_of(source).decode(file), 1):
            yield LookupRow(file.location, number, record)


def samples_in_order(
    spec: DatasetSpec, pins: Pins, context: SourceContext
) -> Iterator[tuple[int, Sample]]:
    """Yield samples in the source's order, one at a time, each with the number of its record."""
    return _RecordRoad(spec, frozenset()).samples(_numbered(spec, pins, context))


def _mapper_of(spec: DatasetSpec) -> RecordToSample:
    if spec.mapper is not None:
        return load_mapper(spec.mapper)
    try:
        return FieldMapper(spec.fields)
    except ValueError as error:
        raise _uncompiled(error, spec, "$.fields") from error


def _uncompiled(error: ValueError, spec: DatasetSpec, path: str) -> ManifestError:
    return ManifestError(
        [Problem(message=str(error), file=spec.name, path=path, rule="bad-expression")]
    )
