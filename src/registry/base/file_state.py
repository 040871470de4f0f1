"""Detect whether a file changed without reading it: size, times and inode."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["ABSENT", "INODE_MASK", "FileState"]

# Network file systems use all 64 bits of an inode, but arrays of states have signed integers.
INODE_MASK = (1 << 63) - 1
# The coarsest time stamps of a common file system, FAT, have a resolution of two seconds.
_RACY_SECONDS = 2.0


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
