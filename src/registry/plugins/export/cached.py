"""Exports in the cache: written once, then opened as a local file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from registry.api import Deadline, HashedFile, deadline_seconds, digest_of

if TYPE_CHECKING:
    from registry.api import Cache, CacheEntry
    from registry.plugins.export.exported import Exported
    from registry.plugins.export.formats import Format

__all__ = ["cached_export", "export_key"]

_WRITERS = 1
"""Increment it when a writer gives other bytes for the same samples."""


def export_key(exported: Exported, kind: Format) -> str:
    """Return the digest of everything that determines the bytes of an export."""
    return digest_of(
        {
            "format": kind.name,
            "writers": _WRITERS,
            "package": kind.package_version,
            "provenance": exported.provenance,
        }
    )


def cached_export(exported: Exported, kind: Format, cache: Cache) -> tuple[str, Path]:
    """Return the key of an export, and its intact file in the cache; write it if necessary.

    Raises:
        CacheError: it can't be written.
    """
    key = export_key(exported, kind)
    entry = _find(cache, key)
    if entry is None:
        deadline = Deadline(deadline_seconds())
        name, report = exported.spec.name, exported.report
        with cache.working("exports", key, dataset=name, report=report, deadline=deadline):
            # Another process may have written it while this one waited for the lock.
            entry = _find(cache, key) or _write(exported, kind, cache, key)
    return key, entry.folder / f"data{kind.suffix}"


def _find(cache: Cache, key: str) -> CacheEntry | None:
    """Return an intact entry; a damaged one is moved to the quarantine."""
    entry = cache.find("exports", key)
    if entry is None:
        return None
    try:
        state = _state_of(entry)
    except FileNotFoundError:  # pruned just now
        return None
    if state not in _verified and not cache.verify("exports", entry):
        return None
    _verified.add(state)
    return entry


_State = tuple[str, int, int, int]
_verified: set[_State] = set()
"""Files that this process has compared with their digests: readers open one several times."""


def _state_of(entry: CacheEntry) -> _State:
    (name,) = entry.meta["files"]
    path = entry.folder / name
    found = os.stat(path)
    return str(path), found.st_ino, found.st_size, found.st_mtime_ns


def _write(exported: Exported, kind: Format, cache: Cache, key: str) -> CacheEntry:
    with cache.temporary() as folder:
        path = folder / f"data{kind.suffix}"
        with HashedFile(path) as file:
            kind.write(exported, file)
        meta = {
            "name": exported.spec.name,
            "samples": exported.entry.meta["fingerprint"],
            "format_name": kind.name,
            "provenance": exported.provenance,
        }
        digests = {path.name: file.sha256}
        return cache.publish(folder, "exports", key, meta, digests=digests)
