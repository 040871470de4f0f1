"""Map the lines of a file in several processes, in order."""

from __future__ import annotations

import codecs
import contextlib
import os
import pickle  # nosec B403
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Self

import numpy as np

from registry.base.processes.executor import WorkerLostError, Workers, can_start
from registry.base.processes.in_order import in_order
from registry.decode.frame import NotColumnarError
from registry.decode.stream import is_utf8, line_blocks, open_bytes
from registry.errors import RegistryError
from registry.manifest.source_models import JsonSource
from registry.pipeline.parallel import lines
from registry.pipeline.parallel.lines import (
    Lines,
    Mapped,
    Setup,
    has_files,
    map_lines,
    packed,
    trial_of,
    unpacked,
)

if TYPE_CHECKING:
    from concurrent.futures import Future

    import pyarrow as pa

    from registry.base.processes.executor import Later
    from registry.decode.stream import SourceBytes
    from registry.manifest.models import DatasetSpec
    from registry.manifest.source import Source
    from registry.pipeline.pipeline import Pipeline, PipelineState
    from registry.store.schema import MetadataType

__all__ = ["Shards"]

_LEAST_SECONDS = 0.5
"""Work for which a worker is started; it needs half of that before it maps anything."""
_BLOCK_BYTES = 1 << 20
_AHEAD = 3
"""Blocks for each worker that may be read and not written, so that it never waits."""
_MOST_WORKERS = 8
"""The process of the build reads and writes everything: more could not be kept busy."""
_CHECK_SECONDS = 1.0
"""How long the process of the build waits at a time, before it looks at its clock."""


