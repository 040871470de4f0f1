"""Map a source: here, or in parts elsewhere, where a mapper is tried first."""

from __future__ import annotations

import dataclasses
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from registry.base.executor import WorkerLostError
from registry.base.process_state import system_memory
from registry.decode.frame import NotColumnarError
from registry.errors import DecodeError, ManifestError, MappingError, RegistryError
from registry.mapping.custom import mapper_digest
from registry.pipeline.file_rows import columnar_pipeline, row_pipeline
from registry.pipeline.parts import Part, parts_of
from registry.pipeline.pipeline import JsonKeys, Pipeline, PipelineState, compile_pipeline
from registry.progress import Progress
from registry.sources.pins import Pins, SourceContext
from registry.sources.source_type import reader_of
from registry.store.schema import MetadataTypeMismatchError, schema_of, with_all_columns

if TYPE_CHECKING:
    from registry.base.executor import Executor, Later
    from registry.base.worker_program import Tell
    from registry.boundary.boundary import Boundary
    from registry.cache.cache import Cache
    from registry.decode.stream import SourceBytes
    from registry.manifest.models import DatasetSpec
    from registry.manifest.source import Source
    from registry.mapping.columns_used import NamedColumns
    from registry.samples.frames.layout import MetadataType
    from registry.sources.pins import SourcePin

__all__ = ["FileRows", "FileTask", "SourceMapping", "answer", "map_source"]

_MOST_BYTES = 1 << 29
"""Rows of one part, which are in memory together; one with more is mapped by the build."""
_CHECK_SECONDS = 0.5
"""How long the build waits at a time, before it looks whether it is still wanted."""
_RECORDS = 64
"""Records of a trial."""


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


class Trial(Struct, frozen=True):
    """Records of a part, and the rows that the process of the build made of them."""

    first: int
    """Number of the first of the records."""
    skip: int
    """Records of the part before it: at least one, as the first is 1 wherever a mapper counts."""
    stop: int
    """Records of the part up to the last of them."""
    rows: list[str]
    """Each row as text, as NaN differs from itself."""
    mapper: str
    code: str
    """Digest of the mapper's package."""

    def check(
        self, file: SourceBytes, source: Source, pipeline: Pipeline, state: PipelineState
    ) -> None:
        """Map the records by this process; `file` has those of the part.

        Raises:
            MappingError: the rows differ, or the code does.
        """
        if mapper_digest(self.mapper) != self.code:
            raise MappingError(f"the code of the mapper {self.mapper} differs in another process")
        state.next_record = self.first
        batches = row_pipeline(file, source, pipeline, state, skip=self.skip, stop=self.stop)
        rows: list[str] = []
        with suppress(RegistryError, MetadataTypeMismatchError):
            rows += [str(row) for batch in batches for row in batch.to_pylist()]
        if rows != self.rows:
            last = self.first + self.stop - self.skip - 1
            raise MappingError(
                f"the samples of records {self.first:,} to {last:,} differ in"
                " another process (is the mapper a function of its record alone?)"
            )


def observed(
    batches: Iterator[pa.RecordBatch],
    mapper: str,
    state: PipelineState,
    use: Callable[[Trial], None],
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a part; then give a trial to `use`, if it has more than one record."""
    start = state.next_record
    rows: list[dict[str, Any]] = []
    for batch in batches:
        numbers = batch.column("record").to_numpy()
        rows += batch.slice(0, int(np.searchsorted(numbers, start + 2 * _RECORDS))).to_pylist()
        yield batch
    count = state.next_record - start
    skip = min(_RECORDS, count // 2)
    stop = min(skip + _RECORDS, count)
    if skip:
        tried = range(start + skip, start + stop)
        texts = [str(row) for row in rows if row["record"] in tried]
        use(Trial(start + skip, skip, stop, texts, mapper, mapper_digest(mapper)))
