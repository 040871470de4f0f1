"""Work on many datasets, some at a time, that ends soon after its caller stops."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from typing import TypeVar

from registry.progress import Progress, Report

__all__ = ["ReportNamed", "each"]

Result = TypeVar("Result")

ReportNamed = Callable[[str, Progress], None]
"""Is called with a dataset's name and how far it is, from the thread that works on it."""


class _StoppedError(Exception):
    """Ends the work of a thread whose caller has stopped."""


def each(
    names: Sequence[str],
    work: Callable[[str, Report], Result],
    *,
    jobs: int,
    report: ReportNamed,
) -> Iterator[Result]:
    """Do the work for each name, `jobs` at a time; yield each result as it comes.

    When the caller stops early (an interrupt), what has not begun is dropped and what runs ends at
    its next report.
    """
    stopped = threading.Event()

    def report_or_stop(name: str, progress: Progress) -> None:
        if stopped.is_set():
            raise _StoppedError
        report(name, progress)

    executor = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="jobs")
    try:
        futures = [executor.submit(work, name, partial(report_or_stop, name)) for name in names]
        for future in as_completed(futures):
            yield future.result()
    finally:
        stopped.set()
        executor.shutdown(wait=True, cancel_futures=True)
