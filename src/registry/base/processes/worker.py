"""A worker process, as its parent sees it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess  # nosec B404
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from registry.base.processes import child
from registry.errors import RegistryError

__all__ = ["Worker", "WorkerLostError", "can_start", "command_pid"]


class WorkerLostError(Exception):
    """A worker ended, or failed in a way that says nothing about its work."""


def can_start() -> bool:
    """Return whether this interpreter can start another one: not if it is part of a program."""
    return bool(sys.executable) and os.name == "posix" and Path(child.__file__).is_file()


def command_pid() -> int:
    """Return the process that all workers of a command have in common: in a worker its parent."""
    is_worker = getattr(sys.modules["__main__"], "__file__", None) == child.__file__
    return os.getppid() if is_worker else os.getpid()


class Worker:
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
                    [*_interpreter(), child.__file__, str(other.fileno())],
                    pass_fds=[other.fileno()],
                    stdin=subprocess.DEVNULL,
                    # An interrupt of the terminal is for the parent, which ends the worker.
                    process_group=0,
                    env={**os.environ, "REGISTRY_JOBS": "1"},
                )
        except OSError as error:
            self._end.close()
            raise WorkerLostError(f"can't start a process: {error}") from error
        with contextlib.suppress(OSError):  # it ended; the first request says so
            child.send(self._end, sys.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop it, in the thread that has used it."""
        self.stop()
        self._end.close()

    @property
    def process_id(self) -> int:
        """Id of the process, and of its group."""
        return self._process.pid

    def send(self, function: str, *arguments: Any) -> None:
        """Request a call of a function, `module:name`; its answer comes after earlier ones.

        Raises:
            WorkerLostError: the process has ended.
            TypeError, AttributeError, pickle.PicklingError: an argument can't be pickled.
        """
        try:
            child.send(self._end, (function, arguments))
        except OSError as error:
            raise self._lost() from error

    def receive(self, on_message: Callable[[Any], None] | None = None) -> Any:
        """Return what the next function returns; `on_message` gets its messages.

        Raises:
            RegistryError: the function raised it.
            WorkerLostError: the process has ended, or the function raised another error.
        """
        while True:
            try:
                kind, value = child.receive(self._end)
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
