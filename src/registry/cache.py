"""The cache folder: entries that are whole or absent, found by fingerprint.

    v1/samples/<fingerprint>/   samples.arrow, meta.json
    v1/views/<fingerprint>/     rows.npy, choices.npy, meta.json
    v1/records/<fingerprint>/   records.arrow, meta.json: what the Hub's `datasets` gave
    v1/blobs/<sha256>           bytes of remote files
    v1/sources/<key>.json       what a location held when it was last looked at
    v1/index/                   what only saves work, see `kept`
    v1/tmp/ v1/locks/ v1/quarantine/

Readers take no lock and need no permission to write.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from registry.base.fs import (
    file_sha256,
    is_read_only,
    lock,
    publish_folder,
    temporary_folder,
    write_whole,
)
from registry.errors import CacheError

__all__ = ["FORMAT", "Cache", "CacheEntry", "EntryKind"]

FORMAT = 1
"""Version of the entries' files; part of every fingerprint."""

EntryKind = Literal["samples", "views", "records"]
_META = "meta.json"
_STALE_SECONDS = 24 * 60 * 60


class _File(Struct):
    size: int
    sha256: str


class _Entry(Struct):
    """What `meta.json` says of any entry."""

    fingerprint: str
    files: dict[str, _File]


class _Samples(_Entry):
    name: str
    samples: int
    source: str
    batches: list[tuple[int, int]]
    columns: list[str]

    def __post_init__(self) -> None:
        if sum(rows for rows, _ in self.batches) != self.samples:
            raise ValueError("the batches are not those of the samples")


class _View(_Entry):
    first_bad: int | None


class _Records(_Entry):
    rows: int


_FORMS: dict[EntryKind, type[_Entry]] = {"samples": _Samples, "views": _View, "records": _Records}


def _unreadable(error: OSError) -> CacheError:
    return CacheError(f"can't read the cache: {error} (REGISTRY_CACHE_DIR sets another folder)")


class CacheEntry(Struct, frozen=True):
    """One finished folder of the cache."""

    folder: Path
    meta: dict[str, Any]
    """What `meta.json` says: sizes of the files, and what the writer added."""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(path.stat().st_size for path in self.folder.iterdir())


class Cache(Struct, frozen=True):
    """Entries under one folder."""

    root: Path
    """The cache's folder, without the version part."""

    @property
    def _top(self) -> Path:
        return self.root / f"v{FORMAT}"

    def find(self, kind: EntryKind, fingerprint: str) -> CacheEntry | None:
        """Return an entry, or None; a damaged one is put in quarantine first."""
        folder = self._folder(kind, fingerprint)
        try:
            meta = json.loads((folder / _META).read_bytes())
            files = msgspec.convert(meta, _FORMS[kind]).files
            whole = all((folder / name).stat().st_size == one.size for name, one in files.items())
        except FileNotFoundError:
            whole = not folder.is_dir()
            meta = None
        except (ValueError, msgspec.ValidationError):
            whole = False
        except OSError as error:
            raise _unreadable(error) from error
        if not whole:
            self.quarantine(kind, fingerprint)
            return None
        return None if meta is None else CacheEntry(folder, meta)

    def verify(self, kind: EntryKind, entry: CacheEntry) -> bool:
        """Read an entry's files and hold them against their digests; put a damaged one aside."""
        for name, file in entry.meta["files"].items():
            if file_sha256(entry.folder / name) != file["sha256"]:
                self.quarantine(kind, entry.meta["fingerprint"])
                return False
        return True

    def _folder(self, kind: EntryKind, fingerprint: str) -> Path:
        return self._top / kind / fingerprint.removeprefix("sha256:")

    def working(
        self, kind: EntryKind | Literal["blobs"], fingerprint: str
    ) -> AbstractContextManager[None]:
        """Hold the lock that saves other processes the work on one entry."""
        return lock(self._top / "locks" / f"{kind}-{fingerprint.removeprefix('sha256:')}.lock")

    def temporary(self) -> AbstractContextManager[Path]:
        """Give a private folder on the cache's file system."""
        return temporary_folder(self._top / "tmp")

    def publish(
        self,
        folder: Path,
        kind: EntryKind,
        fingerprint: str,
        meta: dict[str, Any],
        *,
        digests: Mapping[str, str] | None = None,
        replace: bool = False,
    ) -> CacheEntry:
        """Turn a finished folder of `temporary` into an entry; `meta.json` is written last.

        Where there is an entry already it stays, unless it is to be replaced. `digests` are those
        of files that are known.
        """
        known = digests or {}
        files = {
            path.name: {
                "size": path.stat().st_size,
                "sha256": known.get(path.name) or file_sha256(path),
            }
            for path in folder.iterdir()
        }
        whole = {**meta, "format": FORMAT, "fingerprint": fingerprint, "files": files}
        text = json.dumps(whole, indent=1, sort_keys=True).encode()
        write_whole(folder / _META, lambda file: file.write(text))
        if replace:
            self.discard(kind, fingerprint)
        target = self._folder(kind, fingerprint)
        publish_folder(folder, target)
        return CacheEntry(target, whole)

    def discard(self, kind: EntryKind, fingerprint: str) -> None:
        """Take an entry out; readers that have it open keep it."""
        folder = self._folder(kind, fingerprint)
        with contextlib.suppress(FileNotFoundError), self.temporary() as temporary:
            folder.rename(temporary / "discarded")

    def quarantine(self, kind: EntryKind, fingerprint: str) -> None:
        """Put a damaged entry aside; without permission to, it only counts as absent."""
        folder = self._folder(kind, fingerprint)
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

    def recall(self, key: str, *fields: str) -> dict[str, Any] | None:
        """Return what was remembered of a source, or None; damaged memory counts as none."""
        try:
            data = json.loads(self._memory(key).read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        except OSError as error:
            raise _unreadable(error) from error
        return data if isinstance(data, dict) and all(field in data for field in fields) else None

    def remember(self, key: str, data: dict[str, Any]) -> None:
        """Remember what a source held; a cache that can't be written forgets it."""
        text = json.dumps(data, sort_keys=True).encode()
        try:
            write_whole(self._memory(key), lambda file: file.write(text))
        except OSError as error:
            if not is_read_only(error):
                raise CacheError(f"can't write to the cache: {error}") from error

    def _memory(self, key: str) -> Path:
        return self._top / "sources" / f"{key.removeprefix('sha256:')}.json"

    def entries(self, kind: EntryKind) -> Iterator[CacheEntry]:
        """Yield the entries of a kind, by fingerprint."""
        parent = self._top / kind
        for folder in sorted(parent.iterdir()) if parent.is_dir() else ():
            entry = self.find(kind, f"sha256:{folder.name}")
            if entry is not None:
                yield entry

    def prune(self) -> None:
        """Remove what killed processes left: temporary folders that are a day old."""
        import shutil

        parent = self._top / "tmp"
        for folder in parent.iterdir() if parent.is_dir() else ():
            with contextlib.suppress(FileNotFoundError):
                if time.time() - folder.stat().st_mtime > _STALE_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)

    def clear(self) -> int:
        """Remove everything; return the bytes that were freed."""
        import shutil

        size = sum(path.stat().st_size for path in self._top.rglob("*") if path.is_file())
        shutil.rmtree(self._top, ignore_errors=True)
        return size
