"""The cache folder: atomic entries, found by fingerprint.

    v3/samples/<fingerprint>/   samples.arrow, meta.json
    v3/views/<fingerprint>/     rows.npy, choices.npy, meta.json
    v3/records/<fingerprint>/   records.arrow, meta.json: what the `datasets` package loaded
    v3/exports/<key>/           data.<suffix>, meta.json: what `registry://` serves
    v3/blobs/<sha256>           bytes of remote files
    v3/sources/<key>.json       state and digests of a location when it was last read
    v3/index/                   files that only save work, see `base.fs`
    v3/tmp/ v3/locks/ v3/quarantine/

Readers take no lock and need no write permission. `meta.json` is written last, and then the folder
is renamed into place, so that no reader ever sees a partial entry. Every file has a checksum: JSON
its own, the others in `meta.json`, by parts that are checked when they are first read.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from registry.base.cache_access import CACHE_FORMAT, create_file, make_folder, versioned_folder
from registry.base.fs import file_sha256, make_durable, set_cached_mode, write_cached
from registry.base.local_files import read_regular
from registry.base.process_state import cached_property
from registry.cache.folders import (
    ENTRY_KINDS,
    META,
    EntryKind,
    Kind,
    check_meta,
    finish_files,
    kept_inode,
    publish_folder,
    remove_folder,
    seal,
    temporary_folder,
    unseal,
    write_error,
)
from registry.cache.locks import lock
from registry.errors import CacheError, DamagedEntryError
from registry.progress import Deadline, Report

__all__ = ["Cache", "CacheEntry", "OnDamage", "inode_of", "listed"]

OnDamage = Callable[[Path, int, str], DamagedEntryError]
"""Quarantines the entry of a file, given its path, its inode and the reason; returns the error."""

_Found = TypeVar("_Found")
_USE_SECONDS = 60 * 60
"""How exact the time of the last use is: a warm open writes nothing if it was used just before."""


def _unreadable(error: OSError) -> CacheError:
    return CacheError(f"can't read the cache: {error} (REGISTRY_CACHE_DIR sets another folder)")


# What reading a file gives if there is something else in its place.
_NOT_A_FILE = {errno.EISDIR, errno.ENOTDIR, errno.ELOOP, errno.EINVAL}


def inode_of(path: Path) -> int | None:
    """Return what tells whether a path still is the same file or folder; None if it is gone."""
    try:
        return path.lstat().st_ino
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(error) from error


def listed(folder: Path) -> list[Path]:
    """Return what is in a folder of the cache, sorted; nothing if there is no such folder."""
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:  # such as one that another user has made
        raise _unreadable(error) from error


def _is_file(path: Path, size: int) -> bool:
    found = path.stat()
    return stat.S_ISREG(found.st_mode) and found.st_size == size


def _read_state(path: Path, key: str) -> dict[str, Any] | None:
    """Return what `remember` wrote; None if it is missing, damaged or that of another source."""
    try:
        data: dict[str, Any] = unseal(read_regular(path))
    except (FileNotFoundError, ValueError):
        return None
    except OSError as error:
        if error.errno not in _NOT_A_FILE:
            raise _unreadable(error) from error
        return None
    return data if data.pop("key", None) == key else None


class CacheEntry(Struct, frozen=True):
    """One finished folder of the cache."""

    folder: Path
    meta: dict[str, Any]
    """Content of `meta.json`: size and digest of each file, and the keys of its kind."""

    @property
    def size(self) -> int:
        """Size of its files in bytes, as published; the metadata is not counted."""
        return sum(file["size"] for file in self.meta["files"].values())

    def damage(self) -> str:
        """Compare all files with their digests; return what is wrong, or an empty str."""
        try:
            for name, file in self.meta["files"].items():
                if file_sha256(self.folder / name) != file["sha256"]:
                    return f"{name} doesn't have its digest"
        except OSError as error:
            return f"it can't be read: {error}"
        return ""


class Cache(Struct, frozen=True, dict=True):
    """Entries under one folder."""

    root: Path
    """The cache's folder, without the version part."""
    passive: bool = False
    """Whether finding something leaves it as it is: it is not noted as used, nor quarantined."""
    used: set[Path] | None = None
    """If given, it gets what an operation depends on: samples, views, states of sources."""

    @cached_property
    def versioned(self) -> Path:
        """The folder of this version's files; that it is safe is checked once."""
        return versioned_folder(self.root)

    def find(self, kind: EntryKind, fingerprint: str) -> CacheEntry | None:
        """Return an entry, or None; a damaged entry is moved to the quarantine.

        Of the files only the sizes are compared: hashing them would take longer than opening the
        dataset.
        """
        folder = self._folder(kind, fingerprint)
        return self._find_intact(folder, lambda: self._read(kind, fingerprint))

    def _find_intact(self, path: Path, read: Callable[[], _Found | None]) -> _Found | None:
        """Return what is at a path, as `read` does; quarantine it if that returns None."""
        found = read()
        while found is None and os.path.lexists(path):
            # Another process may have replaced it meanwhile: only what stayed is damaged.
            with kept_inode(path) as seen:
                found = read()
                if found is None and seen is not None and inode_of(path) == seen:
                    self._quarantine_found(path)
                    return None
        return found

    def _read(self, kind: EntryKind, fingerprint: str) -> CacheEntry | None:
        """Return an entry, or None if it is missing or damaged."""
        folder = self._folder(kind, fingerprint)
        try:
            meta = unseal(read_regular(folder / META))
            sizes = check_meta(meta, kind, fingerprint)
            if not all(_is_file(folder / name, size) for name, size in sizes.items()):
                return None
        except (FileNotFoundError, ValueError, msgspec.ValidationError):
            return None
        except OSError as error:
            if error.errno not in _NOT_A_FILE:
                raise _unreadable(error) from error
            return None
        self._note_use(folder / META)
        self._depend_on(folder)
        return CacheEntry(folder, meta)

    def _depend_on(self, path: Path) -> None:
        # Only a build reads records, and it gets them again if they are gone.
        if self.used is not None and path.parent.name != "records":
            self.used.add(path)

    def _note_use(self, path: Path) -> None:
        """Set the time of a file, that of its last use, once an hour, if that is permitted."""
        if self.passive:
            return
        with contextlib.suppress(OSError):
            # Also a time in the future, which a clock gave that has been set back.
            if abs(time.time() - path.stat().st_mtime) > _USE_SECONDS:
                os.utime(path)

    def make_durable(self) -> None:
        """Make what was `used` survive a power cut.

        Raises:
            CacheError: the disk is broken; the entries are removed.
        """
        try:
            make_durable(self.used or (), self.root)
        except OSError as error:
            for path in self.used or ():
                if path.parent.name in ENTRY_KINDS:
                    self.discard(path.parent.name, path.name)
            raise CacheError(f"can't write to the cache: {error} (is the disk broken?)") from error

    def verify(self, kind: EntryKind, entry: CacheEntry) -> bool:
        """Return whether the files of an entry have their digests; if not, quarantine it."""
        if not entry.damage():
            return True
        fingerprint = entry.meta["fingerprint"]
        with kept_inode(entry.folder) as seen:
            # It may have been replaced since it was found.
            found = self.find(kind, fingerprint)
            if found is not None and found.damage() and inode_of(entry.folder) == seen:
                self._quarantine_found(entry.folder)
        return False

    def _folder(self, kind: Kind, fingerprint: str) -> Path:
        return self.versioned.joinpath(kind, fingerprint.removeprefix("sha256:"))

    def working(
        self,
        kind: Kind,
        fingerprint: str,
        *,
        dataset: str,
        report: Report,
        deadline: Deadline,
    ) -> AbstractContextManager[Report]:
        """Hold the lock of an entry, so that other processes wait instead of building it too.

        Yields the report that shows them that the work goes on. They wait until their deadline.
        """
        name = f"{kind}-{fingerprint.removeprefix('sha256:')}.lock"
        path = self.versioned.joinpath("locks", name)
        return lock(path, dataset=dataset, report=report, deadline=deadline)

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
            name: {"size": size, "sha256": known.get(name) or file_sha256(folder / name)}
            for name, size in finish_files(folder).items()
        }
        full_meta = {**meta, "format": CACHE_FORMAT, "fingerprint": fingerprint, "files": files}
        # Last, so that a folder with it always has all of its files.
        with create_file(folder / META) as file:
            file.write(seal(full_meta))
        if replace:
            self.discard(kind, fingerprint)
        target = self._folder(kind, fingerprint)
        publish_folder(folder, target)
        self._depend_on(target)
        return CacheEntry(target, full_meta)

    def discard(self, kind: EntryKind, fingerprint: str) -> None:
        """Remove an entry; processes that have its files open can still read them."""
        remove_folder(self._folder(kind, fingerprint), self.versioned / "tmp")

    def damaged(
        self, kind: EntryKind, fingerprint: str, path: Path, inode: int, reason: str
    ) -> DamagedEntryError:
        """Quarantine the entry of an open file that is damaged; return the error.

        The inode is that of the open file, as the entry may have been replaced since.
        """
        folder = self._folder(kind, fingerprint)
        with kept_inode(folder) as seen:
            # If the folder was replaced, its files are those of an intact entry.
            is_damaged = inode_of(path) in (inode, None)
            if is_damaged and seen is not None and inode_of(folder) == seen:
                self._quarantine_found(folder)
        kept = inode_of(path) == inode
        hint = "make the cache writable, or set REGISTRY_CACHE_DIR" if kept else "open it again"
        return DamagedEntryError(f"{path}: {reason} ({hint} to have it built again)")

    def _quarantine_found(self, damaged: Path) -> None:
        """Move what is damaged out of the way, and log it: the disk may be bad."""
        if self.quarantine_file(damaged):
            import logging  # slow to import

            hint = "`registry cache verify` checks the rest"
            logger = logging.getLogger("registry")
            logger.warning("%s: damaged, and moved to the quarantine (%s)", damaged, hint)

    def quarantine_file(self, damaged: Path) -> bool:
        """Move a damaged file or folder out of the way; return False if that is not permitted."""
        if self.passive:
            return False
        # To the second folder if the first one is another user's. Left where it is, it would
        # take the place of what is built instead.
        for folder in ("quarantine", "tmp"):
            # A unique name, as an entry may be damaged more than once.
            target = self.versioned / folder / f"{damaged.name}-{uuid.uuid4().hex[:8]}"
            with contextlib.suppress(OSError):
                make_folder(target.parent)
                damaged.rename(target)
                os.utime(target)  # its age there is what counts when it is removed
                return True
        return False

    def blob(self, sha256: str) -> Path:
        """Return the path of the bytes with a digest; the file may not exist."""
        path = self.versioned / "blobs" / sha256
        self._note_use(path)
        return path

    def intact_blob(self, sha256: str) -> Path | None:
        """Return the path of the bytes with a digest, or None; what else is there is quarantined.

        They are hashed each time, because a blob is only read for a build, which takes longer.
        """
        path = self.blob(sha256)

        def read() -> Path | None:
            with contextlib.suppress(OSError):
                if path.is_file() and file_sha256(path) == sha256:
                    return path
            return None

        return self._find_intact(path, read)

    def store_blob(self, path: Path, sha256: str) -> Path:
        """Move a finished file to the blobs; return its path there.

        Raises:
            CacheError: it can't be moved there.
        """
        target = self.blob(sha256)
        try:
            if target.is_dir():
                self.quarantine_file(target)
            make_folder(target.parent)
            # Not synced: a blob is hashed each time before it is read.
            set_cached_mode(path)
            path.replace(target)
        except OSError as error:
            raise write_error(target.parent, error) from error
        return target

    def recall(self, key: str, *fields: str) -> dict[str, Any] | None:
        """Return the data that `remember` wrote; None if missing, damaged or without a field."""
        path = self._source_state(key)
        data = self._find_intact(path, lambda: _read_state(path, key))
        if data is None:
            return None
        self._depend_on(path)
        return data if all(field in data for field in fields) else None

    def remember(self, key: str, data: Mapping[str, Any]) -> None:
        """Store the state of a source; a full disk or a read-only cache is ignored.

        Without it the source is looked up, or read, again.
        """
        path = self._source_state(key)
        text = seal({**data, "key": key})
        with contextlib.suppress(OSError):
            write_cached(path, lambda file: file.write(text))
            self._depend_on(path)

    def _source_state(self, key: str) -> Path:
        return self.versioned.joinpath("sources", f"{key.removeprefix('sha256:')}.json")

    def entries(self, kind: EntryKind) -> Iterator[CacheEntry]:
        """Yield the entries of a kind, sorted by fingerprint."""
        for folder in listed(self.versioned / kind):
            if not folder.is_dir():
                continue  # `prune` removes it
            entry = self.find(kind, f"sha256:{folder.name}")
            if entry is not None:
                yield entry
