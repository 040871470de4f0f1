"""The cache folder: atomic entries, found by fingerprint.

    v1/samples/<fingerprint>/   samples.arrow, meta.json
    v1/views/<fingerprint>/     rows.npy, choices.npy, meta.json
    v1/records/<fingerprint>/   records.arrow, meta.json: what the `datasets` package loaded
    v1/blobs/<sha256>           bytes of remote files
    v1/sources/<key>.json       state and digests of a location when it was last read
    v1/index/                   files that only save work, see `best_effort`
    v1/tmp/ v1/locks/ v1/quarantine/

Readers take no lock and need no write permission. `meta.json` is written last, and then the folder
is renamed into place, so that no reader ever sees a partial entry.
"""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from registry.base.cache_access import make_folder
from registry.base.cache_format import CACHE_FORMAT, versioned_folder
from registry.base.fs import (
    file_sha256,
    is_read_only,
    publish_folder,
    sync_cached,
    temporary_folder,
    write_cached,
)
from registry.cache.locks import lock
from registry.cache.meta import META, EntryKind, check_meta
from registry.errors import CacheError

__all__ = ["Cache", "CacheEntry"]


def _unreadable(error: OSError) -> CacheError:
    return CacheError(f"can't read the cache: {error} (REGISTRY_CACHE_DIR sets another folder)")


class CacheEntry(Struct, frozen=True):
    """One finished folder of the cache."""

    folder: Path
    meta: dict[str, Any]
    """Content of `meta.json`: size and digest of each file, and the keys of its kind."""

    @property
    def size(self) -> int:
        """Size of all files in bytes."""
        return sum(path.stat().st_size for path in self.folder.iterdir())


class Cache(Struct, frozen=True):
    """Entries under one folder."""

    root: Path
    """The cache's folder, without the version part."""

    @property
    def versioned(self) -> Path:
        """The folder of this version's files."""
        return versioned_folder(self.root)

    def find(self, kind: EntryKind, fingerprint: str) -> CacheEntry | None:
        """Return an entry, or None; a damaged entry is moved to the quarantine.

        Only sizes are compared: hashing all files would take longer than opening the dataset.
        """
        folder = self._folder(kind, fingerprint)
        try:
            meta = json.loads((folder / META).read_bytes())
            files = check_meta(meta, kind)
            intact = all((folder / name).stat().st_size == size for name, size in files.items())
        except FileNotFoundError:
            # Without a folder there is no entry; a folder that lacks one of its files is damaged.
            intact = not folder.is_dir()
            meta = None
        except (ValueError, msgspec.ValidationError):
            intact = False
        except OSError as error:
            raise _unreadable(error) from error
        if not intact:
            self.quarantine(kind, fingerprint)
            return None
        return None if meta is None else CacheEntry(folder, meta)

    def verify(self, kind: EntryKind, entry: CacheEntry) -> bool:
        """Return whether the files of an entry have their digests; if not, quarantine it."""
        for name, file in entry.meta["files"].items():
            if file_sha256(entry.folder / name) != file["sha256"]:
                self.quarantine(kind, entry.meta["fingerprint"])
                return False
        return True

    def _folder(self, kind: EntryKind, fingerprint: str) -> Path:
        return self.versioned / kind / fingerprint.removeprefix("sha256:")

    def working(
        self, kind: EntryKind | Literal["blobs"], fingerprint: str
    ) -> AbstractContextManager[None]:
        """Hold the lock of an entry, so that other processes wait instead of building it too."""
        return lock(self.versioned / "locks" / f"{kind}-{fingerprint.removeprefix('sha256:')}.lock")

    def temporary(self) -> AbstractContextManager[Path]:
        """Yield a private folder on the cache's file system: renames within it are atomic."""
        return temporary_folder(self.versioned / "tmp")

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
        """Publish a finished folder from `temporary` as an entry.

        Args:
            folder: The folder; it is moved.
            kind: Kind of the entry.
            fingerprint: Its fingerprint.
            meta: Content of `meta.json` besides the files' sizes and digests.
            digests: File name → sha256, for files whose digest is already known.
            replace: Replace an existing entry; otherwise the existing one is kept.
        """
        known = digests or {}
        files = {
            path.name: {
                "size": path.stat().st_size,
                "sha256": known.get(path.name) or file_sha256(path),
            }
            for path in folder.iterdir()
        }
        full_meta = {**meta, "format": CACHE_FORMAT, "fingerprint": fingerprint, "files": files}
        text = json.dumps(full_meta, indent=1, sort_keys=True).encode()
        # Last, so that a folder with it always has all of its files.
        write_cached(folder / META, lambda file: file.write(text))
        if replace:
            self.discard(kind, fingerprint)
        target = self._folder(kind, fingerprint)
        publish_folder(folder, target)
        return CacheEntry(target, full_meta)

    def discard(self, kind: EntryKind, fingerprint: str) -> None:
        """Remove an entry; processes that have its files open can still read them."""
        folder = self._folder(kind, fingerprint)
        with contextlib.suppress(FileNotFoundError), self.temporary() as temporary:
            # Renamed first, so that an entry disappears in one step and not file by file.
            folder.rename(temporary / "discarded")

    def quarantine(self, kind: EntryKind, fingerprint: str) -> None:
        """Move a damaged entry out of the way; without write permission it stays, unused."""
        folder = self._folder(kind, fingerprint)
        # A unique name, as an entry may be damaged more than once.
        target = self.versioned / "quarantine" / f"{folder.name}-{uuid.uuid4().hex[:8]}"
        with contextlib.suppress(OSError):
            make_folder(target.parent)
            folder.rename(target)

    def quarantine_file(self, path: Path) -> None:
        """Move a rejected download to the quarantine; without write permission it is removed."""
        target = self.versioned / "quarantine" / f"{path.name}-{uuid.uuid4().hex[:8]}"
        with contextlib.suppress(OSError):
            make_folder(target.parent)
            path.rename(target)

    def blob(self, sha256: str) -> Path:
        """Return the path of the bytes with a digest; the file may not exist."""
        return self.versioned / "blobs" / sha256

    def store_blob(self, path: Path, sha256: str) -> Path:
        """Move a finished file to the blobs; return its path there."""
        target = self.blob(sha256)
        make_folder(target.parent)
        # Synced before the rename, so that a crash can't leave the name without the bytes.
        sync_cached(path)
        path.replace(target)
        return target

    def recall(self, key: str, *fields: str) -> dict[str, Any] | None:
        """Return the data that `remember` wrote; None if missing, damaged or without a field."""
        try:
            data = json.loads(self._source_state(key).read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        except OSError as error:
            raise _unreadable(error) from error
        return data if isinstance(data, dict) and all(field in data for field in fields) else None

    def remember(self, key: str, data: dict[str, Any]) -> None:
        """Store the state of a source; a read-only cache is ignored, a full disk is an error."""
        text = json.dumps(data, sort_keys=True).encode()
        try:
            write_cached(self._source_state(key), lambda file: file.write(text))
        except OSError as error:
            if not is_read_only(error):
                raise CacheError(f"can't write to the cache: {error}") from error

    def _source_state(self, key: str) -> Path:
        return self.versioned / "sources" / f"{key.removeprefix('sha256:')}.json"

    def entries(self, kind: EntryKind) -> Iterator[CacheEntry]:
        """Yield the entries of a kind, sorted by fingerprint."""
        parent = self.versioned / kind
        for folder in sorted(parent.iterdir()) if parent.is_dir() else ():
            entry = self.find(kind, f"sha256:{folder.name}")
            if entry is not None:
                yield entry
