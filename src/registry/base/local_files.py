"""Name files as every platform can, open nothing but files, and notice when one changes."""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from io import BufferedReader, FileIO
from pathlib import Path
from typing import NamedTuple

from registry.base.escape import normal_form

__all__ = [
    "ABSENT",
    "INODE_MASK",
    "LFS_POINTER",
    "NAME_PATTERN",
    "NOT_A_FILE",
    "FileState",
    "display_path",
    "file_stem",
    "is_device",
    "is_open_at",
    "name_fault",
    "open_beside",
    "open_regular",
    "read_regular",
]

_DEVICES = r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:[.]|$)"

NAME_PATTERN = rf"^(?!{_DEVICES})[a-z0-9](?:[a-z0-9._-]{{0,126}}[a-z0-9_-])?$(?!\n)"
"""A valid name, as in the schemas. Without capital letters no two names differ only by case, which
many file systems ignore; Windows reserves names of devices, and drops a dot at the end."""
NOT_A_FILE = "it is a device, pipe or socket, not a file"
LFS_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\noid sha256:([0-9a-f]{64})\nsize \d+\n"
)
"""All of what Git LFS commits in place of a large file, with the digest of its bytes. A file that
only starts like it has records: a reader may skip the first lines."""
# A pipe without a writer would block `open`.
_AT_ONCE = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
# O_PATH, where there is such a thing, also opens a folder whose names may not be listed.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_BUFFER = 1 << 16
# Network file systems use all 64 bits of an inode, but arrays of states have signed integers.
INODE_MASK = (1 << 63) - 1
# The coarsest time stamps of a common file system, FAT, have a resolution of two seconds.
_RACY_SECONDS = 2.0


def is_device(file: str) -> bool:
    """Return whether Windows reserves the name of a file for a device."""
    # It takes a superscript for a digit, and drops spaces before the suffix. NFKC has the digit.
    name = normal_form("NFKC", file).partition(".")[0].rstrip()
    return re.match(_DEVICES, name, re.IGNORECASE) is not None


def file_stem(name: str) -> str:
    """Return the name of a dataset as that of a file: `qa+dev` for the split `qa:dev`."""
    # Windows allows no colon, in a URL it ends the protocol, and a slash is a folder.
    return re.sub("[:/]", "+", name)


def name_fault(name: str) -> str:
    """Return what is wrong with the name of a dataset; "" if it is valid."""
    if re.search(NAME_PATTERN, name):
        return ""
    if is_device(name):
        return "Windows reserves it for a device"
    if len(name) > 128:
        return "use at most 128 characters"
    if name.endswith("."):
        return "it must not end with a dot"
    return "use lower-case letters, digits, '.', '-' and '_'"


def display_path(path: Path, here: Path | None = None) -> str:
    """Return a file's name in messages: relative if it is below the working directory."""
    path, here = path.absolute(), here or Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def is_open_at(file: BufferedReader, real: str) -> bool:
    """Return whether an open file still is the one at a path without links."""
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
    """Open a regular file for reading, never a device, pipe or socket; a link only with `follow`.

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


def read_regular(path: str | Path) -> bytes:
    """Return the bytes of a regular file; an OSError as that of `open_regular`."""
    with open_regular(path) as file:
        return file.read()


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


class FileState(NamedTuple):
    """The state of a file; its JSON form is a list.

    It includes the ctime because `cp -p` and `rsync -t` restore the mtime, so that an edit of equal
    size would go unnoticed. No program can set the ctime.
    """

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @classmethod
    def of(cls, file: str | Path | os.stat_result) -> FileState:
        """Return the state of a file, by its path or `os.stat` result.

        Raises:
            OSError: the file is missing or inaccessible.
        """
        stat = file if isinstance(file, os.stat_result) else os.stat(file)
        return cls(stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino & INODE_MASK)

    @classmethod
    def or_absent(cls, path: str | Path) -> FileState:
        """Return the state of a file, or ABSENT if it is missing or inaccessible."""
        try:
            return cls.of(path)
        except OSError:
            return ABSENT

    def is_racy(self) -> bool:
        """Return whether the file changed so recently that an edit may keep its time stamp.

        Call it before reading the content: what is read in a racy state must not be cached.
        """
        return abs(time.time() - self.mtime_ns / 1e9) <= _RACY_SECONDS


ABSENT = FileState(-1, -1, -1, -1)
