"""Who may read and write the cache: its user, or on request a group; whatever the umask."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from shlex import quote
from typing import BinaryIO

from registry.errors import CacheError
from registry.settings import is_on

__all__ = [
    "CACHE_FORMAT",
    "create_file",
    "make_folder",
    "make_new_folder",
    "mode_in",
    "refuse_unreadable_cache",
    "refuse_unsafe_cache",
    "set_mode",
    "versioned_folder",
]

# A file that is created in a setgid folder gets the folder's group, not that of the process.
_SHARED_FOLDER = stat.S_ISGID | stat.S_IRWXU | stat.S_IRWXG
_SHARED = stat.S_ISGID | stat.S_IWGRP
# Never a file that exists, or a link; some of the flags are those of one system.
_FLAGS = ("O_NOFOLLOW", "O_CLOEXEC")
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | sum(getattr(os, name, 0) for name in _FLAGS)


def refuse_unsafe_cache(folder: Path) -> None:
    """Refuse a cache to which someone else may have written what this process would trust.

    Raises:
        CacheError: the folder belongs to another user, or every user can write to it.
    """
    if os.name != "posix":  # elsewhere neither modes nor owners say who can write
        return
    try:
        found = folder.stat()
    except OSError:
        return  # reported by whatever reads or creates it
    own = "or set REGISTRY_CACHE_DIR to a new folder of your own"
    if found.st_mode & stat.S_IWOTH:
        hint = f"if nobody else put files there, `chmod o-w {quote(str(folder))}`; {own}"
        raise CacheError(f"the cache {folder} is writable by every user of this machine ({hint})")
    # Root can write everywhere anyway; its cache may be shared by everyone who can read it.
    if found.st_uid not in (os.getuid(), 0) and not is_on("REGISTRY_CACHE_GROUP"):
        hint = f"if you trust its owner and group, set REGISTRY_CACHE_GROUP=1; {own}"
        raise CacheError(f"the cache {folder} belongs to another user ({hint})")


def refuse_unreadable_cache(folder: Path) -> None:
    """Refuse a cache, or the part of it that is used, that this user may not read.

    Raises:
        CacheError: it is, or may be, there but can't be read.
    """
    if os.access(folder, os.R_OK | os.X_OK):
        return
    try:
        if not folder.is_dir():
            return  # it is created, or reported, by whatever writes there
        if os.access(folder, os.R_OK | os.X_OK):
            return  # another thread or process made it between the two looks
    except PermissionError:
        pass
    except OSError:
        return
    raise CacheError(
        f"the cache {folder} can't be read by this user (set REGISTRY_CACHE_DIR to a folder of your"
        " own; or whoever made it makes it again with REGISTRY_CACHE_GROUP=1, for their group)"
    )


def make_folder(path: Path) -> None:
    """Create a folder of the cache, and the missing ones above it."""
    if os.path.exists(path):  # three times as fast as `Path.exists`
        return
    with contextlib.suppress(FileExistsError):  # another process was faster
        make_new_folder(path)


def make_new_folder(path: Path) -> None:
    """Create a folder of the cache, and the missing ones above it.

    Raises:
        FileExistsError: it is there already.
    """
    try:
        _make_private(path)
    except FileNotFoundError:
        make_folder(path.parent)
        _make_private(path)


def _make_private(folder: Path) -> None:
    # Closed from the beginning; mkdir honours no setgid bit, and the umask.
    os.mkdir(folder, mode=0o700)
    if _is_shared(os.path.dirname(folder)):
        folder.chmod(_SHARED_FOLDER)


def create_file(path: Path, buffering: int = -1) -> BinaryIO:
    """Create a file of the cache and open it as `open` does; never one that exists, or a link."""
    file = os.fdopen(os.open(path, _NEW, 0o600), "wb", buffering)
    try:
        set_mode(file, mode_in(path.parent))
    except OSError:
        file.close()
        raise
    return file


def set_mode(file: BinaryIO, mode: int) -> None:
    """Give an open file a mode, if it has another one."""
    if hasattr(os, "fchmod") and stat.S_IMODE(os.fstat(file.fileno()).st_mode) != mode:
        os.fchmod(file.fileno(), mode)


def mode_in(folder: str | Path) -> int:
    """Return the mode of the files of a folder of the cache."""
    return 0o660 if _is_shared(folder) else 0o600


def _is_shared(folder: str | Path) -> bool:
    """Return whether a folder's content is the group's: on request, or as the folder is."""
    return is_on("REGISTRY_CACHE_GROUP") or os.stat(folder).st_mode & _SHARED == _SHARED


CACHE_FORMAT = 3
"""Increment it when older entries can't be read or would be wrong; they are then never found."""


def versioned_folder(cache_dir: Path) -> Path:
    """Return the folder of this version's files in the cache.

    Raises:
        CacheError: others may have written to the cache, or this user can't read it.
    """
    # Here, because everything in the cache is found by this path.
    refuse_unsafe_cache(cache_dir)
    folder = cache_dir / f"v{CACHE_FORMAT}"
    refuse_unreadable_cache(folder)
    return folder
