"""Call what needs `datasets` in a process of its own: its settings are those of a whole process.

Progress bars, file locks, switches and loggers of it never meet the user's threads and settings.
"""

from __future__ import annotations

import atexit
import os
import pickle  # nosec B403
import signal
import sys
from functools import partial
from importlib import import_module
from threading import BoundedSemaphore
from traceback import format_exc
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from registry.base.executor import WorkerLostError, Workers, can_start, is_worker
from registry.base.process_state import ForkSafeLock
from registry.errors import MissingDependencyError, RegistryError, SourceError
from registry.settings import usable_cores

if TYPE_CHECKING:
    from registry.base.worker_program import Tell
    from registry.sources.pins import SourceContext

__all__ = ["answer", "call_datasets"]

_OURS = "REGISTRY_"
_IDLE_SECONDS = 60
"""How long a process waits for the next call: `datasets` takes a second or more to import."""


class _Place(NamedTuple):
    """What a process has from the one that started it."""

    pid: int
    """After a fork, the child's is another: its parent's processes are not its own."""
    folder: str
    path: tuple[str, ...]
    environment: dict[str, str]
    """Without what is read at each use, which is sent with each call."""


_MOST = min(4, usable_cores())
"""Processes at a time: each imports 150 MB of libraries, which takes a core a second or two."""

_idle: list[tuple[_Place, Workers]] = []
_changing = ForkSafeLock()
_running = ForkSafeLock(partial(BoundedSemaphore, _MOST))


def call_datasets(function: str, where: str, context: SourceContext, *arguments: Any) -> Any:
    """Call a function of `sources.hub.reading` with a context and the arguments.

    In a worker, or where none can be started, it is called here.

    Raises:
        RegistryError: the function raised it.
        SourceError: its process ended, or an argument can't be sent there.
    """
    if is_worker() or not can_start():
        with _changing():
            return _call(function, where, context, *arguments)
    ours = {name: value for name, value in os.environ.items() if name.startswith(_OURS)}
    others = {
        name: value
        for name, value in os.environ.items()
        if name not in ours and name != "PYTEST_CURRENT_TEST"  # another one in each test of users
    }
    place = _Place(os.getpid(), os.getcwd(), tuple(sys.path), others)
    with _running():
        found = _answer(place, where, context, (ours, function, where, context.sent(), *arguments))
    context.deadline.progress()
    if isinstance(found, Exception):
        raise found
    return found


def _answer(place: _Place, where: str, context: SourceContext, sent: tuple[Any, ...]) -> Any:
    workers = _taken(place)
    try:
        found = workers.call(f"{__name__}:answer", *sent, on_message=context.report).result()
    except RegistryError:
        _give_back(place, workers)
        raise
    except WorkerLostError as error:
        workers.end()
        raise SourceError(f"{where}: {error} (try again; it may have been out of memory)") from None
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        workers.end()
        message = f"{where}: an argument can't be sent to the process that reads it: {error}"
        raise SourceError(message) from error
    except BaseException:
        workers.end()
        raise
    _give_back(place, workers)
    return found


def answer(
    tell: Tell,
    ours: dict[str, str],
    function: str,
    where: str,
    context: SourceContext,
    *arguments: Any,
) -> Any:
    """Call a function in this process; return its result, or an unexpected error.

    `ours` are the variables of this package.
    """
    for name in [one for one in os.environ if one.startswith(_OURS)]:
        del os.environ[name]
    os.environ.update(ours)
    signal.alarm(0)
    try:
        return _call(function, where, replace(context, report=tell), *arguments)
    except RegistryError:
        raise
    except Exception as error:  # noqa: BLE001 (raised again by the caller)
        if type(error).__module__ == "builtins":
            return error
        # Others may need `datasets` to be unpickled.
        sent = RuntimeError(f"{type(error).__name__}: {error}")
        sent.add_note(format_exc())
        return sent
    finally:
        signal.alarm(_IDLE_SECONDS)  # ends the process


def _call(function: str, where: str, context: SourceContext, *arguments: Any) -> Any:
    try:
        reading = import_module("registry.sources.hub.reading")
    except ImportError as error:
        message = f"{where}: reading the Hub needs the package `datasets`: {error}"
        raise MissingDependencyError(message) from error
    return getattr(reading, function)(context, *arguments)


def _taken(place: _Place) -> Workers:
    """Return a process that waits for a call from here, or that is started by the first one."""
    with _changing():
        found = next((one for one in _idle if one[0] == place), None)
        if found is not None:
            _idle.remove(found)
            return found[1]
    return Workers(1)


def _give_back(place: _Place, workers: Workers) -> None:
    """Let a process wait for the next call; those of another place are of no use now."""
    with _changing():
        if not _idle:
            atexit.unregister(_end)
            atexit.register(_end)
        unused = [one for one in _idle if one[0].pid == place.pid and one[0] != place]
        for one in unused:
            _idle.remove(one)
        _idle.append((place, workers))
    for _, ended in unused:
        ended.end()


def _end() -> None:
    """End the processes that wait."""
    for place, workers in _idle:
        if place.pid == os.getpid():
            workers.end()
