"""End work that makes no progress, whatever library does it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["LibraryError", "NoProgressError", "run_limited"]

_Result = TypeVar("_Result")

_TICK_SECONDS = 0.2


class NoProgressError(Exception):
    """Work made no progress for too long."""


class LibraryError(Exception):
    """Work failed; the cause is whatever the library raised."""


def run_limited(
    work: Callable[[Callable[[], None]], _Result],
    seconds: float,
    *,
    tick: Callable[[], None] = lambda: None,
) -> _Result:
    """Return the result of work in a thread of its own.

    Args:
        work: Calls its argument each time it has made progress.
        seconds: How long it may make none. Each library has timeouts of its own, and repeats
            requests by rules of its own; this is the one that holds for all of them.
        tick: Called a few times a second in this thread; its exception ends the wait.

    Raises:
        LibraryError: it failed.
        NoProgressError: it made none for so long. Its thread is left behind: no call of a library
            can be interrupted from outside. The end of Python does not wait for it.
    """
    results: list[_Result] = []
    errors: list[Exception] = []
    done, last = threading.Event(), time.monotonic()

    def progress() -> None:
        nonlocal last
        last = time.monotonic()

    def run() -> None:
        try:
            results.append(work(progress))
        except Exception as error:  # noqa: BLE001 - libraries of file systems raise anything
            errors.append(error)
        finally:
            done.set()

    threading.Thread(target=run, daemon=True, name="limited").start()
    while not done.wait(min(_TICK_SECONDS, seconds)):
        if time.monotonic() - last >= seconds:
            raise NoProgressError
        tick()
    if errors:
        raise LibraryError from errors[0]
    return results[0]
