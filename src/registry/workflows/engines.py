"""The interface of an engine, the table of all, and those of this machine."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from registry.base.processes.executor import Workers
from registry.base.threads import ReportNamed, run_jobs
from registry.errors import RegistryError
from registry.workflows.job import Job, SyncResult, run_job

if TYPE_CHECKING:
    from registry.cache.cache import Cache
    from registry.cache.remote import Pushes
    from registry.progress import Report

__all__ = ["ENGINES", "Engine", "LocalEngine", "Order", "ProcessEngine", "engine_of"]


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
    "dask": "registry.plugins.dask.engine:DaskEngine",
}
"""Name → class, imported when it is used."""


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
        count = order.processes
        # One dataset may use the processes itself, for runs of its records.
        is_alone = len(order.names) == 1 and count > 1
        workers = None if is_alone else Workers(count if count > 1 else 0)
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

    def stop() -> None:
        if workers is not None:
            workers.end()

    return run_jobs(order.names, build, jobs=order.jobs, report=order.report, stop=stop)
