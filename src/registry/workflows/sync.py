"""Build many datasets into the cache, or divide them among jobs that can not talk to each other.

A division does not depend on the machine: not on its cache, its number of cores or the order of
time. So jobs with equal catalogs and lockfiles agree, and one that died can be repeated alone.
"""

from __future__ import annotations

import heapq
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from registry.base.digest import digest_of
from registry.base.threads import ReportNamed
from registry.errors import ManifestError, RegistryError
from registry.manifest.serialize import data_of
from registry.workflows.engines import Engine, Job, Order, SyncResult, engine_of

if TYPE_CHECKING:
    from registry.base.materials import SamplesId
    from registry.cache.remote import Pushes
    from registry.catalog.catalog import Catalog
    from registry.load.call import OpenCatalog
    from registry.lockfile.models import Pin
    from registry.lockfile.pin_cache import CatalogPins
    from registry.manifest.models import DatasetSpec

__all__ = ["Division", "Shard", "SyncResult", "divide", "sync"]

# Of a dataset without a pin nobody knows the bytes before they are downloaded. A record of the
# real files that we measure has some 700 bytes on average.
_BYTES_OF_SAMPLE = 700
_SAMPLES = 1_000


def sync(
    names: Sequence[str],
    opened: OpenCatalog,
    *,
    jobs: int,
    processes: int = 1,
    refresh: bool = False,
    expected: Mapping[str, SamplesId] | None = None,
    push_to: Pushes | None = None,
    engine: Engine | None = None,
    overrides: Mapping[str, Any] | None = None,
    report: ReportNamed,
) -> Iterator[SyncResult]:
    """Build what is not cached, `jobs` datasets at a time; yield each result when ready.

    A dataset that fails does not stop the others. `expected` has the samples that a dataset must
    have. With more than one of `processes`, large builds are done by so many workers, as threads
    share one core for Python. `engine` decides where all this is done, the local one by default.
    `overrides` are those of `get_dataset`.

    Raises:
        RegistryError: the engine can't build anything.
    """

    def job(name: str) -> Job:
        asked = opened.call_of(name, overrides)
        return Job(
            spec=asked.spec,
            boundary=asked.boundary,
            lock=asked.lock,
            offline=opened.settings.offline,
            refresh=refresh,
            expected=None if expected is None else expected.get(name),
        )

    order = Order(
        names=names,
        job=job,
        cache=opened.cache,
        jobs=jobs,
        processes=processes,
        push_to=push_to,
        report=report,
    )
    results = (engine or engine_of("local")).run(order)
    return _located(results, opened.catalog)


def _located(results: Generator[SyncResult], catalog: Catalog) -> Iterator[SyncResult]:
    """Yield results whose errors have the place in the manifest."""
    with closing(results):
        for result in results:
            if result.error is not None:
                try:
                    with catalog.locating(result.name):
                        raise result.error
                except RegistryError as located:
                    yield replace(result, error=located)
            else:
                yield result


class Shard(NamedTuple):
    """One of several jobs."""

    number: int
    """From 1."""
    of: int
    """How many there are."""


@dataclass
class _Group:
    """Datasets that read the same bytes: their job downloads them once."""

    names: list[str] = field(default_factory=list)
    bytes: int = 0


@dataclass(frozen=True)
class Division:
    """Datasets divided by the bytes of their sources."""

    shards: Sequence[list[str]]
    """The datasets of each shard, in the order they were given."""
    bytes: Sequence[int]
    """Bytes of the sources of each shard; estimated for datasets without a pin."""

    @property
    def digest(self) -> str:
        """Seven hex digits, which are equal in all jobs that agree."""
        return digest_of(self.shards).removeprefix("sha256:")[:7]


def divide(
    names: Iterable[str],
    catalog: Catalog,
    count: int,
    *,
    pins: CatalogPins,
) -> Division:
    """Divide datasets into `count` shards of about the same number of bytes.

    A dataset that can't be resolved is in a shard too, whose job reports it.
    """
    order = {name: place for place, name in enumerate(names)}
    groups: dict[str, _Group] = {}
    for name in order:
        try:
            spec = catalog[name]
        except ManifestError:
            key, size = name, 0
        else:
            places = [
                {key: value for key, value in data_of(one).items() if key in one.location_keys}
                for one in spec.concat or (spec.source,)
            ]
            key, size = digest_of(places), _size(spec, pins.get(name))
        group = groups.setdefault(key, _Group())
        group.names.append(name)
        group.bytes = max(group.bytes, size)
    shards: list[list[str]] = [[] for _ in range(count)]
    # The largest first, each to the shard with the least: no shard has more than its fair part and
    # one group. Datasets count too, so that many small ones do not end in one shard.
    least = [(0, 0, number) for number in range(count)]
    for group in sorted(groups.values(), key=lambda one: (-one.bytes, min(one.names))):
        size, number_of, shard = heapq.heappop(least)
        shards[shard] += group.names
        heapq.heappush(least, (size + group.bytes, number_of + len(group.names), shard))
    sizes = {shard: size for size, _, shard in least}
    return Division(
        shards=[sorted(one, key=order.__getitem__) for one in shards],
        bytes=[sizes[shard] for shard in range(count)],
    )


def _size(spec: DatasetSpec, pin: Pin | None) -> int:
    """Return the bytes of the sources of a dataset, or a guess that is the same in all jobs."""
    sizes = [] if pin is None else [source.size for source in pin.sources]
    known = [size for size in sizes if size is not None]
    if sizes and len(known) == len(sizes):
        return sum(known)
    samples = pin.samples if pin is not None else spec.expect.samples
    return sum(known) + _BYTES_OF_SAMPLE * (_SAMPLES if samples is None else samples)
