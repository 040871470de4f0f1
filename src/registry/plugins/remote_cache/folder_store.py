"""What a remote cache needs of a store, and the store in a folder of any file system."""

from __future__ import annotations

import contextlib
import errno
import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from msgspec import Struct

from registry import CacheError

__all__ = ["FolderStore", "Moved", "Store", "StoredObject", "copy_bytes"]


Moved = Callable[[int], None]
"""Called with the number of bytes each time that some have been moved."""

_PIECE = 1 << 20
_ATTEMPTS = 5
# What `link` gives where a file system has no hard links.
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


class StoredObject(Struct, frozen=True):
    """An object of a store, without its content."""

    name: str
    size: int
    written: float
    """Seconds since the epoch."""


class Store(Protocol):
    """Objects by names such as `v3/samples/KEY/entry.json`.

    Any method may raise whatever its library raises; `RemoteCache` translates it.
    """

    @property
    def is_concurrent(self) -> bool:
        """Whether several threads may use it at the same time."""

    def read(self, name: str, most: int) -> bytes | None:
        """Return the content of an object, or the first `most` bytes; None if there is none."""

    def size(self, name: str) -> int | None:
        """Return the number of bytes of an object; None if there is none."""

    def download(self, name: str, path: Path, size: int, moved: Moved, *, start: int = 0) -> None:
        """Write `size` bytes of an object from `start` to a new file; less if it ends earlier."""

    def upload(self, path: Path, name: str, moved: Moved) -> None:
        """Store a file as an object; readers see all of it or none."""

    def write(self, name: str, data: bytes) -> None:
        """Store bytes as an object, in place of what is there; readers see all of it or none."""

    def write_new(self, name: str, data: bytes) -> bool:
        """Store bytes as an object unless it is there; return whether it was not."""

    def objects(self) -> Iterator[StoredObject]:
        """Yield all objects."""

    def remove(self, name: str) -> None:
        """Remove an object; none is there afterwards, whoever removed it."""


class FolderStore:
    """Objects are files; each is written under another name first, and then linked or renamed."""

    is_concurrent = True

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, name: str, most: int) -> bytes | None:
        """Return the content of an object, or the first `most` bytes; None if there is none."""
        try:
            with self._open(name) as file:
                return file.read(most)
        except FileNotFoundError:
            self._check_root()
            return None

    def size(self, name: str) -> int | None:
        """Return the number of bytes of an object; None if there is none."""
        try:
            return (self._root / name).stat().st_size
        except FileNotFoundError:
            self._check_root()
            return None

    def download(self, name: str, path: Path, size: int, moved: Moved, *, start: int = 0) -> None:
        """Write `size` bytes of an object from `start` to a new file; less if it ends earlier."""
        with self._open(name) as source, path.open("xb") as target:
            source.seek(start)
            copy_bytes(source, target, size, moved)

    def upload(self, path: Path, name: str, moved: Moved) -> None:
        """Store a file as an object."""
        with path.open("rb") as source:
            size = os.fstat(source.fileno()).st_size
            with self._written(name, lambda file: copy_bytes(source, file, size, moved)) as written:
                written.replace(self._root / name)

    def write(self, name: str, data: bytes) -> None:
        """Store bytes as an object, in place of what is there."""
        with self._written(name, lambda file: file.write(data)) as written:
            written.replace(self._root / name)

    def write_new(self, name: str, data: bytes) -> bool:
        """Store bytes as an object unless it is there; return whether it was not."""
        target = self._root / name
        with self._written(name, lambda file: file.write(data)) as written:
            try:
                os.link(written, target)  # a rename would replace what another writer put there
            except FileExistsError:
                return False
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
                # Of two writers at the same time the second one then replaces the first one's,
                # which is harmless: both describe complete objects that are there.
                if target.exists():
                    return False
                written.replace(target)
        return True

    def objects(self) -> Iterator[StoredObject]:
        """Yield all files under the folder."""
        self._check_root()
        for folder, _, names in os.walk(self._root, onerror=_raise_unless_gone):
            for name in sorted(names):
                path = Path(folder, name)
                with contextlib.suppress(FileNotFoundError):  # another process removed it
                    state = path.stat()
                    relative = path.relative_to(self._root).as_posix()
                    yield StoredObject(relative, state.st_size, state.st_mtime)

    def remove(self, name: str) -> None:
        """Remove a file, and its folder if it was the last one."""
        path = self._root / name
        path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # not empty
            path.parent.rmdir()

    def _open(self, name: str) -> BinaryIO:
        # Not blocking: whoever can write there can put a pipe in the place of a file.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
        return os.fdopen(os.open(self._root / name, flags), "rb")

    def _check_root(self) -> None:
        """Tell an empty cache from a file system that is not mounted."""
        if not self._root.is_dir():
            raise CacheError("there is no such folder (create it, or mount its file system)")

    @contextlib.contextmanager
    def _written(self, name: str, write: Callable[[BinaryIO], object]) -> Iterator[Path]:
        """Yield a finished file beside an object; what is left of it at the end is removed."""
        self._check_root()
        target = self._root / name
        temporary = target.with_name(f"{target.name}.{uuid.uuid4().hex}.part")
        try:
            with _create(temporary) as file:
                write(file)
                file.flush()
                # What others download must not be lost with the power after it was pushed.
                os.fsync(file.fileno())
            yield temporary
        finally:
            temporary.unlink(missing_ok=True)


def _raise_unless_gone(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):  # else another process removed the folder
        raise error


def _create(path: Path) -> BinaryIO:
    """Create a file and the folders above it, which `remove` of another process may remove."""
    for left in range(_ATTEMPTS - 1, -1, -1):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            return path.open("xb")
        except FileNotFoundError:
            if not left:
                raise
    raise AssertionError


def copy_bytes(
    source: BinaryIO, target: BinaryIO, size: int, moved: Moved = lambda _: None
) -> None:
    """Copy the next `size` bytes of a file; less if it ends earlier."""
    while size > 0 and (piece := source.read(min(size, _PIECE))):
        target.write(piece)
        size -= len(piece)
        moved(len(piece))
