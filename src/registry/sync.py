"""Warm the cache for many datasets at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from registry.errors import RegistryError
from registry.load import load
from registry.progress import Progress

if TYPE_CHECKING:
    from registry.cache import Cache
    from registry.catalog import Catalog

__all__ = ["SyncResult", "sync"]

ReportNamed = Callable[[str, Progress], None]
"""Is called with a dataset's name and how far it is, from the thread that works on it."""


class _StoppedError(Exception):
    """Ends the work of a thread whose caller has stopped."""


@dataclass(frozen=True, kw_only=True)
class SyncResult:
    """What became of one dataset."""

    name: str
    status: str
    """built, cached or failed."""
    samples: int | None = None
    """How many samples the dataset has, after its limit."""
    bytes: int | None = None
    """Size of its samples in the cache."""
    seconds: float = 0.0
    error: RegistryError | None = None
    """Why it failed."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON data."""
        error = self.error
        shown = None if error is None else {"type": type(error).__name__, "message": str(error)}
        return {**vars(self), "seconds": round(self.seconds, 3), "error": shown}


def sync(
    names: Sequence[str],
    catalog: Catalog,
    cache: Cache,
    *,
    jobs: int,
    offline: bool = False,
    refresh: bool = False,
    report: ReportNamed,
) -> Iterator[SyncResult]:
    """Build what is not cached, `jobs` datasets at a time; yield each result as it comes.

    One failing dataset does not stop the others. When the caller stops early (an interrupt), what
    has not begun is dropped and what runs ends at its next report.
    """
    stopped = threading.Event()

    def report_or_stop(name: str, progress: Progress) -> None:
        if stopped.is_set():
            raise _StoppedError
        report(name, progress)

    executor = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="sync")
    work = partial(
        _sync_one,
        catalog=catalog,
        cache=cache,
        offline=offline,
        refresh=refresh,
        report=report_or_stop,
    )
    try:
        futures = [executor.submit(work, name) for name in names]
        for future in as_completed(futures):
            yield future.result()
    finally:
        stopped.set()
        executor.shutdown(wait=True, cancel_futures=True)


def _sync_one(
    name: str,
    *,
    catalog: Catalog,
    cache: Cache,
    offline: bool,
    refresh: bool,
    report: ReportNamed,
) -> SyncResult:
    start = time.perf_counter()
    try:
        opened = load(
            catalog[name],
            cache,
            offline=offline,
            refresh=refresh,
            verify=True,
            report=partial(report, name),
        )
    except RegistryError as error:
        seconds = time.perf_counter() - start
        return SyncResult(name=name, status="failed", seconds=seconds, error=error)
    return SyncResult(
        name=name,
        status="cached" if opened.cached else "built",
        samples=len(opened.dataset),
        bytes=opened.entry.size,
        seconds=time.perf_counter() - start,
    )
