"""Calls of functions that other processes, maybe of other machines, do."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

from registry.base.processes.pool import Workers
from registry.base.processes.worker import WorkerLostError

__all__ = ["Elsewhere", "Later", "WorkerCalls"]

_ATTEMPTS = 2


class Later(Protocol):
    """A call whose result comes later."""

    def result(self, timeout: float | None = None) -> Any:
        """Return what the function returns.

        Raises:
            TimeoutError: it has not returned after so many seconds.
            WorkerLostError: the processes that called it have ended.
        """

    def cancel(self) -> Any:
        """Drop the call, if it has not begun."""


class Elsewhere(Protocol):
    """Where functions can be called."""

    @property
    def most(self) -> int:
        """Calls that keep all processes there busy."""

    def call(self, function: str, *arguments: Any) -> Later:
        """Call a function, `module:name`, that takes a `Tell` before the arguments.

        A `Cache` among the arguments becomes that of the process that calls it.
        """


class WorkerCalls:
    """Calls by the worker processes of this machine, in the order in which they are made."""

    def __init__(self, workers: Workers) -> None:
        """Start nothing yet."""
        self._workers = workers
        self._threads = ThreadPoolExecutor(workers.most, thread_name_prefix="calls")

    @property
    def most(self) -> int:
        """One call for each worker, and as many that wait."""
        return 2 * self._workers.most

    def call(self, function: str, *arguments: Any) -> Future[Any]:
        """Call a function in the next worker that is free."""
        return self._threads.submit(self._call, function, arguments)

    def end(self) -> None:
        """Drop the calls that have not begun."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _call(self, function: str, arguments: tuple[Any, ...]) -> Any:
        for attempt in range(_ATTEMPTS):
            try:
                with self._workers.borrow() as worker:
                    worker.send(function, *arguments)
                    return worker.receive()
            except WorkerLostError:
                if attempt == _ATTEMPTS - 1:
                    raise
        raise AssertionError
