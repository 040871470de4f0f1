"""Workers that several threads share."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Self

from registry.base.processes.worker import Worker
from registry.errors import RegistryError

__all__ = ["Workers", "WorkersEndedError"]


class WorkersEndedError(Exception):
    """The work is not wanted any more."""


class Workers:
    """At most so many workers, each started when it is needed first."""

    def __init__(self, most: int) -> None:
        """Start nothing yet; with 0 there are none."""
        self.most = most
        # Guards what follows; notified when any of it changes.
        self._changed = threading.Condition()
        self._free: list[Worker] = []
        self._running: list[Worker] = []
        self._borrowed = 0
        self._ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def end(self) -> None:
        """Kill all workers; threads that wait for one, or for its answer, get an error."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
            free, borrowed = self._free, set(self._running) - set(self._free)
            self._free = []
        for worker in free:
            worker.close()
        for worker in borrowed:  # the thread that has it closes it
            worker.stop()

    @contextlib.contextmanager
    def borrow(self) -> Iterator[Worker]:
        """Yield a worker that no other thread uses; wait until there is one.

        It is killed if the block ends with an error other than one of ours, as it may be at work.

        Raises:
            WorkerLostError: none can be started.
            WorkersEndedError: `end` was called.
        """
        worker = self._take()
        is_sound = False
        try:
            yield worker
            is_sound = True
        except RegistryError:
            is_sound = True
            raise
        finally:
            self._give_back(worker, is_sound=is_sound)
            if self._ended:
                raise WorkersEndedError

    def _take(self) -> Worker:
        with self._changed:
            self._changed.wait_for(lambda: self._ended or self._borrowed < self.most)
            if self._ended:
                raise WorkersEndedError
            if self._free:
                self._borrowed += 1
                return self._free.pop()
            # Here, so that `end` knows of it.
            worker = Worker()
            self._running.append(worker)
            self._borrowed += 1
            return worker

    def _give_back(self, worker: Worker, *, is_sound: bool) -> None:
        with self._changed:
            self._borrowed -= 1
            if is_sound and not self._ended:
                self._free.append(worker)
            else:
                self._running.remove(worker)
                worker.close()
            self._changed.notify_all()
