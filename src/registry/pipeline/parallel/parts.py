"""Map a source: here, or in parts elsewhere: its files, or row groups or lines of them."""

from __future__ import annotations

import dataclasses
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from registry.base.process_state import system_memory
from registry.base.processes.executor import WorkerLostError
from registry.decode.frame import NotColumnarError
from registry.decode.stream import ByteRange, RowGroups, is_utf8, line_ranges
from registry.errors import DecodeError, ManifestError, MappingError, RegistryError
from registry.manifest.expressions import parse_condition, parse_expression
from registry.manifest.source_models import FileSource, JsonSource, ParquetSource
from registry.mapping.columns_used import uses_row_number
from registry.pipeline.columnar_pipeline import columnar_pipeline
from registry.pipeline.parallel.trial import Trial, observed
from registry.pipeline.pipeline import JsonKeys, Pipeline, PipelineState, compile_pipeline
from registry.pipeline.row_pipeline import row_pipeline
from registry.progress import Progress
from registry.sources.pins import Pins, SourceContext
from registry.sources.source_type import reader_of
from registry.store.schema import MetadataTypeMismatchError, schema_of, with_all_columns

if TYPE_CHECKING:
    from registry.base.processes.child import Tell
    from registry.base.processes.executor import Executor, Later
    from registry.boundary.boundary import Boundary
    from registry.cache.cache import Cache
    from registry.decode.stream import SourceBytes
    from registry.manifest.models import DatasetSpec
    from registry.manifest.source import Source
    from registry.mapping.columns_used import NamedColumns
    from registry.samples.frames.layout import MetadataType
    from registry.sources.pins import SourcePin

__all__ = ["FileRows", "FileTask", "Part", "SourceMapping", "answer", "map_source", "parts_of"]

_LEAST_BYTES = 1 << 26
"""Unpacked size of a part of a file; to send a smaller one elsewhere takes as long as to map it."""
_LEAST_MAPPER_BYTES = 1 << 20
"""The same for a mapper, which takes much longer than the way there."""
_MOST_BYTES = 1 << 29
"""Rows of one part, which are in memory together; one with more is mapped by the build."""
_CHECK_SECONDS = 0.5
"""How long the build waits at a time, before it looks whether it is still wanted."""


class Part(Struct, frozen=True):
    """A file, or row groups or lines of it."""

    pinned: SourcePin
    """The pin of the source, with this file alone."""
    row_groups: RowGroups | None = None
    """Those of a Parquet file; None for all of it."""
    lines: ByteRange | None = None
    """Those of JSON Lines; None for all of the file."""

    @property
    def is_first(self) -> bool:
        """Whether it has the first record of its file."""
        groups, lines = self.row_groups, self.lines
        return (groups is None or groups.first == 0) and (lines is None or lines.start == 0)


class FileTask(Struct, frozen=True, kw_only=True):
    """What another process needs to map a part of a source."""

    spec: DatasetSpec
    source: int
    """Index of the source."""
    part: Part
    boundary: Boundary
    offline: bool
    parts: bool
    """Whether parts of files may be read in place of the whole."""
    json_keys: JsonKeys
    metadata_types: Mapping[str, MetadataType] | None
    """Those of the rows before; None for the first ones, which determine them."""
    trial: tuple[Part, Trial] | None
    """A part that is mapped already, and what a mapper has to give for some of its records."""


@dataclass(frozen=True)
class FileRows:
    """The rows of one part, whose records are numbered from 1."""

    rows: list[bytes]
    """Batches, as Arrow IPC."""
    records: int
    metadata_types: Mapping[str, MetadataType] | None
    found: frozenset[str]
    """Columns with a value of those that `UnreadColumns` looks for."""
    unseen: list[NamedColumns]
    """Columns that no record has."""
    files: list[tuple[int, str]]
    """First record, and location."""


