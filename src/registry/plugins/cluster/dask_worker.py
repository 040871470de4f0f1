"""What runs on the workers of a Dask cluster."""

from __future__ import annotations

import time
from typing import Any

from dask import distributed

from registry.api import Job, Progress, SyncResult, WorkerLostError
from registry.plugins.cluster import agreement
from registry.plugins.cluster.agreement import JobRequest, StoppedError

__all__ = ["build", "stop"]

_REPORT_SECONDS = 0.25
_CALLS_FIRST = 10
"""Priority of a part of a dataset: one that has begun is finished before others begin."""

_stopped: set[str] = set()
"""Runs whose caller has stopped."""


async def stop(run: str) -> None:
    """End the tasks of a run in this process at their next report.

    Asynchronous, as the caller does not wait for it.
    """
    _stopped.add(run)


def build(ask: JobRequest, job: Job) -> SyncResult:
    """Build a dataset; with several files, by tasks of their own."""
    address = distributed.get_worker().address
    reports = _Reports(ask.run, job.spec.name)
    return agreement.build(ask, job, address=address, report=reports, calls=_Calls(ask))


def call(ask: JobRequest, function: str, arguments: tuple[Any, ...]) -> Any:
    """Call a function of the package."""
    return agreement.call(ask, function, arguments, _Reports(ask.run, ""))


class _Reports:
    """Sends progress to the caller, at a rate that the scheduler can take; ends cancelled work."""

    def __init__(self, run: str, name: str) -> None:
        self._run, self._name = run, name
        self._worker = distributed.get_worker()
        self._next = 0.0
        self._stage = ""

    def __call__(self, progress: Progress) -> None:
        if self._run in _stopped:
            raise StoppedError
        now = time.monotonic()
        if not self._name or (now < self._next and progress.stage == self._stage):
            return
        self._next, self._stage = now + _REPORT_SECONDS, progress.stage
        event = (self._name, progress.stage, progress.done, progress.total, progress.note)
        self._worker.log_event(self._run, event)


class _Calls:
    """Calls by any worker of the cluster, from a task of it."""

    def __init__(self, ask: JobRequest) -> None:
        self._ask = ask
        self._client: Any = None

    @property
    def most(self) -> int:
        """One call for each thread of the cluster, and as many that wait."""
        threads: dict[str, int] = self._connected().nthreads()
        return 2 * max(1, sum(threads.values()))

    def call(self, function: str, *arguments: Any) -> _Call:
        """Submit a task."""
        future = self._connected().submit(
            call,
            self._ask,
            function,
            arguments,
            pure=False,
            priority=_CALLS_FIRST,
            key=f"part-{distributed.get_worker().name}-{time.monotonic_ns()}",
        )
        return _Call(future)

    def _connected(self) -> Any:
        if self._client is None:
            self._client = distributed.get_client()
            # Else this task, which only waits, would take a thread of the worker.
            distributed.secede()
        return self._client


class _Call:
    """A task whose result comes later."""

    def __init__(self, future: Any) -> None:
        self._future = future

    def result(self, timeout: float | None = None) -> Any:
        """Return the result; a task of a lost worker is run again by the scheduler."""
        # `Future.result` would drop what has arrived of a large result at each time limit.
        distributed.wait(self._future, timeout=timeout)
        try:
            return self._future.result()
        except distributed.KilledWorker as error:
            raise WorkerLostError(f"workers ended again and again: {error}") from error

    def cancel(self) -> None:
        """Drop the task."""
        self._future.cancel()
