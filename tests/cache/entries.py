"""Entries of a cache for tests, with little in them."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from typing import Any

from registry.cache.cache import Cache
from registry.cache.folders import EntryKind

__all__ = ["HOUR", "age", "blob", "export", "key", "leave", "records", "samples", "view"]

HOUR = 3600
_NUMBER = "0123456789abcdef" * 2


def key(name: str) -> str:
    """Return the key of an entry that a test calls so."""
    return hashlib.sha256(name.encode()).hexdigest()


def age(path: Path, seconds: float) -> None:
    """Let a file or folder have been used, or changed, so many seconds ago."""
    os.utime(path, (time.time() - seconds,) * 2)


def samples(cache: Cache, name: str) -> Path:
    """Publish samples; return their folder."""
    meta = {"name": name, "samples": 1, "source": f"{name}.csv", "batches": "", "limit": None}
    meta |= {"columns": ["input"], "quality": {}}
    return _publish(cache, "samples", name, meta)


def view(cache: Cache, name: str, *, of: str, size: int = 1000) -> Path:
    """Publish a view of samples, or replace it."""
    meta: dict[str, Any] = {"first_bad": None, "checksums": {}, "samples": f"sha256:{key(of)}"}
    return _publish(cache, "views", name, meta, size)


def records(cache: Cache, name: str) -> Path:
    """Publish records."""
    return _publish(cache, "records", name, {"rows": 1, "source": name, "revision": "0" * 40})


def export(cache: Cache, name: str, *, of: str) -> Path:
    """Publish an export of samples."""
    return _publish(cache, "exports", name, {"name": of, "samples": f"sha256:{key(of)}"})


def blob(cache: Cache, content: bytes) -> Path:
    """Store a blob."""
    with cache.temporary() as folder:
        (folder / "file").write_bytes(content)
        return cache.store_blob(folder / "file", hashlib.sha256(content).hexdigest())


def leave(parts: Path, seconds: float) -> dict[str, Path]:
    """Write below the parts of a cache what killed processes left, so many seconds ago."""
    paths = {
        "folder of a build": parts / "tmp" / _NUMBER,
        "file in tmp": parts / "tmp" / "x",
        "state": parts / "sources" / f".{key('s')}.json.{_NUMBER}",
        "catalog": parts / "index" / f".{key('c')}.catalog.{_NUMBER}",
        "blob": parts / "blobs" / f".{key('b')}.{_NUMBER}",
        "entry that is a file": parts / "samples" / key("f"),
        "lock": parts / "locks" / f"samples-{key('x')}.lock",
        "quarantine": parts / "quarantine" / f"{key('q')}-01234567",
    }
    for name, path in paths.items():
        is_folder = name in ("folder of a build", "quarantine")
        file = path / "samples.narrow" if is_folder else path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"data")
        age(file, seconds)
        age(path, seconds)
    return paths


def _publish(
    cache: Cache, kind: EntryKind, name: str, meta: dict[str, Any], size: int = 1000
) -> Path:
    with cache.temporary() as folder:
        (folder / "file").write_bytes(b"x" * size)
        return cache.publish(folder, kind, f"sha256:{key(name)}", meta, replace=True).folder
