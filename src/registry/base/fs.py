"""Write files and folders atomically."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import re
import stat
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from registry.base.cache_access import (
    create_file,
    file_mode,
    make_folder,
    set_file_mode,
)
from registry.errors import CacheError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

try:
    import fcntl
except ImportError:  # Windows: what is in use is then known by its age only
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "HashedFile",
    "claim",
    "file_sha256",
    "is_disk_fault",
    "make_durable",
    "publish_folder",
    "remove_folder",
    "remove_leftovers",
    "set_cached_mode",
    "temporary_folder",
    "write_atomic",
    "write_cached",
]

_CHUNK = 1 << 20
# Errors of renaming a folder to an existing one; which of them depends on the platform.
_TAKEN = {errno.EEXIST, errno.ENOTEMPTY}
_DISK_FAULTS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
_HELD = {errno.EACCES, errno.EAGAIN}


def is_disk_fault(error: BaseException) -> bool:
    """Return whether an error means that a disk is full or broken."""
    return isinstance(error, OSError) and error.errno in _DISK_FAULTS


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
        # Python also closes an object whose `__init__` failed, and from 3.13 on reports an error.
        if hasattr(self, "_file"):
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
    with contextlib.ExitStack() as held:
        try:
            is_held = False
            while not is_held:
                make_folder(folder)
                held.enter_context(_held(folder))
                is_held = folder.exists()  # it may have been removed before it was held
        except OSError as error:
            raise _write_error(parent, error) from error
        try:
            yield folder
        except OSError as error:
            # A file that is there already, such as a link, was put there by another process.
            if not is_disk_fault(error) and not isinstance(error, FileExistsError):
                raise
            raise _write_error(parent, error) from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _write_error(folder: Path, error: OSError) -> CacheError:
    is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    hint = "`registry cache prune` frees space; " if is_full else ""
    hint += "REGISTRY_CACHE_DIR sets another folder"
    return CacheError(f"can't write to the cache in {folder}: {error} ({hint})")


def write_atomic(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a temporary file beside `path`, sync it and rename it to `path`: a user's file.

    After a power cut the file has its old content or the new one. Temporary files that killed
    writers of the same path left are removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # "x" never opens an existing file, such as a symbolic link of another user.
    _replace(path, write, lambda temporary: temporary.open("xb"), durable=True)
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
    with create(temporary) as file, _held(temporary, file.fileno()):
        if not temporary.exists():  # removed before it was held
            return _replace(path, write, create, durable=durable)
        try:
            write(file)
            file.flush()
            if durable:
                os.fsync(file.fileno())
            # Before the rename, as some network file systems report a failed write only now.
            file.close()
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def remove_folder(folder: Path, parent: Path) -> None:
    """Remove a folder, if it exists, in one step: it is moved under `parent` first.

    Raises:
        CacheError: it can't be moved there.
    """
    import shutil  # not needed to open a cached dataset

    # Nothing holds it there, so it is removed as left over if this process is killed.
    target = parent / uuid.uuid4().hex
    try:
        if not parent.exists():
            make_folder(parent)
        folder.rename(target)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _write_error(parent, error) from error
    shutil.rmtree(target, ignore_errors=True)
    with contextlib.suppress(OSError):  # it may have been a file, or a link
        target.unlink()


def publish_folder(folder: Path, target: Path) -> None:
    """Move a finished `folder` to `target`, unless another process published it first.

    Nothing is synced, see `make_durable`.

    Raises:
        CacheError: it can't be moved there.
    """
    try:
        for path in folder.iterdir():
            set_cached_mode(path)
        make_folder(target.parent)
        folder.rename(target)
    except OSError as error:
        if error.errno not in _TAKEN:
            raise _write_error(target.parent, error) from error


def set_cached_mode(path: Path) -> None:
    """Make a file of the cache accessible to its user, or group, only."""
    if stat.S_IMODE(path.lstat().st_mode) != file_mode(path):  # rare, as `create_file` sets it
        with path.open("rb") as file:
            set_file_mode(file, path)


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


@contextlib.contextmanager
def _held(path: Path, descriptor: int | None = None) -> Iterator[None]:
    """Mark a new file or folder as in use, so that `claim` does not give it to another process.

    The kernel takes the mark away when the process ends, however it ends.
    """
    own = None
    with contextlib.suppress(OSError):  # a file system without locks
        # A descriptor of its own, because the file is closed before it is renamed.
        own = os.open(path, os.O_RDONLY) if descriptor is None else os.dup(descriptor)
        if fcntl is not None:
            # Network file systems lock exclusively only what is open for writing: no folder.
            fcntl.flock(own, fcntl.LOCK_SH if descriptor is None else fcntl.LOCK_EX)
    try:
        yield
    finally:
        if own is not None:
            with contextlib.suppress(OSError):  # nothing was written through it
                os.close(own)


@contextlib.contextmanager
def claim(path: Path) -> Iterator[bool | None]:
    """Yield whether no live process holds a file or folder, and keep others from holding it.

    None means that nobody can tell: a file system without locks, or no permission.
    """
    if fcntl is None:
        yield None
        return
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
