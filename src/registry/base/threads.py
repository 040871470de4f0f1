"""Work in threads that end soon after their caller stops, or when they make no progress."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from functools import partial
from typing import Any, TypeVar
from weakref import WeakSet

from registry.progress import Progress, Report

__all__ = [
    "LibraryError",
    "NoProgressError",
    "ReportNamed",
    "are_jobs_left",
    "run_jobs",
    "run_limited",
]


Result = TypeVar("Result")

ReportNamed = Callable[[str, Progress], None]
"""Called with a dataset's name and its progress, in the thread that works on it."""

_END_SECONDS = 2.0
_TICK_SECONDS = 0.2
_left: WeakSet[Future[Any]] = WeakSet()


def are_jobs_left() -> bool:
    """Return whether jobs run that `run_jobs` did not await; the end of Python awaits them."""
    return any(job.running() for job in _left)


class _StoppedError(Exception):
    """Ends the work of a thread whose caller has stopped."""


def run_jobs(
    names: Sequence[str],
    work: Callable[[str, Report], Result],
    *,
    jobs: int,
    report: ReportNamed,
    stop: Callable[[], None] = lambda: None,
) -> Generator[Result]:
    """Do the work for each name, `jobs` at a time; yield each result as soon as it is ready.

    When the caller stops early (an interrupt), jobs that have not started are dropped and running
    ones end at their next report; one that has none in two seconds, as a server is silent, is not
    awaited. `stop` is called at the end, to end what jobs wait for. An exception of a job is raised
    here and stops the others.
    """
    stopped = threading.Event()

    # A thread can't be interrupted from outside, but an exception of `report` ends its work.
    def report_or_stop(name: str, progress: Progress) -> None:
        if stopped.is_set():
            raise _StoppedError
        report(name, progress)

    executor = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="jobs")
    futures: list[Future[Result]] = []
    try:
        futures.extend(executor.submit(work, name, partial(report_or_stop, name)) for name in names)
        for future in as_completed(futures):
            yield future.result()
    finally:
        stopped.set()
        stop()
        executor.shutdown(wait=False, cancel_futures=True)
        running = [future for future in futures if future.running()]
        _left.update(wait(running, timeout=_END_SECONDS).not_done)


class NoProgressError(Exception):
    """Work made no progress for too long."""


class LibraryError(Exception):
    """Work failed; the cause is whatever the library raised."""


def run_limited(
    work: Callable[[Callable[[], None]], Result],
    seconds: float,
    *,
    tick: Callable[[], None] = lambda: None,
) -> Result:
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
    results: list[Result] = []
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
