"""Keep the cache tidy: remove what a crash left behind, or everything."""

from __future__ import annotations

import contextlib
import shutil
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from registry.cache.cache import Cache

__all__ = ["clear", "prune"]

_STALE_SECONDS = 24 * 60 * 60


def prune(cache: Cache) -> None:
    """Remove temporary folders of killed processes: those that are more than a day old."""
    # A more recent folder may belong to a build that is still running.
    parent = cache.versioned / "tmp"
    for folder in parent.iterdir() if parent.is_dir() else ():
        with contextlib.suppress(FileNotFoundError):
            if time.time() - folder.stat().st_mtime > _STALE_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


def clear(cache: Cache) -> int:
    """Remove everything; return the number of bytes freed."""
    size = sum(path.stat().st_size for path in cache.versioned.rglob("*") if path.is_file())
    shutil.rmtree(cache.versioned, ignore_errors=True)
    return size
