"""Decide what the manifests of a catalog may reach; only the root index and the user allow more.

A manifest may be written by a stranger. Local files lie below the folder of an index, or below a
folder that the user names; what is anywhere else is never opened, so its text is never quoted.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from registry.boundary.limits import UNLIMITED, Limits
from registry.errors import ReachError

__all__ = ["UNBOUNDED", "Boundary"]

# A pipe without a writer would block `open`, and a link that was just created could lead outside.
_SAFELY = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


class Boundary(Struct, frozen=True, kw_only=True):
    """What the manifests of a catalog may reach."""

    folders: tuple[str, ...] = ()
    """Real paths of folders, and of single files, that may be read."""
    hosts: frozenset[str] = frozenset()
    """Hosts that need the word of the root index: by plain HTTP, or at a private address."""
    secrets: Mapping[str, tuple[str, ...]] = {}
    """Environment variable → hosts that may receive its value."""
    trust: frozenset[str] = frozenset()
    """Mappers whose code may run."""
    limits: Limits = Limits()
    """How much work one dataset may cause."""
    is_open: bool = False
    """Whether there is no boundary, because the user named the location in a call."""

    def allowing(self, paths: Iterable[str]) -> Boundary:
        """Return the boundary with more files and folders that may be read."""
        return replace(self, folders=(*self.folders, *map(os.path.realpath, paths)))

    def contains(self, path: str) -> bool:
        """Return whether a path, with all links in it followed, may be read."""
        real = os.path.realpath(path)
        return self.is_open or any(
            real == folder or real.startswith(folder.rstrip(os.sep) + os.sep)
            for folder in self.folders
        )

    def check_path(self, path: str) -> str:
        """Return the real path of a file or folder that may be read; it need not exist.

        Raises:
            ReachError: it may not be read.
        """
        if not self.contains(path):
            raise ReachError(
                f"{path}: is outside the catalog's folder, so it is not read (if it is yours, allow"
                " it with REGISTRY_ALLOW_PATHS, or with `paths` in your index)"
            )
        return os.path.realpath(path)

    def open_file(self, path: str) -> BinaryIO:
        """Open a regular file for reading.

        Raises:
            ReachError: it may not be read, or is a device, pipe or socket.
            OSError: it can't be opened.
        """
        descriptor = os.open(self.check_path(path), _SAFELY)
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISREG(mode) or stat.S_ISDIR(mode):  # opening a folder fails below
            return os.fdopen(descriptor, "rb")
        os.close(descriptor)
        raise ReachError(f"{path}: is a device, pipe or socket, not a file")


UNBOUNDED = Boundary(is_open=True, limits=UNLIMITED)
"""The boundary of locations that the user names in a call, such as `csv_dataset("/any/path")`."""
