"""Cache files that only save work: checksummed, and ignored where damaged or unwritable."""

from __future__ import annotations

import contextlib
import hashlib
import os
import zlib
from pathlib import Path

from registry.base.cache_format import versioned_folder
from registry.base.fs import write_atomic

__all__ = ["best_effort_path", "hashed_path", "read_best_effort", "write_best_effort"]

_CHECKSUM = len(b"00000000")


def best_effort_path(index: Path, cache_dir: Path, suffix: str) -> Path:
    """Return the cache file about the catalog of an index, such as its compiled form."""
    return hashed_path(index, versioned_folder(cache_dir) / "index", suffix)


def hashed_path(subject: Path, folder: Path, suffix: str) -> Path:
    """Return the file in `folder` about `subject`: named by the hash of that path."""
    return folder / f"{hashlib.sha256(os.fsencode(subject)).hexdigest()}.{suffix}"


def read_best_effort(path: Path) -> bytes | None:
    """Return what `write_best_effort` wrote, with its checksum still at the end.

    None where the file is missing, unreadable or damaged.
    """
    try:
        data = path.read_bytes()
        checksum = int(data[-_CHECKSUM:], 16)
    except (OSError, ValueError):
        return None
    # A view, and the checksum left on: a copy of a large catalog's file would be megabytes.
    return data if zlib.crc32(memoryview(data)[:-_CHECKSUM]) == checksum else None


def write_best_effort(path: Path, body: bytes) -> None:
    """Write lines, the last one ended; a full disk or a read-only cache is ignored."""
    data = b"%s%08x" % (body, zlib.crc32(body))
    with contextlib.suppress(OSError):
        write_atomic(path, lambda file: file.write(data))
