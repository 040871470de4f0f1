"""What runs on the workers of a Ray cluster."""

from __future__ import annotations

import time
from typing import Any

import ray

from registry.api import Job, Progress, SyncResult, WorkerLostError
from registry.plugins.cluster import agreement
from registry.plugins.cluster.agreement import JobRequest, StoppedError

__all__ = ["Board", "build"]

_REPORT_SECONDS = 0.25


class Board:
    """An actor: takes what tasks report, and tells them when the caller has stopped."""

    def __init__(self) -> None:
        """Begin without reports."""
        self._events: dict[str, tuple[Any, ...]] = {}
        self._is_stopped = False

    def tell(self, event: tuple[Any, ...]) -> bool:
        """Keep the last event of a dataset; return whether the caller has stopped."""
        self._events[event[0]] = event
        return self._is_stopped

    def is_stopped(self) -> bool:
        """Return whether the caller has stopped."""
        return self._is_stopped

    def take(self) -> list[tuple[Any, ...]]:
        """Return the events since the last call."""
        events, self._events = self._events, {}
        return list(events.values())

    def stop(self) -> None:
        """Tell each task at its next report to end."""
        self._is_stopped = True


def build(ask: JobRequest, board: Any, job: Job) -> SyncResult:
    """Build a dataset; with several files, by tasks of their own."""
    address = ray.util.get_node_ip_address()
    report = _Reports(board, job.spec.name)
    return agreement.build(ask, job, address=address, report=report, calls=_Calls(ask, board))


def call(ask: JobRequest, board: Any, function: str, arguments: tuple[Any, ...]) -> Any:
    """Call a function of the package."""
    return agreement.call(ask, function, arguments, _Reports(board, ""))


class _Reports:
    """Sends progress to the caller, at a rate that one actor can take; ends cancelled work."""

    def __init__(self, board: Any, name: str) -> None:
        self._board, self._name = board, name
        self._next = 0.0
        self._stage = ""

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now < self._next and progress.stage == self._stage:
            return
        self._next, self._stage = now + _REPORT_SECONDS, progress.stage
        event = (self._name, progress.stage, progress.done, progress.total, progress.note)
        told = self._board.tell.remote(event) if self._name else self._board.is_stopped.remote()
        if ray.get(told):
            raise StoppedError


class _Calls:
    """Calls by any worker of the cluster, from a task of it, which gives its processor away."""

    def __init__(self, ask: JobRequest, board: Any) -> None:
        self._ask, self._board = ask, board
        self._task = ray.remote(call)

    @property
    def most(self) -> int:
        """One call for each processor of the cluster, and as many that wait."""
        return 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))

    def call(self, function: str, *arguments: Any) -> _Call:
        """Submit a task."""
        return _Call(self._task.remote(self._ask, self._board, function, arguments))


class _Call:
    """A task whose result comes later."""

    def __init__(self, task: Any) -> None:
        self._task = task

    def result(self, timeout: float | None = None) -> Any:
        """Return the result; a task of a lost worker is run again by Ray."""
        try:
            return ray.get(self._task, timeout=timeout)
        except (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError) as error:
            raise WorkerLostError("workers ended again and again") from error

    def cancel(self) -> None:
        """Drop the task."""
        ray.cancel(self._task)
