"""Check the folder of the cache."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from registry import CacheError
from registry.api import (
    CACHE_FORMAT,
    Cache,
    contents,
    count_text,
    list_names,
    older_formats,
    paths_of,
    size_of,
    size_text,
)
from registry.plugins.doctor.observation import Observation, fail, fine, warn

__all__ = ["cache_observations"]

_OTHER = "set REGISTRY_CACHE_DIR to a folder of your own, with space"
_LITTLE_BYTES = 1 << 30
_PARTS = frozenset(
    {"samples", "views", "records", "exports", "blobs", "sources", "index", "tmp", "locks"}
) | {"quarantine"}
_NAMED = 3


def cache_observations(folder: Path) -> Iterator[Observation]:
    """Yield whether the cache can be written, its size, and what does not belong there."""
    cache = Cache(folder)
    try:
        versioned = cache.versioned
        fault = _write_fault(folder)
        if fault:
            yield fail("cache", f"{folder} can't be written: {fault}", _OTHER)
        else:
            size = size_text(size_of(folder))
            yield fine("cache", f"{folder}, format {CACHE_FORMAT}, {size}")
        yield _disk_observation(folder)
        if versioned.is_dir():
            yield from _content_observations(cache, versioned)
    except (CacheError, OSError) as error:
        yield fail("cache", str(error).splitlines()[0], _OTHER)


def _write_fault(folder: Path) -> str:
    """Return why nothing can be written to a folder, or to where it would be made; "" if it can."""
    existing = _existing(folder)
    try:
        if existing == folder:
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(b"x")
        elif not os.access(existing, os.W_OK | os.X_OK):
            return f"permission denied in {existing}"
    except OSError as error:
        return error.strerror or type(error).__name__
    return ""


def _existing(folder: Path) -> Path:
    """Return a folder, or the nearest one above it that exists."""
    return next((one for one in (folder, *folder.parents) if one.exists()), folder)


def _disk_observation(folder: Path) -> Observation:
    free = shutil.disk_usage(_existing(folder)).free
    text = f"{size_text(free)} free"
    if free < _LITTLE_BYTES:
        return warn("disk", text, "registry cache prune --older 30d")
    return fine("disk", text)


def _content_observations(cache: Cache, versioned: Path) -> Iterator[Observation]:
    items = contents(cache)
    known = {one.path for item in items for one in (item, *item.views)}
    damaged = [path for _, path in paths_of(cache) if path not in known]
    quarantine = versioned / "quarantine"
    kept = sorted(quarantine.iterdir()) if quarantine.is_dir() else []
    if damaged or kept:
        found = [f"{count_text(len(damaged), 'item')} damaged"] if damaged else []
        found += [f"{count_text(len(kept), 'item')} in the quarantine"] if kept else []
        step = "registry cache verify" if damaged else "registry cache prune"
        yield warn("cache content", ", ".join(found), step)
    else:
        text = f"{count_text(len(items), 'item')} (registry cache verify reads all of them)"
        yield fine("cache content", text)
    if old := older_formats(cache):
        size = size_text(sum(map(size_of, old)))
        step = (
            f"remove {list_names([str(one) for one in old], _NAMED)}, if no older registry is used"
        )
        yield warn("cache formats", f"{size} of older formats", step)
    foreign = [one.name for one in versioned.iterdir() if one.name not in _PARTS]
    if foreign:
        text = f"files of others in {versioned}: {list_names(sorted(foreign), _NAMED)}"
        yield warn("cache files", text, "move them elsewhere")
