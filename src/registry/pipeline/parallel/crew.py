"""Workers that map blocks of lines, and the queue that they share with the process of the build."""

from __future__ import annotations

import pickle  # nosec B403
import threading
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from registry.base.processes.worker import Worker, WorkerLostError
from registry.errors import RegistryError
from registry.pipeline.parallel import shard
from registry.pipeline.parallel.shard import Lines, Mapped, Setup, unpacked

if TYPE_CHECKING:
    import pyarrow as pa

    from registry.store.schema import MetadataType

__all__ = ["Block", "Crew", "Trial"]

_IN_FLIGHT = 2
"""Blocks that a worker has, so that it never waits for the next one."""


@dataclass
class Block:
    """Lines to map, and what came of them."""

    lines: Lines
    source: int
    """Index of its source."""
    is_last: bool
    done: bool = False
    mapped: Mapped | None = None
    """None until it is done, and if the row pipeline has to map the rest of the file."""


@dataclass(frozen=True)
class Trial:
    """Lines whose rows are known: a worker that gives others is not used."""

    lines: Lines
    source: int
    rows: pa.RecordBatch
    metadata_types: dict[str, MetadataType]
    missing: frozenset[str]
    """Columns that `UnreadColumns` still looks for."""


class Crew:
    """Starts workers, each with a thread that waits for it, and ends them."""

    def __init__(self, setup: Setup) -> None:
        """Start nothing yet."""
        self._setup = setup
        self._threads: list[threading.Thread] = []
        # Guards what follows; notified when any of it changes.
        self._changed = threading.Condition()
        self._workers: list[Worker] = []
        self._waiting: deque[Block] = deque()
        self._ended = False

    @property
    def process_ids(self) -> list[int]:
        """Ids of the workers so far."""
        return [worker.process_id for worker in self._workers]

    @property
    def most_blocks(self) -> int:
        """Blocks that may be read and not written: what keeps every process busy."""
        return 1 + (_IN_FLIGHT + 1) * len(self._threads)

    def start(self, count: int, trial: Trial) -> None:
        """Start workers, without waiting for them."""
        for number in range(count):
            name = f"worker-{number}"
            thread = threading.Thread(target=self._run, args=(trial,), name=name, daemon=True)
            self._threads.append(thread)
            thread.start()

    def end(self) -> None:
        """Kill the workers."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
            workers = list(self._workers)
        for worker in workers:
            worker.stop()
        for thread in self._threads:
            thread.join()

    def offer(self, block: Block) -> None:
        """Let the next process that is free map a block."""
        with self._changed:
            self._waiting.append(block)
            self._changed.notify_all()

    def withdraw(self) -> None:
        """Take back what no process has begun."""
        with self._changed:
            self._waiting.clear()

    def take(self, wanted: Block, *, seconds: float) -> Block | None:
        """Return the next block; None if `wanted` is done first, or after some seconds."""
        with self._changed:
            self._changed.wait_for(lambda: wanted.done or self._waiting, seconds)
            return None if wanted.done or not self._waiting else self._waiting.popleft()

    def _run(self, trial: Trial) -> None:
        try:
            with Worker() as worker:
                with self._changed:
                    self._workers.append(worker)
                    if self._ended:  # before it could be told to stop
                        return
                worker.send(f"{shard.__name__}:prepare", self._setup)
                if self._passes(worker, trial):
                    self._work(worker, trial)
        # A RegistryError is that of `prepare`; the others are those of pickling.
        except (
            WorkerLostError,
            RegistryError,
            pickle.PicklingError,
            TypeError,
            AttributeError,
        ) as error:
            if not self._ended:
                self._warn(f"{error}; the process of the build maps its records")

    def _passes(self, worker: Worker, trial: Trial) -> bool:
        """Return whether a worker gives the rows that this process gives."""
        _request(worker, trial.lines, trial.source, trial)
        worker.receive()
        mapped = _mapped(worker.receive(), trial)
        if mapped is None and self._setup.names_files:  # only this process can look them up
            return False
        rows = None if mapped is None else mapped.rows
        # By their text, as NaN differs from itself.
        if rows is not None and str(rows.to_pylist()) == str(trial.rows.to_pylist()):
            return True
        self._warn(
            f"the samples of records {trial.lines.first:,} to"
            f" {trial.lines.first + trial.lines.count - 1:,} differ in another process, so only one"
            " maps the records (is the mapper a function of its record alone?)"
        )
        return False

    def _work(self, worker: Worker, trial: Trial) -> None:
        """Have a worker map blocks until the end; what it leaves is offered again."""
        sent: deque[Block] = deque()
        try:
            while not self._ended:
                block = self._next(wait=not sent) if len(sent) < _IN_FLIGHT else None
                if block is not None:
                    sent.append(block)
                    _request(worker, block.lines, block.source, trial)
                elif sent:
                    mapped = _mapped(worker.receive(), trial)
                    with self._changed:
                        block = sent.popleft()
                        block.mapped, block.done = mapped, True
                        self._changed.notify_all()
        finally:
            with self._changed:
                self._waiting.extendleft(reversed(sent))
                self._changed.notify_all()

    def _next(self, *, wait: bool) -> Block | None:
        """Return the next block; None at the end, or if none waits now."""
        with self._changed:
            if wait:
                self._changed.wait_for(lambda: self._ended or self._waiting)
            return self._waiting.popleft() if self._waiting and not self._ended else None

    def _warn(self, message: str) -> None:
        import logging  # slow to import

        logging.getLogger("registry").warning("%s: %s", self._setup.spec.name, message)


def _request(worker: Worker, lines: Lines, source: int, trial: Trial) -> None:
    name = f"{shard.__name__}:answer"
    worker.send(name, source, lines, trial.metadata_types, trial.missing)


def _mapped(answer: tuple[bytes, int, frozenset[str]] | None, trial: Trial) -> Mapped | None:
    if answer is None:
        return None
    rows, records, found = answer
    return Mapped(unpacked(rows, trial.metadata_types), records, trial.metadata_types, found)
