"""Open local files, but nothing that only looks like one."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader, FileIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["NOT_A_FILE", "is_open_at", "open_beside", "open_regular"]

NOT_A_FILE = "it is a device, pipe or socket, not a file"

# A pipe without a writer would block `open`.
_AT_ONCE = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
# O_PATH, where there is such a thing, also opens a folder whose names may not be listed.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_GONE = " (deleted)"
_BUFFER = 1 << 16


def _path_of(descriptor: int) -> str | None:
    """Return the path that an open file has now; None if it has none, or only Linux could tell."""
    try:
        real = os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return None
    return real if real.startswith(os.sep) and not real.endswith(_GONE) else None


def is_open_at(file: BufferedReader, real: str) -> bool:
    """Return whether an open file still is the one at a path without links."""
    # One question, where `os.path.realpath` asks one about each folder above.
    if _path_of(file.fileno()) == real:
        return True
    try:
        return os.path.samestat(os.fstat(file.fileno()), _stat_without_links(real))
    except OSError:  # it is gone, or a folder above it is a link now
        return False


def _stat_without_links(path: str) -> os.stat_result:
    """Return the state of the file at a path, of which no part may be a link.

    Each folder is opened in the one above it. Were the path looked at as a whole, twice, a folder
    could be a link the first time and a folder the second time.
    """
    *folders, name = path.split(os.sep)[1:]
    above = os.open(os.sep, _FOLDER)
    try:
        for folder in folders:
            below = os.open(folder, _FOLDER, dir_fd=above)
            os.close(above)
            above = below
        return os.stat(name, dir_fd=above, follow_symlinks=False)
    finally:
        os.close(above)


def open_regular(path: str | Path, *, follow: bool = True) -> BufferedReader:
    """Open a regular file for reading, never a device, pipe or socket.

    Args:
        path: Its path.
        follow: Whether the path may be a link.

    Raises:
        OSError: it can't be opened, or is not a regular file.
    """
    descriptor = os.open(path, _AT_ONCE if follow else _AT_ONCE | os.O_NOFOLLOW)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        try:
            return BufferedReader(FileIO(descriptor), _BUFFER)
        except IsADirectoryError:
            os.close(descriptor)
            raise
    os.close(descriptor)
    raise OSError(errno.EINVAL, NOT_A_FILE, str(path))


def open_beside(path: str | Path) -> BufferedReader:
    """Open a regular file; if its path is a link, the file must be below the path's folder.

    An index and its lockfile are found by their names, and a change under review may have replaced
    them by links to files whose text an error message would quote.

    Raises:
        OSError: it can't be opened, or is not a regular file below that folder.
    """
    real, folder = os.path.realpath(path), os.path.realpath(os.path.dirname(path))
    if not real.startswith(os.path.join(folder, "")):
        message = f"it is a link to {real}, outside its folder"
        raise OSError(errno.ELOOP, message, str(path))
    return open_regular(real, follow=False)
