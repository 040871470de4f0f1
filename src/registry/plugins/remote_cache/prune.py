"""Remove old entries from a remote cache, and what interrupted writers left."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from registry.plugins.remote_cache.record import ENTRY

if TYPE_CHECKING:
    from registry.plugins.remote_cache.objects import StoredObject
    from registry.plugins.remote_cache.remote_cache import RemoteCache

__all__ = ["Pruned", "prune_remote"]

_OURS = re.compile(
    r"v[0-9]+/samples/[0-9a-f]{64}/(?:entry\.json|[0-9a-f]{64}\.arrow)(?:\.[0-9a-f]{32}\.part)?"
)
# An upload may take that long before its record is written.
_UNFINISHED_SECONDS = 24 * 60 * 60


class Pruned(Struct, frozen=True):
    """An object that was removed, or would be."""

    name: str
    bytes: int
    days: float
    """Since it was written."""


def prune_remote(remote: RemoteCache, *, older: float, dry_run: bool = False) -> list[Pruned]:
    """Remove the entries that were written more than `older` seconds ago; return their objects.

    Readers write nothing, so the age of an entry is that since it was pushed; `sync --push
    --refresh` writes it again. Samples without a record are what an interrupted upload or an
    expiry left; they go after a day.

    Raises:
        CacheError: the remote cache can't be listed, or an object can't be removed.
    """
    now = time.time()
    chosen = list(_choose(remote.objects(), now, older))
    for one in chosen:
        if not dry_run:
            remote.remove(one.name)
    return [Pruned(one.name, one.size, round((now - one.written) / 86_400, 1)) for one in chosen]


def _choose(objects: Iterable[StoredObject], now: float, older: float) -> Iterable[StoredObject]:
    """Yield what to remove; the record of an entry first, so that no reader finds it in part."""
    entries: dict[str, list[StoredObject]] = {}
    for one in objects:
        if _is_ours(one.name):
            entries.setdefault(one.name.rpartition("/")[0], []).append(one)
    for _, parts in sorted(entries.items()):
        records = [one for one in parts if one.name.endswith(f"/{ENTRY}")]
        limit = older if records else _UNFINISHED_SECONDS
        if all(now - one.written > limit for one in parts):
            yield from records
            yield from (one for one in parts if one not in records)


def _is_ours(name: str) -> bool:
    """Return whether an object is that of an entry, of any format of the cache, or a part of it.

    A bucket may have other things under such a folder.
    """
    return _OURS.fullmatch(name) is not None
