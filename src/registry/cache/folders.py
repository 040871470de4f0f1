"""The folders of the cache, made and published in one step, and the `meta.json` of its entries."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec
from msgspec import Struct
from xxhash import xxh3_64_intdigest

from registry.base.cache_access import make_folder, make_new_folder, mode_in
from registry.base.conversion import convert
from registry.base.fs import hold, is_disk_fault, let_go, set_cached_mode
from registry.errors import CacheError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from _typeshed import ReadableBuffer

__all__ = [
    "CACHE_FOLDERS",
    "ENTRY_KINDS",
    "KINDS",
    "META",
    "EntryKind",
    "Kind",
    "check_meta",
    "checksum",
    "finish_files",
    "kept_inode",
    "publish_folder",
    "remove_folder",
    "seal",
    "temporary_folder",
    "unseal",
    "write_error",
]

# Errors of renaming a folder to an existing one; which of them depends on the platform.
_TAKEN = {errno.EEXIST, errno.ENOTEMPTY}
EntryKind = Literal["samples", "views", "records", "exports"]
Kind = Literal[EntryKind, "blobs"]
ENTRY_KINDS: tuple[EntryKind, ...] = get_args(EntryKind)
KINDS: tuple[Kind, ...] = get_args(Kind)
CACHE_FOLDERS = (*KINDS, "sources", "index", "tmp", "locks", "quarantine")
"""Folders of the cache, see `cache.cache`."""
META = "meta.json"
_HEAD = b'{"checksum":"%016x",'
_HEAD_SIZE = len(_HEAD % 0)
# `json.dumps` with options creates an encoder on each call.
_SORTED = json.JSONEncoder(sort_keys=True)


@contextlib.contextmanager
def temporary_folder(parent: Path) -> Iterator[Path]:
    """Yield a new private folder under `parent`, and remove it with its content at the end.

    Raises:
        CacheError: the folder can't be created, or the disk is full or broken.
    """
    folder = parent / uuid.uuid4().hex
    try:
        make_new_folder(folder)
        held = hold(folder)
        while not os.path.exists(folder):  # it was removed before it was held
            let_go(held)
            make_new_folder(folder)
            held = hold(folder)
    except OSError as error:
        raise write_error(parent, error) from error
    try:
        yield folder
    except OSError as error:
        # A file that is there already, such as a link, was put there by another process.
        if not is_disk_fault(error) and not isinstance(error, FileExistsError):
            raise
        raise write_error(parent, error) from error
    finally:
        _remove_tree(folder)
        let_go(held)


def publish_folder(folder: Path, target: Path) -> None:
    """Move a finished `folder` to `target`, unless another process published it first.

    Nothing is synced, see `make_durable`.

    Raises:
        CacheError: it can't be moved there.
    """
    try:
        _rename(folder, target)
    except OSError as error:
        if error.errno not in _TAKEN:
            raise write_error(target.parent, error) from error


def remove_folder(folder: Path, parent: Path) -> None:
    """Remove a folder, if it exists, in one step: it is moved under `parent` first.

    Raises:
        CacheError: it can't be moved there.
    """
    # Nothing holds it there, so it is removed as left over if this process is killed.
    target = parent / uuid.uuid4().hex
    try:
        _rename(folder, target)
    except FileNotFoundError:
        return
    except OSError as error:
        raise write_error(parent, error) from error
    _remove_tree(target)


@contextlib.contextmanager
def kept_inode(path: Path) -> Iterator[int | None]:
    """Yield the inode of a file or folder, None if it is gone; until the end no other gets it.

    Linux gives the inode of what was removed to what is created next, so that a comparison of
    inodes alone takes a new entry for the one that it replaced. Other systems don't.
    """
    descriptor = None
    with contextlib.suppress(OSError):
        if hasattr(os, "O_PATH"):
            descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW)
    inode = None
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        inode = (path.lstat() if descriptor is None else os.fstat(descriptor)).st_ino
    try:
        yield inode
    finally:
        let_go(descriptor)


def _rename(folder: Path, target: Path) -> None:
    """Rename a folder; create the one that it is moved to, if there is none."""
    try:
        os.rename(folder, target)
    except FileNotFoundError:
        # Which one is missing? Another thread may have created the parent since.
        if not os.path.lexists(folder):
            raise
        make_folder(target.parent)
        os.rename(folder, target)


def finish_files(folder: Path) -> dict[str, int]:
    """Make the files of a folder accessible to its user, or group, only; return their sizes.

    Raises:
        CacheError: a mode can't be set.
    """
    sizes = {}
    try:
        mode = mode_in(folder)
        with os.scandir(folder) as found:
            for entry in found:
                state = entry.stat(follow_symlinks=False)
                if stat.S_IMODE(state.st_mode) != mode:  # rare, as `create_file` sets it
                    set_cached_mode(Path(entry.path))
                sizes[entry.name] = state.st_size
    except OSError as error:
        raise write_error(folder, error) from error
    return sizes


def _remove_tree(path: Path) -> None:
    """Remove a folder with its content, a file or a link; what can't be removed stays."""
    if not os.path.lexists(path):  # it was published
        return
    with contextlib.suppress(OSError):
        try:
            _remove_flat(path)
        except OSError:
            import shutil  # an entry has no folders, and is no file

            shutil.rmtree(path, ignore_errors=True)
            if os.path.lexists(path):
                path.unlink()


