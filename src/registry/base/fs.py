"""Read and write files: atomically, with their digest, and marked as in use meanwhile."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import io
import os
import re
import stat
import uuid
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeGuard

from registry.base.cache_access import (
    create_file,
    make_folder,
    mode_in,
    set_mode,
    versioned_folder,
)
from registry.base.local_files import open_regular, read_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from io import BufferedReader

__all__ = [
    "HashedFile",
    "best_effort_path",
    "claim",
    "file_sha256",
    "hold",
    "is_disk_fault",
    "let_go",
    "make_durable",
    "read_best_effort",
    "remove_leftovers",
    "set_cached_mode",
    "stream_sha256",
    "write_atomic",
    "write_best_effort",
    "write_cached",
]

_HASHED_BYTES = 1 << 19
"""Bytes that are hashed together, few enough for the processor's cache."""
_DISK_FAULTS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
_HELD = {errno.EACCES, errno.EAGAIN}
_CHECKSUM = len(b"00000000")


def is_disk_fault(error: BaseException) -> TypeGuard[OSError]:
    """Return whether an error means that a disk or quota is full, a file too large, or it broke."""
    return isinstance(error, OSError) and error.errno in _DISK_FAULTS


def file_sha256(path: str | Path) -> str:
    """Return the sha256 of a file's bytes, 64 hex digits."""
    with open_regular(path) as file:
        return stream_sha256(file)


def stream_sha256(file: BufferedReader) -> str:
    """Return the sha256 of the bytes that are left of an open file, 64 hex digits."""
    digest, part = hashlib.sha256(), bytearray(_HASHED_BYTES)
    size = file.readinto(part)
    digest.update(memoryview(part)[:size])
    if size == len(part):  # fewer bytes are read only at the end
        _hash_rest(file, digest)
    return digest.hexdigest()


def _hash_rest(file: BufferedReader, digest: hashlib._Hash) -> None:
    """Add the bytes that are left of a file to a digest; a thread reads ahead."""
    from concurrent.futures import ThreadPoolExecutor  # not for small files

    part, following = bytearray(_HASHED_BYTES), bytearray(_HASHED_BYTES)
    with ThreadPoolExecutor(1, thread_name_prefix="read") as pool:
        size = file.readinto(part)
        while size:
            waiting = pool.submit(file.readinto, following)
            digest.update(memoryview(part)[:size])
            part, following, size = following, part, waiting.result()


class HashedFile(io.RawIOBase):
    """A new file that computes the sha256 of its bytes as they are written."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._file = create_file(path, buffering=0)
        self._digest = hashlib.sha256()

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any, /) -> int:
        """Write all of the bytes."""
        view = memoryview(data)
        self._digest.update(view)
        remaining = view
        while remaining:  # an unbuffered write may be partial
            remaining = remaining[self._file.write(remaining) :]
        return view.nbytes

    def add(self, data: bytes) -> None:
        """Go on behind bytes that somebody else has written at the position."""
        self._digest.update(data)
        self._file.seek(len(data), io.SEEK_CUR)

    def tell(self) -> int:
        """Return the number of bytes written."""
        return self._file.tell()

    def close(self) -> None:
        """Close the file."""
        # Python also closes an object whose `__init__` failed, and from 3.13 on reports an error.
        if hasattr(self, "_file"):
            self._file.close()
        super().close()

    @property
    def sha256(self) -> str:
        """The sha256 of the bytes written so far, 64 hex digits."""
        return self._digest.hexdigest()


def write_atomic(path: Path, write: Callable[[BinaryIO], object], *, durable: bool = True) -> None:
    """Write a temporary file beside `path`, sync it and rename it to `path`: a user's file.

    After a power cut the file has its old content or the new one; its mode stays. Temporary files
    that killed writers of the same path left are removed. One of thousands that can be made again
    need not be `durable`: it is not synced, and its folder not listed.

    Raises:
        FileExistsError: a device or a pipe is there.
        IsADirectoryError: a folder is there.
    """
    mode = None
    with contextlib.suppress(FileNotFoundError):
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            # The rename would succeed for root, and make `/dev/null` a file for all programs.
            raise FileExistsError(errno.EEXIST, "it is a device or a pipe", str(path))
    path.parent.mkdir(parents=True, exist_ok=True)

    def create(temporary: Path) -> BinaryIO:
        # "x" never opens an existing file, such as a symbolic link of another user.
        file = temporary.open("xb")
        if mode is not None:
            set_mode(file, mode & 0o777)
        return file

    _replace(path, write, create, durable=durable)
    if durable:
        _sync(path.parent)
        remove_leftovers(path)


def write_cached(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file of the cache atomically; only its user, or group, has access.

    It is not synced: after a power cut it may be damaged, which its readers detect.
    """
    make_folder(path.parent)
    _replace(path, write, create_file, durable=False)


