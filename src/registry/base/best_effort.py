"""Cache files that only save work: checksummed, and ignored if damaged or unwritable."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import zlib
from pathlib import Path

from registry.base.cache_access import versioned_folder
from registry.base.fs import write_cached

__all__ = ["best_effort_path", "hashed_path", "read_best_effort", "write_best_effort"]

_CHECKSUM = len(b"00000000")


def best_effort_path(index: Path, cache_dir: Path, suffix: str) -> Path:
    """Return the path of a cache file for the catalog of an index, such as its parsed form."""
    return hashed_path(index, versioned_folder(cache_dir) / "index", suffix)


@functools.lru_cache(maxsize=16)
def hashed_path(subject: Path, folder: Path, suffix: str) -> Path:
    """Return the path in `folder` of the file for `subject`, named by the hash of that path."""
    # `fsencode`, as a path may have bytes that are not UTF-8.
    return folder / f"{hashlib.sha256(os.fsencode(subject)).hexdigest()}.{suffix}"


def read_best_effort(path: Path) -> bytes | None:
    """Return the body that `write_best_effort` wrote, with the checksum still at its end.

    None if the file is missing, unreadable or damaged.
    """
    try:
        data = path.read_bytes()
        checksum = int(data[-_CHECKSUM:], 16)
    except (OSError, ValueError):
        return None
    # A view for the checksum, which is not cut off: the file of a large catalog has megabytes, and
    # each of the two would copy it.
    return data if zlib.crc32(memoryview(data)[:-_CHECKSUM]) == checksum else None


def write_best_effort(path: Path, body: bytes) -> None:
    """Write complete lines and their checksum; a full disk or a read-only cache is ignored."""
    data = b"%s%08x" % (body, zlib.crc32(body))
    with contextlib.suppress(OSError):
        write_cached(path, lambda file: file.write(data))
