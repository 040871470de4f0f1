"""Files of the cache that only save work: with a checksum, and done without where damaged."""

from __future__ import annotations

import contextlib
import hashlib
import os
import zlib
from pathlib import Path

from registry.base.fs import write_whole

__all__ = ["kept_at", "named_after", "read_kept", "write_kept"]

_CHECKSUM = len(b"00000000")


def kept_at(index: Path, cache_dir: Path, kind: str) -> Path:
    """Return the file in the cache that is for something about the catalog of an index."""
    return named_after(index, cache_dir / "v1" / "index", kind)


def named_after(path: Path, folder: Path, kind: str) -> Path:
    """Return the file in a folder that is for something about a path."""
    return folder / f"{hashlib.sha256(os.fsencode(path)).hexdigest()}.{kind}"


def read_kept(path: Path) -> bytes | None:
    """Return the lines that `write_kept` wrote, and behind them their checksum.

    None where something else is there. Nothing is copied: the catalog of thousands has megabytes.
    """
    try:
        data = path.read_bytes()
        checksum = int(data[-_CHECKSUM:], 16)
    except (OSError, ValueError):
        return None
    return data if zlib.crc32(memoryview(data)[:-_CHECKSUM]) == checksum else None


def write_kept(path: Path, body: bytes) -> None:
    """Keep whole lines; a folder that can't be written, or a full disk, only costs time."""
    data = b"%s%08x" % (body, zlib.crc32(body))
    with contextlib.suppress(OSError):
        write_whole(path, lambda file: file.write(data))
