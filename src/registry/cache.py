"""The cache folder: entries that are whole or absent, found by fingerprint.

    v1/samples/<fingerprint>/   samples.arrow, meta.json
    v1/views/<fingerprint>/     order.npy, choices.npy, meta.json
    v1/records/<fingerprint>/   records.arrow, meta.json: what the Hub's `datasets` gave
    v1/blobs/<sha256>           bytes of remote files
    v1/sources/<key>.json       what a location held when it was last looked at
    v1/tmp/ v1/locks/ v1/quarantine/

Readers take no lock and need no permission to write.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from registry.errors import CacheError
from registry.files import lock, publish_folder, temporary_folder, write_whole

__all__ = ["FORMAT", "Cache", "CacheEntry", "Kind"]

FORMAT = 1
"""Version of the entries' files; part of every fingerprint."""

Kind = Literal["samples", "views", "records"]
_META = "meta.json"


@dataclass(frozen=True)
class CacheEntry:
    """One finished folder of the cache."""

    folder: Path
    meta: dict[str, Any]
    """What `meta.json` says: sizes of the files, and what the writer added."""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(path.stat().st_size for path in self.folder.iterdir())


@dataclass(frozen=True)
class Cache:
    """Entries under one folder."""

    root: Path
    """The cache's folder, without the version part."""

    @property
    def _top(self) -> Path:
        return self.root / f"v{FORMAT}"

    def find(self, kind: Kind, fingerprint: str) -> CacheEntry | None:
        """Return an entry, or None; a damaged one is put in quarantine first."""
        folder = self._folder(kind, fingerprint)
        try:
            meta = json.loads((folder / _META).read_bytes())
            sizes = {name: (folder / name).stat().st_size for name in meta["files"]}
        except FileNotFoundError:
            if folder.is_dir():
                self._quarantine(folder)
            return None
        except PermissionError as error:
            raise CacheError(f"can't read the cache: {error}") from error
        except (ValueError, KeyError, TypeError, NotADirectoryError):
            self._quarantine(folder)
            return None
        if sizes != meta["files"]:
            self._quarantine(folder)
            return None
        return CacheEntry(folder, meta)

    def _folder(self, kind: Kind, fingerprint: str) -> Path:
        return self._top / kind / fingerprint.removeprefix("sha256:")

    def working(self, kind: Kind, fingerprint: str) -> AbstractContextManager[None]:
        """Hold the lock that saves other processes the work on one entry."""
        return lock(self._top / "locks" / f"{kind}-{fingerprint.removeprefix('sha256:')}.lock")

    def temporary(self) -> AbstractContextManager[Path]:
        """Give a private folder on the cache's file system."""
        return temporary_folder(self._top / "tmp")

    def publish(
        self, folder: Path, kind: Kind, fingerprint: str, meta: dict[str, Any]
    ) -> CacheEntry:
        """Turn a finished folder of `temporary` into an entry; `meta.json` is written last."""
        files = {path.name: path.stat().st_size for path in folder.iterdir()}
        whole = {**meta, "format": FORMAT, "fingerprint": fingerprint, "files": files}
        text = json.dumps(whole, indent=1, sort_keys=True).encode()
        write_whole(folder / _META, lambda file: file.write(text))
        publish_folder(folder, self._folder(kind, fingerprint))
        entry = self.find(kind, fingerprint)
        if entry is None:
            raise CacheError(f"an entry vanished while it was written: {fingerprint}")
        return entry

    def discard(self, kind: Kind, fingerprint: str) -> None:
        """Take an entry out; readers that have it open keep it."""
        folder = self._folder(kind, fingerprint)
        with contextlib.suppress(FileNotFoundError), self.temporary() as temporary:
            folder.rename(temporary / "discarded")

    def _quarantine(self, folder: Path) -> None:
        """Put a damaged entry aside; without permission to, it only counts as absent."""
        target = self._top / "quarantine" / f"{folder.name}-{uuid.uuid4().hex[:8]}"
        with contextlib.suppress(OSError):
            target.parent.mkdir(parents=True, exist_ok=True)
            folder.rename(target)

    def blob(self, sha256: str) -> Path:
        """Return where the bytes with a digest are, or would be."""
        return self._top / "blobs" / sha256

    def keep_blob(self, path: Path, sha256: str) -> Path:
        """Move a finished file into the blobs and return its place."""
        target = self.blob(sha256)
        target.parent.mkdir(parents=True, exist_ok=True)
        with path.open("rb") as file:
            os.fsync(file.fileno())
        path.replace(target)
        return target

    def recall(self, key: str) -> dict[str, Any] | None:
        """Return what was remembered of a source, or None."""
        try:
            data = json.loads(self._memory(key).read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        return data if isinstance(data, dict) else None

    def remember(self, key: str, data: dict[str, Any]) -> None:
        """Remember what a source held; a cache that can't be written forgets it."""
        text = json.dumps(data, sort_keys=True).encode()
        with contextlib.suppress(PermissionError):
            write_whole(self._memory(key), lambda file: file.write(text))

    def _memory(self, key: str) -> Path:
        return self._top / "sources" / f"{key.removeprefix('sha256:')}.json"

    def entries(self, kind: Kind) -> Iterator[CacheEntry]:
        """Yield the entries of a kind, by fingerprint."""
        parent = self._top / kind
        for folder in sorted(parent.iterdir()) if parent.is_dir() else ():
            entry = self.find(kind, f"sha256:{folder.name}")
            if entry is not None:
                yield entry

    def clear(self) -> int:
        """Remove everything; return the bytes that were freed."""
        size = sum(path.stat().st_size for path in self._top.rglob("*") if path.is_file())
        shutil.rmtree(self._top, ignore_errors=True)
        return size
