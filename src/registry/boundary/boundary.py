"""Decide what the manifests of a catalog may reach; only the root index and the user allow more.

A manifest may be written by a stranger. Local files lie below the folder of an index, or below a
folder that the user names; what is anywhere else is never opened, so its text is never quoted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from io import BufferedReader

from msgspec import Struct
from msgspec.structs import replace

from registry.base.local_files import NOT_A_FILE, is_open_at, open_regular
from registry.base.locations import Location
from registry.base.packages import PACKAGE, package_folders
from registry.boundary.limits import UNLIMITED, Limits
from registry.errors import ReachError

__all__ = ["UNBOUNDED", "Boundary"]

# What is here is about the machine and its processes, even if the index is in the top folder.
_MACHINE = ("/proc", "/sys", "/dev")


class Boundary(Struct, frozen=True, kw_only=True):
    """What the manifests of a catalog may reach."""

    folders: tuple[str, ...] = ()
    """Real paths of folders, and of single files, that may be read."""
    hosts: frozenset[str] = frozenset()
    """Hosts that need the word of the root index: by plain HTTP, or at a private address."""
    named: str = ""
    """A URL that the user named in a call: its protocol and its server are allowed."""
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
        return self.admits(_real_path(path))

    def admits(self, real: str) -> bool:
        """Return whether a real path, without links, may be read."""
        return self.is_open or any(_is_below(real, folder) for folder in self.folders)

    def refusal(self, path: str) -> tuple[str, str] | None:
        """Return why a path may not be read, and what to do about it; None if it may be read."""
        real = _real_path(path)
        return None if self.admits(real) else self._refusal(path, real)

    def _refusal(self, path: str, real: str) -> tuple[str, str]:
        if "\0" in path:
            return "has a NUL, which no path has", "correct the path"
        if _is_hidden(real) and any(real.startswith(folder) for folder in self.folders):
            return "is in a `.git` folder, whose files are never read as data", "move the data"
        outside = self._first_outside(path, real)
        link = "" if outside == os.path.abspath(path) else f"leads to {outside}, which "
        hint = (
            f"if that is meant, add `paths: [{outside}]` to your datasets.yaml, or pass"
            f" --allow-path {outside}; in Python set REGISTRY_ALLOW_PATHS"
        )
        return f"{link}is outside the catalog's folder, so it is not read", hint

    def _first_outside(self, path: str, real: str) -> str:
        """Return where the first link that leads outside leads to; without one, the path itself."""
        path, known = os.path.abspath(path), ""
        for number, sign in enumerate(path + os.sep):
            if sign == os.sep and number:
                target = os.path.realpath(path[:number])
                if self.admits(target):
                    known = target
                elif known:
                    return target
        return real if known else path

    def check_path(self, path: str) -> str:
        """Return the real path of a file or folder that may be read; it need not exist.

        Raises:
            ReachError: it may not be read.
        """
        real = _real_path(path)
        if not self.admits(real):
            message, hint = self._refusal(path, real)
            raise ReachError(f"{path}: {message} ({hint})")
        return real

    def check_location(self, location: Location) -> str:
        """Return the real path of a local location, or of the archive that a member is in.

        Files of installed packages may always be read.

        Raises:
            ReachError: it may not be read.
            MissingDependencyError, SourceError: as for `package_file`.
        """
        location = location.file
        path = location.local_path()
        if not location.is_package:
            return self.check_path(path)
        if not self.of_location(location).contains(path):
            hint = "install it with its files in place of links"
            raise ReachError(f"{location}: leads out of the package, so it is not read ({hint})")
        return os.path.realpath(path)

    def of_location(self, location: Location) -> Boundary:
        """Return what counts for a local location: of an installed package, its own folders."""
        if not location.is_package:
            return self
        name = location.file.removeprefix(PACKAGE).partition("/")[0]
        return Boundary().allowing(package_folders(name))

    def open_file(self, path: str) -> BufferedReader:
        """Open a regular file for reading.

        Raises:
            ReachError: it may not be read, or is a device, pipe or socket.
            OSError: it can't be opened.
        """
        return _open(self.check_path(path), path)

    def open_location(self, location: Location) -> BufferedReader:
        """Open the file of a local location, as `open_file` does."""
        return _open(self.check_location(location), location.local_path())


def _open(real: str, path: str) -> BufferedReader:
    """Open the file at a real path, named `path` in messages."""
    try:
        file = open_regular(real, follow=False)
    except OSError as error:
        if error.strerror == NOT_A_FILE:
            raise ReachError(f"{path}: {NOT_A_FILE} (copy the data to a file)") from error
        raise
    # A folder of the path may have become a link since it was checked.
    if not is_open_at(file, real):
        file.close()
        raise ReachError(f"{path}: was replaced while it was opened (try again)")
    return file


def _real_path(path: str) -> str:
    return "" if "\0" in path else os.path.realpath(path)  # which raises an error for a NUL


def _is_below(real: str, folder: str) -> bool:
    """Return whether a path is a folder or in it, and not in a part that is never read."""
    if real == folder:
        return True
    top = os.path.join(folder, "")
    if not real.startswith(top) or _is_hidden(real[len(top) :]):
        return False
    return not any(real.startswith(f"{name}/") and not folder.startswith(name) for name in _MACHINE)


def _is_hidden(path: str) -> bool:
    """Return whether a path is in a `.git`, where a checkout may store the token of its job."""
    # Some file systems ignore case.
    return ".git" in path.casefold().split(os.sep)


UNBOUNDED = Boundary(is_open=True, limits=UNLIMITED)
"""The boundary of locations that the user names in a call, such as `csv_dataset("/any/path")`."""