def _replace(
    path: Path,
    write: Callable[[BinaryIO], object],
    create: Callable[[Path], BinaryIO],
    *,
    durable: bool,
) -> None:
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    with create(temporary) as file:
        held = hold(temporary, file.fileno())
        try:
            if not temporary.exists():  # removed before it was held
                return _replace(path, write, create, durable=durable)
            write(file)
            file.flush()
            if durable:
                os.fsync(file.fileno())
            # Before the rename, as some network file systems report a failed write only now.
            file.close()
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
            let_go(held)


def set_cached_mode(path: Path) -> None:
    """Make a file of the cache accessible to its user, or group, only."""
    with path.open("rb") as file:
        set_mode(file, mode_in(path.parent))


def make_durable(paths: Iterable[Path], root: Path) -> None:
    """Make files, and folders with their files, under `root` survive a power cut.

    Raises:
        OSError: the disk is broken. What is gone, or can't be synced here, is left out.
    """
    chosen: list[Path] = []
    above: set[Path] = set()
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            chosen += [*(path.iterdir() if path.is_dir() else ()), path]
        above |= {folder for folder in path.parents if folder.is_relative_to(root)}
    # A name is durable once its folder is; deeper folders first.
    for path in (*chosen, *sorted(above, key=lambda one: len(one.parts), reverse=True)):
        _sync(path)


def _sync(path: Path) -> None:
    """Make a file, or the names in a folder, durable, if that is possible here."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:  # such as a folder on a file system that syncs only files
        if is_disk_fault(error):
            raise


def hold(path: Path, descriptor: int | None = None) -> int | None:
    """Mark a new file or folder as in use, so that `claim` does not give it to another process.

    The kernel takes the mark away when the process ends, however it ends. Returns what `let_go`
    needs.
    """
    own = None
    with contextlib.suppress(OSError):  # a file system without locks
        # A descriptor of its own, because the file is closed before it is renamed.
        own = os.open(path, os.O_RDONLY) if descriptor is None else os.dup(descriptor)
        # Network file systems lock exclusively only what is open for writing: no folder.
        fcntl.flock(own, fcntl.LOCK_SH if descriptor is None else fcntl.LOCK_EX)
    return own


def let_go(held: int | None) -> None:
    """Take the mark away again."""
    if held is not None:
        with contextlib.suppress(OSError):  # nothing was written through it
            os.close(held)


@contextlib.contextmanager
def claim(path: Path) -> Iterator[bool | None]:
    """Yield whether no live process holds a file or folder, and keep others from holding it.

    None means that nobody can tell: a file system without locks, or no permission.
    """
    flags = os.O_RDONLY if path.is_dir() else os.O_RDWR
    descriptor, is_free = None, None
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_free = True
    except OSError as error:
        is_free = False if error.errno in _HELD and descriptor is not None else None
    try:
        yield is_free
    finally:
        if descriptor is not None:
            with contextlib.suppress(OSError):
                os.close(descriptor)


def remove_leftovers(path: Path) -> None:
    """Remove the temporary files of killed processes that were writing `path`."""
    is_temporary = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{32}}").fullmatch
    for other in path.parent.iterdir():
        if is_temporary(other.name):
            with contextlib.suppress(OSError), claim(other) as is_free:
                if is_free:
                    other.unlink()


def best_effort_path(index: Path, cache_dir: Path, suffix: str) -> Path:
    """Return the path of a cache file for the catalog of an index: the hash of its path."""
    # `fsencode`, as a path may have bytes that are not UTF-8.
    name = hashlib.sha256(os.fsencode(index)).hexdigest()
    return versioned_folder(cache_dir) / "index" / f"{name}.{suffix}"


def read_best_effort(path: Path) -> bytes | None:
    """Return the body that `write_best_effort` wrote, with the checksum still at its end.

    None if the file is missing, unreadable or damaged.
    """
    try:
        data = read_regular(path)
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