def _remove_flat(folder: Path) -> None:
    """Remove a folder of files as `shutil.rmtree` does, by half of its system calls.

    Raises:
        OSError: it is something else, or system calls that follow no link are missing here.
    """
    if os.unlink not in os.supports_dir_fd:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    # Another member of a group that shares the cache may put a link in its place meanwhile.
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        # The names at its path, which are listed by fewer system calls. If they are those of
        # another folder by now, none of them is in this one.
        for name in os.listdir(folder):
            os.unlink(name, dir_fd=descriptor)
    finally:
        os.close(descriptor)
    os.rmdir(folder)


def write_error(folder: Path, error: OSError) -> CacheError:
    """Return the error for a folder of the cache that can't be written to."""
    is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    hint = "`registry cache prune` frees space; " if is_full else ""
    hint += "REGISTRY_CACHE_DIR sets another folder"
    return CacheError(f"can't write to the cache in {folder}: {error} ({hint})")


# Needed at each open: creating a class of msgspec takes 0.01 ms, one of pydantic 1 ms.
class _File(Struct):
    size: int
    sha256: str


class _Entry(Struct):
    """Contents of `meta.json` that every entry has."""

    fingerprint: str
    files: dict[str, _File]


class _Count(Struct):
    """Samples of one kind, see `build.quality`."""

    count: int
    first: list[dict[str, Any]]


class _Samples(_Entry):
    name: str
    samples: int
    source: str
    batches: str
    columns: list[str]
    quality: dict[str, _Count]
    limit: int | None


class _View(_Entry):
    first_bad: int | None
    checksums: dict[str, str]
    """File name without suffix → checksums of the parts of its array, packed."""
    samples: str
    """Fingerprint of its samples."""


class _Records(_Entry):
    rows: int


class _Export(_Entry):
    name: str
    """Dataset that it was made for."""
    samples: str
    """Fingerprint of its samples."""


_META_TYPES: dict[EntryKind, type[_Entry]] = {
    "samples": _Samples,
    "views": _View,
    "records": _Records,
    "exports": _Export,
}


def check_meta(data: Any, kind: EntryKind, fingerprint: str) -> dict[str, int]:
    """Return the size of each file of an entry.

    Raises:
        ValueError: the data is that of another entry.
        ValidationError: it is not that of an entry of this kind.
    """
    found = convert(data, _META_TYPES[kind])
    if found.fingerprint != fingerprint:
        raise ValueError(f"it describes {found.fingerprint}")
    return {name: file.size for name, file in found.files.items()}


def checksum(data: ReadableBuffer) -> int:
    """Return the xxh3 of bytes as an int of 64 bits; it is computed as fast as memory is read."""
    return xxh3_64_intdigest(data)


def seal(data: Mapping[str, Any]) -> bytes:
    """Return a dict, which must not be empty, as JSON whose first value is its checksum."""
    body = _SORTED.encode(data).encode()[1:]
    return _HEAD % checksum(body) + body


def unseal(text: bytes) -> dict[str, Any]:
    """Return the dict that `seal` wrote.

    Raises:
        ValueError: the text is not what `seal` wrote.
    """
    # Before it is parsed: foreign JSON may be nested so deeply that parsing fails otherwise.
    if text[:_HEAD_SIZE] != _HEAD % checksum(memoryview(text)[_HEAD_SIZE:]):
        raise ValueError("the checksum differs")
    data: dict[str, Any]
    try:
        data = msgspec.json.decode(text)
    except msgspec.DecodeError:  # NaN, or half of a surrogate pair
        data = json.loads(text)
    del data["checksum"]
    return data
