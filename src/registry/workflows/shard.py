"""Divide datasets among jobs that can't talk to each other, each of which gets the same division.

Nothing here depends on the machine: not on its cache, its number of cores or the order of time. So
jobs that have equal catalogs and lockfiles agree, and one that died can be repeated on its own.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from registry.base.digest import digest_of
from registry.errors import ManifestError
from registry.manifest.serialize import data_of

if TYPE_CHECKING:
    from registry.catalog.catalog import Catalog
    from registry.lockfile.models import Pin
    from registry.manifest.models import DatasetSpec

__all__ = ["Division", "Shard", "divide"]

# Of a dataset without a pin nobody knows the bytes before they are downloaded. A record of the
# real files that we measure has some 700 bytes on average.
_BYTES_OF_SAMPLE = 700
_SAMPLES = 1_000


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
    pin_of: Callable[[DatasetSpec], Pin | None],
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
            key, size = _bytes_read(spec), _size(spec, pin_of(spec))
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


def _bytes_read(spec: DatasetSpec) -> str:
    """Return the digest of where the bytes of a dataset are."""
    return digest_of(
        [
            {key: value for key, value in data_of(source).items() if key in source.location_keys}
            for source in spec.concat or (spec.source,)
        ]
    )


def _size(spec: DatasetSpec, pin: Pin | None) -> int:
    """Return the bytes of the sources of a dataset, or a guess that is the same in all jobs."""
    sizes = [] if pin is None else [source.size for source in pin.sources]
    known = [size for size in sizes if size is not None]
    if sizes and len(known) == len(sizes):
        return sum(known)
    samples = pin.samples if pin is not None else spec.expect.samples
    return sum(known) + _BYTES_OF_SAMPLE * (_SAMPLES if samples is None else samples)
