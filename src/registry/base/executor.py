"""The worker processes of this machine, and the interface of all that call functions elsewhere."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess  # nosec B404
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol, Self

from registry.base import worker_program
from registry.errors import RegistryError

__all__ = [
    "Executor",
    "Later",
    "WorkerLostError",
    "Workers",
    "WorkersEndedError",
    "can_start",
    "command_pid",
    "is_worker",
]

_ATTEMPTS = 2


class WorkerLostError(Exception):
    """A worker ended, or failed in a way that says nothing about its work."""


class WorkersEndedError(Exception):
    """The work is not wanted any more."""


class Later(Protocol):
    """A call whose result comes later."""

    def result(self, timeout: float | None = None) -> Any:
        """Return what the function returns.

        Raises:
            TimeoutError: it has not returned after so many seconds.
            WorkerLostError: the processes that called it have ended.
        """

    def cancel(self) -> Any:
        """Drop the call, if it has not begun; return whether that is so."""


class Executor(Protocol):
    """Where functions can be called: the workers of this machine, or those of a cluster."""

    @property
    def most(self) -> int:
        """Calls that keep all processes there busy."""

    def call(self, function: str, *arguments: Any) -> Later:
        """Call a function, `module:name`, that takes a `Tell` before the arguments.

        A `Cache` among the arguments becomes that of the process that calls it.
        """


def can_start() -> bool:
    """Return whether this interpreter can start another one: not if it is part of a program."""
    return bool(sys.executable) and os.name == "posix" and Path(worker_program.__file__).is_file()


def command_pid() -> int:
    """Return the process that all workers of a command have in common: in a worker its parent."""
    return os.getppid() if is_worker() else os.getpid()


def is_worker() -> bool:
    """Return whether this process is a worker."""
    return getattr(sys.modules["__main__"], "__file__", None) == worker_program.__file__


class Workers:
    """At most so many workers, each started when it is needed first.

    Not those of `concurrent.futures`, which run the user's main module again, and are all lost
    with one of them.
    """

    def __init__(
        self, processes: int, *, prepare: tuple[str, tuple[Any, ...]] | None = None
    ) -> None:
        """Start nothing yet; each worker first calls the function `prepare`, with its arguments."""
        self.processes = processes
        self._prepare = prepare
        # Each thread waits for a worker of its own; they are started as the workers are.
        self._threads = ThreadPoolExecutor(processes, thread_name_prefix="workers")
        self._of_thread = threading.local()
        self._changing = threading.Lock()
        self._running: set[_Worker] = set()
        self._ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    @property
    def most(self) -> int:
        """One call for each worker, and as many that wait."""
        return 2 * self.processes

    @property
    def process_ids(self) -> list[int]:
        """Ids of the workers that run."""
        with self._changing:
            return [worker.process_id for worker in self._running]

    def call(
        self,
        function: str,
        *arguments: Any,
        on_message: Callable[[Any], None] | None = None,
        attempts: int = _ATTEMPTS,
    ) -> Future[Any]:
        """Call a function in the next worker that is free; again if the worker is lost.

        The result raises the RegistryError of the function, WorkerLostError, WorkersEndedError,
        what `on_message` raises (in a thread), or the error of an argument that can't be pickled.
        """
        try:
            return self._threads.submit(self._call, function, arguments, on_message, attempts)
        except RuntimeError as error:  # of threads that were shut down
            raise WorkersEndedError from error

    def end(self) -> None:
        """Kill all workers, and drop the calls that have not begun."""
        with self._changing:
            self._ended = True
            running = list(self._running)
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in running:  # which ends what their threads wait for
            worker.stop()
        self._threads.shutdown()
        for worker in running:
            worker.close()

    def _call(
        self,
        function: str,
        arguments: tuple[Any, ...],
        on_message: Callable[[Any], None] | None,
        attempts: int,
    ) -> Any:
        for attempt in range(attempts):
            try:
                worker = self._worker()
                return self._answer(worker, function, arguments, on_message)
            except WorkerLostError as error:
                if self._ended:
                    raise WorkersEndedError from error
                if attempt == attempts - 1:
                    raise
        raise AssertionError

    def _answer(
        self,
        worker: _Worker,
        function: str,
        arguments: tuple[Any, ...],
        on_message: Callable[[Any], None] | None,
    ) -> Any:
        is_sound = False
        try:
            worker.send(function, *arguments)
            answer = worker.receive(on_message)
            is_sound = True
        except RegistryError:
            is_sound = True
            raise
        finally:
            # Of another one nobody knows what it does now, or what its next answer belongs to.
            if self._ended or not is_sound:
                self._drop(worker)
        return answer

    def _worker(self) -> _Worker:
        """Return the worker of this thread."""
        worker: _Worker | None = getattr(self._of_thread, "worker", None)
        if worker is not None:
            return worker
        with self._changing:  # so that `end` knows of it
            if self._ended:
                raise WorkersEndedError
            worker = self._of_thread.worker = _Worker()
            self._running.add(worker)
        if self._prepare is not None:
            function, arguments = self._prepare
            try:
                self._answer(worker, function, arguments, None)
            except RegistryError:  # the next call has to fail too
                self._drop(worker)
                raise
        return worker

    def _drop(self, worker: _Worker) -> None:
        with self._changing:
            self._running.discard(worker)
            self._of_thread.worker = None
        worker.close()


class _Worker:
    """A new interpreter that calls functions of this package by their names."""

    def __init__(self) -> None:
        """Start it.

        Raises:
            WorkerLostError: the system starts no more processes.
        """
        self._end, other = socket.socketpair()
        try:
            with other:
                self._process = subprocess.Popen(  # nosec B603 # noqa: S603 (a program of ours)
                    [*_interpreter(), worker_program.__file__, str(other.fileno())],
                    pass_fds=[other.fileno()],
                    stdin=subprocess.DEVNULL,
                    # An interrupt of the terminal is for the parent, which ends the worker.
                    process_group=0,
                    env={**os.environ, "REGISTRY_JOBS": "1"},
                )
        except OSError as error:
            self._end.close()
            raise WorkerLostError(f"can't start a process: {error}") from error
        self.process_id = self._process.pid
        """Id of the process, and of its group."""
        with contextlib.suppress(OSError):  # it ended; the first request says so
            worker_program.send(self._end, sys.path)

    def close(self) -> None:
        """Stop it, when no thread uses it any more."""
        self.stop()
        self._end.close()

    def send(self, function: str, *arguments: Any) -> None:
        """Request a call of a function, `module:name`.

        Raises:
            WorkerLostError: the process has ended.
            TypeError, AttributeError, pickle.PicklingError: an argument can't be pickled.
        """
        try:
            worker_program.send(self._end, (function, arguments))
        except OSError as error:
            raise self._lost() from error

    def receive(self, on_message: Callable[[Any], None] | None = None) -> Any:
        """Return what the function returns; `on_message` gets its messages.

        Raises:
            RegistryError: the function raised it.
            WorkerLostError: the process has ended, or the function raised another error.
        """
        while True:
            try:
                kind, value = worker_program.receive(self._end)
            except (EOFError, OSError) as error:
                raise self._lost() from error
            if kind == "result":
                return value
            if kind == "error" and isinstance(value, RegistryError):
                raise value
            if kind == "failed":
                raise WorkerLostError(f"a worker process failed:\n{value}")
            if on_message is not None:
                on_message(value)

    def _lost(self) -> WorkerLostError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)  # it has closed its socket, so it is about to end
        self._kill()
        code = self._process.wait()
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return WorkerLostError(f"a worker process {how}")

    def stop(self) -> None:
        """Kill the process and those that it has started, from any thread, and more than once."""
        # Even if it has ended by itself: until it is awaited, no other process gets its number.
        if self._process.returncode is None:
            self._kill()
            self._process.wait()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


def _interpreter() -> list[str]:
    """Return the command of this interpreter, with the options that change what code does."""
    options = ["-O"] * sys.flags.optimize + ["-X", f"utf8={sys.flags.utf8_mode}"]
    # `-P`: the folder of the script is no place to import from.
    return [sys.executable, "-P", *options]
