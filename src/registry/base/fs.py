"""Write files and folders atomically."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from registry.base.cache_access import create_file, make_folder, set_file_mode
from registry.errors import CacheError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "HashedFile",
    "file_sha256",
    "is_disk_fault",
    "is_read_only",
    "publish_folder",
    "sync_cached",
    "temporary_folder",
    "write_atomic",
    "write_cached",
]

_CHUNK = 1 << 20
# Errors of renaming a folder to an existing one; which of them depends on the platform.
_TAKEN = {errno.EEXIST, errno.ENOTEMPTY}
_DISK_FAULTS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
_READ_ONLY = {errno.EACCES, errno.EPERM, errno.EROFS}


def is_disk_fault(error: BaseException) -> bool:
    """Return whether an error means that a disk is full or broken."""
    return isinstance(error, OSError) and error.errno in _DISK_FAULTS


def is_read_only(error: OSError) -> bool:
    """Return whether an error means that writing is not allowed."""
    return error.errno in _READ_ONLY


def file_sha256(path: str | Path) -> str:
    """Return the sha256 of a file's bytes, 64 hex digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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

    def tell(self) -> int:
        """Return the number of bytes written."""
        return self._file.tell()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()

    @property
    def sha256(self) -> str:
        """The sha256 of the bytes written so far, 64 hex digits."""
        return self._digest.hexdigest()


@contextlib.contextmanager
def temporary_folder(parent: Path) -> Iterator[Path]:
    """Yield a new private folder under `parent`, and remove it with its content at the end.

    Raises:
        CacheError: the folder can't be created, or the disk is full or broken.
    """
    import shutil  # not needed to open a cached dataset

    folder = parent / uuid.uuid4().hex
    try:
        make_folder(folder)
    except OSError as error:
        raise CacheError(
            f"can't write to the cache: {error} (REGISTRY_CACHE_DIR sets another folder)"
        ) from error
    try:
        yield folder
    except OSError as error:
        if not is_disk_fault(error):
            raise
        raise CacheError(f"can't write to the cache in {parent}: {error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_atomic(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a temporary file beside `path`, sync it and rename it to `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # "x" never opens an existing file, such as a symbolic link of another user.
    _replace(path, write, lambda temporary: temporary.open("xb"))


def write_cached(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file of the cache as `write_atomic` does; only its user, or group, has access."""
    make_folder(path.parent)
    _replace(path, write, create_file)


def _replace(
    path: Path, write: Callable[[BinaryIO], object], create: Callable[[Path], BinaryIO]
) -> None:
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with create(temporary) as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)


def publish_folder(folder: Path, target: Path) -> None:
    """Move a finished `folder` to `target`, unless another process published it first."""
    for path in folder.iterdir():
        sync_cached(path)
    _sync_folder(folder)
    make_folder(target.parent)
    try:
        folder.rename(target)
    except OSError as error:
        if error.errno not in _TAKEN:
            raise
    _sync_folder(target.parent)


def sync_cached(path: Path) -> None:
    """Make a file of the cache durable, and accessible to its user, or group, only."""
    with path.open("rb") as file:
        set_file_mode(file, path)
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Make renames in a folder durable, which needs a sync of the folder itself."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
