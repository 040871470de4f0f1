"""The interface of an engine, and the table of all."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from registry.base.threads import ReportNamed
from registry.workflows.engines.job import Job, SyncResult

if TYPE_CHECKING:
    from registry.cache.cache import Cache
    from registry.cache.remote import Pushes

__all__ = ["ENGINES", "Engine", "Order", "engine_of"]


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
    "local": "registry.workflows.engines.local:LocalEngine",
    "processes": "registry.workflows.engines.local:ProcessEngine",
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
