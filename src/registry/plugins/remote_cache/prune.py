"""Remove what nobody has pushed to the remote cache for a while."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from registry.plugins.remote_cache.record import ENTRY

if TYPE_CHECKING:
    from registry.plugins.remote_cache.folder_store import StoredObject
    from registry.plugins.remote_cache.remote_cache import RemoteCache

__all__ = ["Pruned", "prune_remote"]

_OF_ENTRY = re.compile(
    r"v[0-9]+/samples/[0-9a-f]{64}/(?:entry\.json|[0-9a-f]{64}\.arrow)(?:\.[0-9a-f]{32}\.part)?"
)
"""Objects of an entry, of any format of the cache, and parts of them."""
_OF_PACKS = re.compile(r"v[0-9]+/packs/[0-9a-f]{64}\.(?:json|pack)(?:\.[0-9a-f]{32}\.part)?")
"""Packs, their indexes, and parts of them."""
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
    objects = remote.objects()
    chosen = [*_packs(objects, remote, now - older), *_entries(objects, now, older)]
    for one in chosen:
        if not dry_run:
            remote.remove(one.name)
    return [Pruned(one.name, one.size, round((now - one.written) / 86_400, 1)) for one in chosen]


def _entries(objects: Iterable[StoredObject], now: float, older: float) -> Iterable[StoredObject]:
    """Yield what to remove; the record of an entry first, so that no reader finds it in part."""
    entries: dict[str, list[StoredObject]] = {}
    for one in objects:
        # A bucket may have other things under such a folder.
        if _OF_ENTRY.fullmatch(one.name):
            entries.setdefault(one.name.rpartition("/")[0], []).append(one)
    for _, parts in sorted(entries.items()):
        records = [one for one in parts if one.name.endswith(f"/{ENTRY}")]
        limit = older if records else _UNFINISHED_SECONDS
        if all(now - one.written > limit for one in parts):
            yield from records
            yield from (one for one in parts if one not in records)


def _packs(
    objects: Iterable[StoredObject], remote: RemoteCache, before: float
) -> Iterable[StoredObject]:
    """Yield old indexes, and then the packs that no other index names.

    A pack keeps its time when the same samples are packed again for another lockfile.
    """
    found = [one for one in objects if _OF_PACKS.fullmatch(one.name)]
    indexes = [one for one in found if one.name.endswith(".json")]
    kept = {
        record.samples_object
        for one in indexes
        if one.written >= before
        for record in remote.index(one.name)
    }
    yield from (one for one in indexes if one.written < before)
    # An upload may still be without its index.
    before = min(before, time.time() - _UNFINISHED_SECONDS)
    others = (one for one in found if one not in indexes)
    yield from (one for one in others if one.written < before and one.name not in kept)
