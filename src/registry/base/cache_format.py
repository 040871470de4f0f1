"""Version of the cache's files, which names their folder and is part of every fingerprint."""

from __future__ import annotations

from pathlib import Path

from registry.base.cache_access import refuse_unreadable_cache, refuse_unsafe_cache

__all__ = ["CACHE_FORMAT", "versioned_folder"]

CACHE_FORMAT = 2
"""Increment it when older entries can't be read or would be wrong; they are then never found."""


def versioned_folder(cache_dir: Path) -> Path:
    """Return the folder of this version's files in the cache.

    Raises:
        CacheError: others may have written to the cache, or this user can't read it.
    """
    # Here, because everything in the cache is found by this path.
    refuse_unsafe_cache(cache_dir)
    folder = cache_dir / f"v{CACHE_FORMAT}"
    refuse_unreadable_cache(folder)
    return folder