@dataclass(frozen=True)
class SourceMapping:
    """Maps a source by this process; `state` counts its records."""

    source: Source
    context: SourceContext
    pipeline: Pipeline
    state: PipelineState

    def files(self, pinned: SourcePin, limit: int | None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the files of a pin."""
        for file in reader_of(self.source).fetch(pinned, self.context, rows=limit):
            self.state.files.append((self.state.next_record, file.location))
            yield from self._file(file)

    def part(self, part: Part, *, alone: bool = False) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a part; an error is that of the whole file, unless it is `alone`."""
        file, own = self._opened(part)
        if part.is_first:
            self.state.files.append((self.state.next_record, file.location))
        try:
            yield from self._file(own)
        except DecodeError:
            if alone or part.lines is None:
                raise
            # Only in the whole file are its lines numbered as they are.
            first, _ = self.state.files[-1]
            yield from self._rows(file, first)

    def check(self, part: Part, trial: Trial) -> None:
        """Raise a MappingError if this process makes other rows of the records of a trial."""
        file, own = self._opened(part)
        trial.check(own, self.source.of_file(file.location), self.pipeline, self.state)

    def _opened(self, part: Part) -> tuple[SourceBytes, SourceBytes]:
        """Return the file of a part, and the part."""
        (file,) = reader_of(self.source).fetch(part.pinned, self.context)
        own = dataclasses.replace(file, row_groups=part.row_groups)
        return file, own if part.lines is None else own.part(part.lines)

    def _file(self, file: SourceBytes) -> Iterator[pa.RecordBatch]:
        state, source = self.state, self.source.of_file(file.location)
        start = state.next_record
        try:
            yield from columnar_pipeline(file, source, self.pipeline, state)
        except (NotColumnarError, DecodeError):
            # The row pipeline maps the rest, or raises the precise error.
            yield from self._rows(file, start)
        state.check(file)

    def _rows(self, file: SourceBytes, first: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a file, whose first record has a number, that are not mapped yet."""
        source, state = self.source.of_file(file.location), self.state
        skip = state.next_record - first
        yield from row_pipeline(file, source, self.pipeline, state, skip=skip)


def map_source(
    spec: DatasetSpec, pinned: SourcePin, mapping: SourceMapping, *, limit: int | None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a source in order; the state of `mapping` counts its records."""
    elsewhere, state = mapping.context.elsewhere, mapping.state
    parts = [] if elsewhere is None else parts_of(spec, mapping.source, pinned, mapping.context)
    if elsewhere is None or limit is not None or len(parts) < 2:
        yield from mapping.files(pinned, limit)
        return
    calls = _Calls(spec, mapping, elsewhere)
    with closing(calls.results(parts)) as mapped:
        for part, found in mapped:
            if found is not None and _fits(found, state):
                yield from _accepted(found, state)
                continue
            # Mapped with the state that it has in a single process, for the same rows or error.
            rows = mapping.part(part)
            if spec.mapper is not None and calls.trial is None:
                rows = observed(rows, spec.mapper, state, partial(calls.use, part))
            yield from rows


@dataclass
class _Calls:
    """Sends the parts of a source elsewhere; a mapper only after this process has mapped one."""

    spec: DatasetSpec
    mapping: SourceMapping
    elsewhere: Executor
    trial: tuple[Part, Trial] | None = None
    """Of a mapper: a part that this process has mapped, and what it gave for some records."""
    is_over: bool = False
    """Whether another process can't map them as this one does."""

    def use(self, part: Part, trial: Trial) -> None:
        """Send further parts, with a trial of this one."""
        self.trial = part, trial

    def results(self, parts: Iterable[Part]) -> Generator[tuple[Part, FileRows | None]]:
        """Yield each part with its rows, or with None if this process has to map it."""
        left = iter(parts)
        waiting: deque[tuple[Part, Later | None]] = deque()
        try:
            while True:
                # The first rows determine the types that all others are mapped with.
                most = 1 if self.mapping.state.metadata_types is None else self.elsewhere.most
                for part in islice(left, max(0, most - len(waiting))):
                    waiting.append((part, self._send(part)))
                if not waiting:
                    return
                part, later = waiting[0]
                found = None if later is None else self._receive(later)
                waiting.popleft()
                yield part, found
        finally:
            for _, later in waiting:
                if later is not None:
                    later.cancel()

    def _send(self, part: Part) -> Later | None:
        """Call `answer` elsewhere; None if this process has to map the part."""
        spec, mapping, context = self.spec, self.mapping, self.mapping.context
        if self.is_over or (spec.mapper is not None and self.trial is None):
            return None
        types = mapping.state.metadata_types
        task = FileTask(
            spec=spec,
            source=spec.sources.index(mapping.source),
            part=part,
            boundary=context.boundary,
            offline=context.offline,
            parts=context.parts,
            json_keys=mapping.pipeline.json_keys,
            metadata_types=types and dict(types),
            trial=self.trial,
        )
        return self.elsewhere.call(f"{__name__}:answer", task, replace(context.cache, used=None))

    def _receive(self, later: Later) -> FileRows | None:
        found: FileRows | None = None
        try:
            found = self._awaited(later)
        except WorkerLostError as error:
            self._warn(f"{error}; this process maps its part")
        except (ManifestError, MappingError) as error:
            if not self.is_over:
                self._warn(f"{error}; this process maps all its records")
            self.is_over = True
        # A mapper that counts may pass the second trial of a process, where the first failed.
        return None if self.is_over else found

    def _awaited(self, later: Later) -> Any:
        while True:
            with suppress(TimeoutError):
                return later.result(timeout=_CHECK_SECONDS)
            self.mapping.context.report(Progress("wait", 0, note="other processes"))

    def _warn(self, message: str) -> None:
        import logging  # slow to import

        logging.getLogger("registry").warning("%s: %s", self.spec.name, message)


def _fits(found: FileRows, state: PipelineState) -> bool:
    """Return whether rows are those that a single process makes, and within its limits."""
    before, after = state.metadata_types, found.metadata_types
    return (
        (before is None or before == after)
        and state.next_record - 1 + found.records <= state.limits.records
        and time.monotonic() <= state.deadline
    )


def _accepted(found: FileRows, state: PipelineState) -> Iterator[pa.RecordBatch]:
    """Yield rows with the numbers that their records have in the source."""
    shift = state.next_record - 1
    state.next_record += found.records
    state.unread.found |= found.found
    state.unread.missing -= found.found
    state.unseen.uses = [use for use in state.unseen.uses if use in found.unseen]
    state.files.extend((first + shift, location) for first, location in found.files)
    state.metadata_types = found.metadata_types
    for rows in found.rows:
        batch = _unpacked(rows, found.metadata_types or {})
        index = batch.schema.get_field_index("record")
        numbers = pc.add(batch.column(index), shift)
        yield batch.set_column(index, batch.schema.field(index), numbers)


def answer(tell: Tell, task: FileTask, cache: Cache) -> FileRows | None:
    """Return the rows of a part; None if the build has to map or to refuse it itself.

    Raises:
        ManifestError, MappingError: this process can't map any part as that of the build does.
    """
    spec, source = task.spec, task.spec.sources[task.source]
    context = SourceContext(
        boundary=task.boundary,
        cache=cache,
        offline=task.offline,
        parts=task.parts,
        dataset=spec.name,
        report=tell,
    )
    rows: list[bytes] = []
    size = done = 0
    with system_memory():
        pipeline = compile_pipeline(spec, Pins(()), context, json_keys=task.json_keys)
        mapping = SourceMapping(source, context, pipeline, _first_state(task))
        if task.trial is not None:
            mapping.check(*task.trial)
        state = _first_state(task)
        try:
            for batch in dataclasses.replace(mapping, state=state).part(task.part, alone=True):
                rows.append(_packed(batch))
                size += len(rows[-1])
                done += batch.num_rows
                if size > _MOST_BYTES:
                    return None
                tell(Progress("map", done))
        except (RegistryError, MetadataTypeMismatchError):
            return None
    return FileRows(
        rows,
        state.next_record - 1,
        state.metadata_types,
        state.unread.found,
        state.unseen.uses,
        state.files,
    )


def _first_state(task: FileTask) -> PipelineState:
    state = PipelineState.of(task.spec, task.boundary.limits)
    state.metadata_types = task.metadata_types
    return state


def _packed(rows: pa.RecordBatch) -> bytes:
    """Return rows as Arrow IPC, without columns of nulls, which take space too."""
    names = [name for name in rows.schema.names if rows.column(name).null_count < len(rows)]
    sink = pa.BufferOutputStream()
    narrow = rows.select(names)
    with pa.ipc.new_stream(sink, narrow.schema) as writer:
        writer.write_batch(narrow)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def _unpacked(rows: bytes, metadata_types: Mapping[str, MetadataType]) -> pa.RecordBatch:
    batch = pa.ipc.open_stream(rows).read_next_batch()
    return with_all_columns(batch, schema_of(metadata_types))


def parts_of(
    spec: DatasetSpec, source: Source, pinned: SourcePin, context: SourceContext
) -> list[Part]:
    """Return the parts of a source, in the order of its records; none if it can't be divided.

    Only files on this machine are divided: of others, each process would fetch the whole.
    """
    if not _may_divide(spec, source, pinned):
        return []
    own = (replace(pinned, files=(file,)) for file in pinned.files)
    return [part for one in own for part in _parts_of_file(spec, source, one, context)]


def _parts_of_file(
    spec: DatasetSpec, source: Source, pinned: SourcePin, context: SourceContext
) -> Iterator[Part]:
    (file,) = pinned.files
    least = _LEAST_BYTES if spec.mapper is None else _LEAST_MAPPER_BYTES
    parts: list[Part] = []
    if file.location.is_local and isinstance(source, ParquetSource):
        parts = [
            Part(pinned, row_groups=one) for one in _row_groups(pinned, source, context, least)
        ]
    elif file.location.is_local and isinstance(source, JsonSource) and file.size > least:
        parts = [Part(pinned, lines=one) for one in _lines(pinned, source, context, least)]
    yield from parts if len(parts) > 1 else [Part(pinned)]


def _lines(
    pinned: SourcePin, source: JsonSource, context: SourceContext, least: int
) -> list[ByteRange]:
    (file,) = reader_of(source).fetch(pinned, context)
    name = file.location
    # Else a line end is no single byte of the file.
    if not source.is_lines(name) or name.packed_suffix or not is_utf8(source.encoding):
        return []
    with file.open() as data:
        return line_ranges(data, size=least, most=file.limits.line_bytes)


def _row_groups(
    pinned: SourcePin, source: Source, context: SourceContext, least: int
) -> list[RowGroups]:
    from registry.decode.parquet_files import divided

    (file,) = reader_of(source).fetch(pinned, context)
    with file.open() as data:
        return divided(data, least)


def _may_divide(spec: DatasetSpec, source: Source, pinned: SourcePin) -> bool:
    """Return whether the parts of a source give the same rows if each is mapped alone.

    Not if a record depends on others or on its number. Whether a mapper, which is any code, does
    is tried. The members of an archive are read together.
    """
    return (
        isinstance(source, FileSource)
        and not any(file.location.member for file in pinned.files)
        and spec.join is None
        and (spec.explode is None or not spec.explode.counts_items)
        and not _uses_row_number(spec)
    )


def _uses_row_number(spec: DatasetSpec) -> bool:
    nodes: list[Any] = [parse_expression(raw) for _, raw in spec.fields.expressions()]
    nodes += [] if spec.where is None else [parse_condition(spec.where)]
    return any(map(uses_row_number, nodes))
