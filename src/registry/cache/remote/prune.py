"""Remove old entries from a shared cache, and what interrupted writers left."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from registry.cache.remote.shared_cache import ENTRY

if TYPE_CHECKING:
    from registry.cache.remote.objects import StoredObject
    from registry.cache.remote.shared_cache import SharedCache

__all__ = ["Pruned", "prune_shared"]

# An upload may take that long before its record is written.
_UNFINISHED_SECONDS = 24 * 60 * 60


class Pruned(Struct, frozen=True):
    """An object that was removed, or would be."""

    name: str
    bytes: int
    days: float
    """Since it was written."""


def prune_shared(shared: SharedCache, *, older: float, dry_run: bool = False) -> list[Pruned]:
    """Remove the entries that were written more than `older` seconds ago; return their objects.

    Readers write nothing, so the age of an entry is that since it was pushed; `sync --push
    --refresh` writes it again. Samples without a record are what an interrupted upload or an
    expiry left; they go after a day.

    Raises:
        CacheError: the shared cache can't be listed, or an object can't be removed.
    """
    now = time.time()
    chosen = list(_choose(shared.objects(), now, older))
    for one in chosen:
        if not dry_run:
            shared.remove(one.name)
    return [Pruned(one.name, one.size, round((now - one.written) / 86_400, 1)) for one in chosen]


def _choose(objects: Iterable[StoredObject], now: float, older: float) -> Iterable[StoredObject]:
    """Yield what to remove; the record of an entry first, so that no reader finds it in part."""
    entries: dict[str, list[StoredObject]] = {}
    for one in objects:
        if _is_ours(one.name):
            entries.setdefault(one.name.rpartition("/")[0], []).append(one)
    for _, parts in sorted(entries.items()):
        records = [one for one in parts if one.name.endswith(f"/{ENTRY}")]
        limit = older if records else min(older, _UNFINISHED_SECONDS)
        if all(now - one.written > limit for one in parts):
            yield from records
            yield from (one for one in parts if one not in records)


def _is_ours(name: str) -> bool:
    """Return whether an object is in the folder of an entry, of any format of the cache."""
    version, _, rest = name.partition("/")
    return version[:1] == "v" and version[1:].isdecimal() and rest.startswith("samples/")
