"""Open local files, but nothing that only looks like one."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["NOT_A_FILE", "open_beside", "open_regular"]

NOT_A_FILE = "it is a device, pipe or socket, not a file"

# A pipe without a writer would block `open`.
_AT_ONCE = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


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
            return os.fdopen(descriptor, "rb")
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
