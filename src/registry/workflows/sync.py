"""Build many datasets into the cache."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from registry.base.processes.pool import Workers
from registry.base.threads import ReportNamed, run_jobs
from registry.build.expectations import QualityWarning, quality_warnings
from registry.errors import CacheError, RegistryError, ReviewError
from registry.load import load, samples_digest

if TYPE_CHECKING:
    from registry.cache.cache import Cache, CacheEntry
    from registry.cache.remote.shared_cache import SharedCache
    from registry.catalog.catalog import Catalog
    from registry.lockfile.pinned import SourcePinner
    from registry.progress import Report
    from registry.store.arrow_dataset import ArrowDataset

__all__ = ["SyncResult", "sync"]


@dataclass(frozen=True, kw_only=True)
class SyncResult:
    """The outcome of building one dataset."""

    name: str
    status: str
    """built, fetched (from the shared cache), cached or failed."""
    samples: int | None = None
    """Number of samples in the dataset, after its limit."""
    bytes: int | None = None
    """Size of its samples in the cache."""
    seconds: float = 0.0
    error: RegistryError | None = None
    """Why the build failed."""
    warnings: tuple[QualityWarning, ...] = ()
    """What is questionable in the samples."""
    pushed: str = ""
    """pushed, present (it was there) or failed; empty if that was not asked for."""
    push_error: str = ""
    """Why the samples, which are cached here, are not in the shared cache."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON data."""
        error = self.error
        data = error and {"type": type(error).__name__, "message": str(error)}
        warnings = [warning.to_dict() for warning in self.warnings]
        seconds = round(self.seconds, 3)
        return {**vars(self), "seconds": seconds, "error": data, "warnings": warnings}


def sync(
    names: Sequence[str],
    catalog: Catalog,
    cache: Cache,
    *,
    pin_sources: SourcePinner | None = None,
    jobs: int,
    processes: int = 1,
    offline: bool = False,
    refresh: bool = False,
    expected: Mapping[str, tuple[int, str]] | None = None,
    push_to: SharedCache | None = None,
    report: ReportNamed,
) -> Iterator[SyncResult]:
    """Build what is not cached, `jobs` datasets at a time; yield each result when ready.

    A dataset that fails does not stop the others. `pin_sources` returns the pinned sources of
    each dataset; without it all sources are looked up. `expected` has the number and the digest of
    the samples that a dataset must have, as `samples_digest` returns them. With more than one of
    `processes`, large builds are done by so many workers, as threads share one core for Python.
    """
    # One dataset may use the processes itself, for runs of its records.
    is_alone = len(names) == 1 and processes > 1
    workers = None if is_alone else Workers(processes if processes > 1 else 0)

    def build(name: str, report: Report) -> SyncResult:
        start = time.perf_counter()
        own = replace(cache, used=set())
        try:
            spec = catalog[name]
            lock = None if pin_sources is None else pin_sources(spec)
            with catalog.locating(name):
                # A cache is often filled for others: `verify` finds damage now, not in their runs.
                opened = load(
                    spec,
                    own,
                    boundary=catalog.boundary,
                    offline=offline,
                    refresh=refresh,
                    verify=True,
                    lock=lock,
                    report=report,
                    workers=workers,
                )
            if expected is not None and name in expected:
                _check_samples(name, opened.dataset, expected[name])
            # What is reported as cached stays so, even if the power fails now.
            own.make_durable()
        except RegistryError as error:
            seconds = time.perf_counter() - start
            return SyncResult(name=name, status="failed", seconds=seconds, error=error)
        pushed, push_error = _push(opened.entry, push_to, replace=refresh)
        return SyncResult(
            name=name,
            status="cached" if opened.cached else "fetched" if opened.fetched else "built",
            samples=len(opened.dataset),
            # As published: another process may have removed the entry by now.
            bytes=sum(file["size"] for file in opened.entry.meta["files"].values()),
            seconds=time.perf_counter() - start,
            warnings=tuple(quality_warnings(spec, opened.entry.meta)),
            pushed=pushed,
            push_error=push_error,
        )

    stop = (lambda: None) if workers is None else workers.end
    return run_jobs(names, build, jobs=jobs, report=report, stop=stop)


def _push(entry: CacheEntry, shared: SharedCache | None, *, replace: bool) -> tuple[str, str]:
    """Store samples in the shared cache; return the outcome and the reason of a failure."""
    if shared is None:
        return "", ""
    try:
        return shared.push(entry, replace=replace), ""
    except CacheError as error:
        return "failed", str(error)


def _check_samples(name: str, dataset: ArrowDataset, expected: tuple[int, str]) -> None:
    found = samples_digest(dataset)
    if found != expected:
        raise ReviewError(
            f"{name}: its samples are not the reviewed ones: reviewed {expected[0]:,},"
            f" {expected[1]}, found {found[0]:,}, {found[1]} (its source or its mapping code has"
            f" changed since; `registry lock {name}` before a review pins them)"
        )