@dataclass(frozen=True)
class _Block:
    """Lines to map."""

    lines: Lines
    source: int
    """Index of its source."""
    is_last: bool


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
        self._workers: Workers | None = None
        self._types: dict[str, MetadataType] = {}
        """Types of the metadata, once there are workers."""
        self._ready: list[Future[Any]] = []
        """Done when a worker is."""
        self._lost = 0
        self._is_over = False
        """Whether all workers were lost, or are of no use."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._workers is not None:
            self._workers.end()

    @property
    def process_ids(self) -> list[int]:
        """Ids of the workers that run."""
        return [] if self._workers is None else self._workers.process_ids

    def takes(self, file: SourceBytes, source: Source) -> bool:
        """Return whether a file can be mapped here."""
        return (
            self._is_divisible
            and not source.captures  # a worker knows the lines, not their file
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
            mapped_blocks = in_order(
                self._blocks(data, file, source, state.next_record),
                self._send,
                ahead=self._most_blocks,
                receive=partial(self._receive, file, state),
                here=partial(self._map, file, source, state),
            )
            with contextlib.closing(mapped_blocks):
                for block, mapped in mapped_blocks:
                    yield from _counted(block, mapped, state)
                    state.check(file)
                    read += len(block.lines.text)
                    if self._workers is None and not self._is_over:
                        left = None if size is None else size - read
                        self._start(block, mapped, self._seconds_left(left), state)

    def _most_blocks(self) -> int:
        """Blocks that may be read and not written: what keeps every process busy."""
        return 1 + _AHEAD * self._workers.processes if self._workers and self._can_offer() else 1

    def _can_offer(self) -> bool:
        """Return whether a worker has started: until then this process goes on alone."""
        if self._workers is None:
            return False
        for later in [later for later in self._ready if later.done()]:
            self._ready.remove(later)
            self._result(later)
        return not self._is_over and len(self._ready) < self._workers.processes

    def _send(self, block: _Block) -> Later | None:
        if self._workers is None or not self._can_offer():
            return None
        name = f"{lines.__name__}:answer"
        return self._workers.call(name, block.source, block.lines, attempts=1)

    def _receive(self, file: SourceBytes, state: PipelineState, later: Later) -> Mapped | None:
        """Return what a worker made of a block; what it could not do is done by this process."""
        try:
            found = self._result(later, _CHECK_SECONDS)
        finally:
            state.check(file)
        if found is None:
            return None
        rows, records, columns = found
        return Mapped(unpacked(rows, self._types), records, self._types, columns)

    def _blocks(
        self, data: IO[bytes], file: SourceBytes, source: Source, first: int
    ) -> Iterator[_Block]:
        index = self._spec.sources.index(source)
        texts = self._texts(data, file)
        text = next(texts, None)
        while text is not None:
            following = next(texts, None)
            if following is not None and following.startswith(codecs.BOM_UTF8):
                # At the start of a block it would count as that of a file, which is dropped.
                raise NotColumnarError("a byte-order mark in the middle")
            count = text.count(b"\n") + (not text.endswith(b"\n"))
            yield _Block(Lines(text, first, count), index, is_last=following is None)
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

    def _result(self, later: Later, seconds: float | None = None) -> Any:
        """Return what a worker gives; None if it was lost, or can't do it."""
        try:
            return later.result(timeout=seconds)
        except WorkerLostError as error:
            self._lost += 1
            self._warn(
                error, is_over=self._workers is None or self._lost >= self._workers.processes
            )
        # That of `prepare`, and those of pickling.
        except (RegistryError, pickle.PicklingError, TypeError, AttributeError) as error:
            self._warn(error, is_over=True)
        return None

    def _warn(self, error: Exception, *, is_over: bool) -> None:
        if not self._is_over:
            self._is_over = is_over
            import logging  # slow to import

            message = "%s: %s; the process of the build maps its records"
            logging.getLogger("registry").warning(message, self._spec.name, error)

    def _map(
        self, file: SourceBytes, source: Source, state: PipelineState, block: _Block
    ) -> Mapped | None:
        """Map a block in this process; None if the row pipeline has to map the rest of the file."""
        start = time.perf_counter()
        mapped = map_lines(block.lines, source, self._pipeline, state)
        seconds = time.perf_counter() - start
        self._rate = seconds / len(block.lines.text)
        self._seconds += seconds
        state.check(file)
        return mapped

    def _seconds_left(self, left: float | None) -> float:
        """Return about how long this process would take for the bytes that are left."""
        # What has taken long will take as long again, if nothing else is known.
        return self._seconds if left is None else self._rate * left

    def _start(
        self, block: _Block, mapped: Mapped | None, seconds: float, state: PipelineState
    ) -> None:
        """Start workers for the rest, if it is enough, after a block that this process mapped."""
        rows, types = mapped and mapped.rows, state.metadata_types
        count = min(self._most, int(seconds / self._least_seconds))
        if not count or block.is_last or state.unseen.uses or rows is None or types is None:
            return
        # The first block includes what is done once, such as the making of validators.
        is_first = block.lines.first == 1
        if is_first and self._seconds < self._least_seconds:
            return
        # A mapper that counts gives the same for the first record, wherever it runs.
        trial = trial_of(block.lines)
        if trial.first == 1:
            return
        first = int(np.searchsorted(rows.column("record").to_numpy(), trial.first))
        names_files = self._pipeline.resolve is not None
        if names_files and has_files(rows):  # only this process can look them up
            self._is_over = True
            return
        self._types = dict(types)
        setup = Setup(
            spec=self._spec,
            boundary=self._pipeline.boundary,
            json_keys=self._pipeline.json_keys,
            names_files=names_files,
            metadata_types=self._types,
            missing=state.unread.missing,
            trial=trial,
            source=block.source,
            rows=packed(rows.slice(first)),
        )
        self._workers = Workers(count, prepare=(f"{lines.__name__}:prepare", (setup,)))
        ready = partial(self._workers.call, f"{lines.__name__}:ready", attempts=1)
        self._ready = [ready() for _ in range(count)]


def _is_divisible(spec: DatasetSpec) -> bool:
    """Return whether records are mapped one by one, and each independently of all others."""
    explode = spec.explode
    by_record = spec.mapper is not None or explode is not None
    return by_record and spec.join is None and (explode is None or not explode.counts_items)


def _size_of(file: SourceBytes) -> int | None:
    """Return the bytes of a file; None if they are unknown until it is read."""
    if file.local_path is None or file.location.packed_suffix:
        return None
    return os.path.getsize(file.local_path)


def _counted(
    block: _Block, mapped: Mapped | None, state: PipelineState
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a block that is done, and count its records."""
    # The numbers of all later records are wrong if a line was empty.
    if mapped is None or (mapped.records != block.lines.count and not block.is_last):
        raise NotColumnarError("records that the row pipeline has to map")
    state.next_record = block.lines.first + mapped.records
    state.unread.found |= mapped.found
    state.unread.missing -= mapped.found
    if mapped.rows is not None:
        state.metadata_types = mapped.metadata_types
        yield mapped.rows
