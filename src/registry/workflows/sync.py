"""Build many datasets into the cache."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from registry.base.threads import ReportNamed
from registry.errors import RegistryError
from registry.workflows.engines import Engine, Order, engine_of
from registry.workflows.job import Job, SyncResult

if TYPE_CHECKING:
    from registry.base.materials import SamplesId
    from registry.cache.cache import Cache
    from registry.cache.remote import Pushes
    from registry.catalog.catalog import Catalog
    from registry.lockfile.pinned import SourcePinner

__all__ = ["SyncResult", "sync"]


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
    expected: Mapping[str, SamplesId] | None = None,
    push_to: Pushes | None = None,
    engine: Engine | None = None,
    overrides: Mapping[str, Any] | None = None,
    report: ReportNamed,
) -> Iterator[SyncResult]:
    """Build what is not cached, `jobs` datasets at a time; yield each result when ready.

    A dataset that fails does not stop the others. `pin_sources` returns the pinned sources of
    each dataset; without it all sources are looked up. `expected` has the samples that a dataset
    must have. With more than one of `processes`, large builds are done by so many workers, as
    threads share one core for Python. `engine` decides where all this is done, the local one by
    default. `overrides` are those of `get_dataset`.

    Raises:
        RegistryError: the engine can't build anything.
    """

    def job(name: str) -> Job:
        spec = catalog.resolve(name, overrides=overrides)
        return Job(
            spec=spec,
            boundary=catalog.boundary,
            lock=None if pin_sources is None else pin_sources(spec),
            offline=offline,
            refresh=refresh,
            expected=None if expected is None else expected.get(name),
        )

    order = Order(
        names=names,
        job=job,
        cache=cache,
        jobs=jobs,
        processes=processes,
        push_to=push_to,
        report=report,
    )
    results = (engine or engine_of("local")).run(order)
    return _located(results, catalog)


def _located(results: Generator[SyncResult], catalog: Catalog) -> Iterator[SyncResult]:
    """Yield results whose errors have the place in the manifest."""
    with closing(results):
        for result in results:
            error = result.error
            if error is not None:
                error = _located_error(error, result.name, catalog)
            yield replace(result, error=error)


def _located_error(error: RegistryError, name: str, catalog: Catalog) -> RegistryError:
    try:
        with catalog.locating(name):
            raise error
    except RegistryError as found:
        return found
