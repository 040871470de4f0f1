"""Build datasets: a job for each, the engines that run jobs, and their table."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from msgspec import Struct
from msgspec.structs import replace

from registry.base.executor import Workers
from registry.base.materials import SamplesId
from registry.base.threads import ReportNamed, run_jobs
from registry.cache.locks import again_if_lost
from registry.errors import CacheError, RegistryError, ReviewError
from registry.load.load import load
from registry.load.materials import samples_id_with_named
from registry.pipeline.expectations import QualityWarning, quality_warnings
from registry.sources.pins import SourceContext

if TYPE_CHECKING:
    from registry.base.executor import Executor
    from registry.boundary.boundary import Boundary
    from registry.cache.cache import Cache
    from registry.cache.remote import Pushes
    from registry.lockfile.pinned import PinnedSources
    from registry.manifest.models import DatasetSpec
    from registry.pipeline.execute import LoadResult
    from registry.progress import Report

__all__ = [
    "CLUSTERS",
    "ENGINES",
    "Engine",
    "Job",
    "LocalEngine",
    "Order",
    "ProcessEngine",
    "SyncResult",
    "engine_of",
    "run_job",
]


@dataclass(frozen=True, kw_only=True)
class SyncResult:
    """The outcome of building one dataset."""

    name: str
    status: str
    """built, fetched (from the remote cache), cached or failed."""
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
    """pushed, packed, present (it was there) or failed; empty if that was not asked for."""
    push_error: str = ""
    """Why the samples, which are cached here, are not in the remote cache."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON data."""
        return {
            **vars(self),
            "seconds": round(self.seconds, 3),
            "error": self.error and self.error.to_dict(),
            "warnings": [warning.to_dict() for warning in self.warnings],
            "pushed": self.pushed or None,
            "push_error": self.push_error or None,
        }


class Job(Struct, frozen=True, kw_only=True):
    """A dataset to build, for any process: of secrets it has the names of variables only."""

    spec: DatasetSpec
    boundary: Boundary
    lock: PinnedSources | None
    """What the lockfile pins."""
    offline: bool
    refresh: bool
    expected: SamplesId | None = None
    """The samples that it must have."""


def run_job(
    job: Job,
    cache: Cache,
    *,
    push_to: Pushes | None,
    report: Report,
    workers: Workers | None = None,
    elsewhere: Executor | None = None,
) -> SyncResult:
    """Build a dataset unless it is cached; an error is a result too."""
    start = time.perf_counter()
    own = replace(cache, used=set())

    def load_and_push() -> tuple[LoadResult, str, str]:
        opened = _load(job, own, report, workers, elsewhere)
        if push_to is None:
            return opened, "", ""
        try:
            return opened, push_to.push(opened.entry, replace=job.refresh), ""
        except CacheError as error:
            return opened, "failed", str(error)

    try:
        # Another process may remove the samples before they are pushed.
        opened, pushed, push_error = again_if_lost(load_and_push, cache.root)
    except RegistryError as error:
        seconds = time.perf_counter() - start
        return SyncResult(name=job.spec.name, status="failed", seconds=seconds, error=error)
    return SyncResult(
        name=job.spec.name,
        status="cached" if opened.cached else "fetched" if opened.fetched else "built",
        samples=len(opened.dataset),
        bytes=opened.entry.size,
        seconds=time.perf_counter() - start,
        warnings=tuple(quality_warnings(job.spec, opened.entry.meta)),
        pushed=pushed,
        push_error=push_error,
    )


def _load(
    job: Job, cache: Cache, report: Report, workers: Workers | None, elsewhere: Executor | None
) -> LoadResult:
    # A cache is often filled for others: `verify` finds damage now, not in their runs.
    opened = load(
        job.spec,
        cache,
        boundary=job.boundary,
        offline=job.offline,
        refresh=job.refresh,
        verify=True,
        lock=job.lock,
        report=report,
        workers=workers,
        elsewhere=elsewhere,
    )
    # Those of a pin, which was reviewed too, were just compared.
    if job.expected is not None and (job.lock is None or job.lock.samples is None):
        context = SourceContext(boundary=job.boundary, cache=cache)
        columns = opened.entry.meta["columns"]
        found = samples_id_with_named(job.spec, opened.dataset, columns, context)
        if found != job.expected:
            raise ReviewError(
                f"{job.spec.name}: its samples are not the reviewed ones: reviewed {job.expected},"
                f" found {found} (its source, its mapping code or a file that they name has"
                f" changed since; `registry lock {job.spec.name}` before a review pins them)"
            )
    # What is reported as cached stays so, even if the power fails now.
    cache.make_durable()
    return opened


@dataclass(frozen=True, kw_only=True)
class Order:
    """What an engine is to build."""

    names: Sequence[str]
    job: Callable[[str], Job]
    """Resolves a dataset; raises a RegistryError."""
    cache: Cache
    jobs: int
    """Datasets at a time."""
    processes: int
    """Processes of this machine that may be used."""
    push_to: Pushes | None
    """The remote cache, if the samples go there too."""
    report: ReportNamed


class Engine(Protocol):
    """Builds datasets. A new engine implements this in its own module."""

    def run(self, order: Order) -> Generator[SyncResult]:
        """Build each dataset, and yield its result when it is ready.

        One that fails is a result, and does not stop the others. If the caller stops early, what
        has not begun is dropped, and the rest ends soon.

        Raises:
            RegistryError: nothing can be built at all.
        """


ENGINES = {
    "local": "registry.workflows.engines:LocalEngine",
    "processes": "registry.workflows.engines:ProcessEngine",
    "dask": "registry.plugins.cluster.dask_engine:DaskEngine",
    "ray": "registry.plugins.cluster.ray_engine:RayEngine",
}
"""Name → class, imported when it is used."""
CLUSTERS = frozenset({"dask", "ray"})
"""Those that may have a scheduler, and whose processes may be on other machines."""


def engine_of(name: str, scheduler: str | None = None) -> Engine:
    """Return an engine.

    Raises:
        MissingDependencyError: the package that it needs is not installed.
    """
    module, _, found = ENGINES[name].partition(":")
    options = {} if scheduler is None else {"scheduler": scheduler}
    return cast("Engine", getattr(import_module(module), found)(**options))


class LocalEngine:
    """A thread for each dataset at a time; large builds are done by worker processes."""

    def run(self, order: Order) -> Generator[SyncResult]:
        """Build the datasets."""
        # A single build gains nothing from the way to another process.
        is_shared = order.processes > 1 and len(order.names) > 1
        workers = Workers(order.processes) if is_shared else None
        return _run(order, workers, are_files_shared=False)


class ProcessEngine:
    """As the local one; the files of a source are mapped by the worker processes too."""

    def run(self, order: Order) -> Generator[SyncResult]:
        """Build the datasets."""
        return _run(order, Workers(max(2, order.processes)), are_files_shared=True)


def _run(order: Order, workers: Workers | None, *, are_files_shared: bool) -> Generator[SyncResult]:
    def build(name: str, report: Report) -> SyncResult:
        try:
            job = order.job(name)
        except RegistryError as error:
            return SyncResult(name=name, status="failed", error=error)
        return run_job(
            job,
            order.cache,
            push_to=order.push_to,
            report=report,
            workers=workers,
            elsewhere=workers if are_files_shared else None,
        )

    stop = (lambda: None) if workers is None else workers.end
    return run_jobs(order.names, build, jobs=order.jobs, report=order.report, stop=stop)
