"""Map the lines of a file in several processes, in order."""

from __future__ import annotations

import codecs
import os
import time
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import IO, TYPE_CHECKING, Self

import numpy as np

from registry.base.locations import packed_suffix
from registry.base.processes.worker import can_start
from registry.decode.chunks import line_blocks
from registry.decode.frame import NotColumnarError
from registry.decode.stream import is_utf8, open_bytes
from registry.manifest.source_models import JsonSource
from registry.pipeline.parallel.crew import Block, Crew, Trial
from registry.pipeline.parallel.shard import Lines, Setup, map_lines, trial_of

if TYPE_CHECKING:
    import pyarrow as pa

    from registry.decode.stream import SourceBytes
    from registry.manifest.models import DatasetSpec
    from registry.manifest.source import Source
    from registry.pipeline.pipeline import Pipeline, PipelineState

__all__ = ["Shards"]

_LEAST_SECONDS = 0.5
"""Work for which a worker is started; it needs half of that before it maps anything."""
_BLOCK_BYTES = 1 << 20
_MOST_WORKERS = 8
"""The process of the build reads and writes everything: more could not be kept busy."""
_CHECK_SECONDS = 1.0
"""How long the process of the build waits at a time, before it looks at its clock."""


class Shards:
    """Maps files of JSON Lines, with workers as soon as enough is left to do.

    The process of the build reads the blocks, and maps each that no worker has taken.
    """

    def __init__(
        self,
        spec: DatasetSpec,
        pipeline: Pipeline,
        *,
        jobs: int,
        least_seconds: float = _LEAST_SECONDS,
        block_bytes: int = _BLOCK_BYTES,
    ) -> None:
        """Start nothing yet.

        Args:
            spec: The dataset.
            pipeline: Its compiled mapping.
            jobs: Processes that may be used, this one included.
            least_seconds: Work that must be left for each worker.
            block_bytes: Size of a block.
        """
        self._spec = spec
        self._pipeline = pipeline
        self._is_divisible = _is_divisible(spec)
        self._most = min(jobs - 1, _MOST_WORKERS) if can_start() else 0
        self._least_seconds = least_seconds
        self._block_bytes = block_bytes
        self._rate = 0.0
        """Seconds per byte of the last block that this process mapped."""
        self._seconds = 0.0
        """Time that this process has spent on all blocks."""
        self._started = False
        names_files = pipeline.resolve is not None
        self._crew = Crew(Setup(spec, pipeline.boundary, pipeline.json_keys, names_files))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._crew.end()

    @property
    def process_ids(self) -> list[int]:
        """Ids of the workers that were started."""
        return self._crew.process_ids

    def takes(self, file: SourceBytes, source: Source) -> bool:
        """Return whether a file can be mapped here."""
        return (
            self._is_divisible
            and isinstance(source, JsonSource)
            and source.is_lines(file.location)
            and is_utf8(source.encoding)
        )

    def map(
        self, file: SourceBytes, source: Source, state: PipelineState
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a file that it takes; `state` counts the mapped records.

        Raises:
            NotColumnarError: the row pipeline has to map the remaining records.
            DecodeError: the remaining part of the file is invalid.
        """
        with open_bytes(file) as data:
            size, read = _size_of(file), 0
            taken: deque[Block] = deque()
            reader = _Reader(self._blocks(data, file, source, state.next_record))
            try:
                while True:
                    for block in reader.up_to(self._crew.most_blocks - len(taken)):
                        taken.append(block)
                        self._crew.offer(block)
                    if not taken:
                        reader.finish()
                        return
                    block = taken.popleft()
                    self._map_until_done(block, file, source, state)
                    yield from _accept(block, state)
                    state.check(file)
                    read += len(block.lines.text)
                    if not self._started:
                        left = None if size is None else size - read
                        self._start(block, self._seconds_left(left), state)
            finally:
                self._crew.withdraw()

    def _blocks(
        self, data: IO[bytes], file: SourceBytes, source: Source, first: int
    ) -> Iterator[Block]:
        index = self._spec.sources.index(source)
        texts = self._texts(data, file)
        text = next(texts, None)
        while text is not None:
            following = next(texts, None)
            if following is not None and following.startswith(codecs.BOM_UTF8):
                # At the start of a block it would count as that of a file, which is dropped.
                raise NotColumnarError("a byte-order mark in the middle")
            count = text.count(b"\n") + (not text.endswith(b"\n"))
            yield Block(Lines(text, first, count), index, is_last=following is None)
            first += count
            text = following

    def _texts(self, data: IO[bytes], file: SourceBytes) -> Iterator[bytearray]:
        """Yield blocks, a small one first: soon the time is known that a record takes."""
        texts = line_blocks(data, most=file.limits.line_bytes, size=self._block_bytes)
        for first in texts:
            end = first.find(b"\n", self._block_bytes >> 3) + 1 or len(first)
            yield first[:end]
            if end < len(first):
                yield first[end:]
            break
        yield from texts

    def _map_until_done(
        self, wanted: Block, file: SourceBytes, source: Source, state: PipelineState
    ) -> None:
        """Map blocks in this process until one is done, here or by a worker."""
        while not wanted.done:
            block = self._crew.take(wanted, seconds=_CHECK_SECONDS)
            state.check(file)
            if block is not None:
                start = time.perf_counter()
                block.mapped = map_lines(block.lines, source, self._spec, self._pipeline, state)
                block.done = True
                seconds = time.perf_counter() - start
                self._rate = seconds / len(block.lines.text)
                self._seconds += seconds

    def _seconds_left(self, left: float | None) -> float:
        """Return about how long this process would take for the bytes that are left."""
        # What has taken long will take as long again, if nothing else is known.
        return self._seconds if left is None else self._rate * left

    def _start(self, block: Block, seconds: float, state: PipelineState) -> None:
        """Start workers for the rest, if it is enough, after a block that this process mapped."""
        rows, types = block.mapped and block.mapped.rows, state.metadata_types
        count = min(self._most, int(seconds / self._least_seconds))
        if not count or block.is_last or state.unseen.uses or rows is None or types is None:
            return
        # The first block includes what is done once, such as the making of validators.
        is_first = block.lines.first == 1
        if is_first and self._seconds < self._least_seconds:
            return
        # A mapper that counts gives the same for the first record, wherever it runs.
        lines = trial_of(block.lines)
        if lines.first == 1:
            return
        start = int(np.searchsorted(rows.column("record").to_numpy(), lines.first))
        self._crew.start(
            count,
            Trial(lines, block.source, rows.slice(start), dict(types), state.unread.missing),
        )
        self._started = True


class _Reader:
    """Reads blocks ahead; an error waits until all blocks before it are done."""

    def __init__(self, blocks: Iterator[Block]) -> None:
        self._blocks = blocks
        self._error: Exception | None = None

    def up_to(self, count: int) -> list[Block]:
        """Return the next blocks."""
        found: list[Block] = []
        try:
            if self._error is None:
                found.extend(islice(self._blocks, count))
        except Exception as error:  # noqa: BLE001 (raised again when it is its turn)
            self._error = error
        return found

    def finish(self) -> None:
        """Raise the error that ended the blocks, if any."""
        if self._error is not None:
            raise self._error


def _is_divisible(spec: DatasetSpec) -> bool:
    """Return whether records are mapped one by one, and each independently of all others."""
    explode = spec.explode
    by_record = spec.mapper is not None or explode is not None
    return by_record and spec.join is None and (explode is None or explode.number is None)


def _size_of(file: SourceBytes) -> int | None:
    """Return the bytes of a file; None if they are unknown until it is read."""
    if file.local_path is None or packed_suffix(file.location):
        return None
    return os.path.getsize(file.local_path)


def _accept(block: Block, state: PipelineState) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a block that is done, and count its records."""
    mapped = block.mapped
    # The numbers of all later records are wrong if a line was empty.
    if mapped is None or (mapped.records != block.lines.count and not block.is_last):
        raise NotColumnarError("records that the row pipeline has to map")
    state.next_record = block.lines.first + mapped.records
    state.unread.found |= mapped.found
    state.unread.missing -= mapped.found
    if mapped.rows is not None:
        state.metadata_types = mapped.metadata_types
        yield mapped.rows
