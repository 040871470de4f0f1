"""Decide what the manifests of a catalog may reach, and how much work one dataset may cause.

Only the root index and the user allow more. A manifest may be written by a stranger. Local files
lie below the folder of an index, or below a folder that the user names; what is anywhere else is
never opened, so its text is never quoted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from io import BufferedReader
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from registry.base.conversion import convert
from registry.base.local_files import NOT_A_FILE, is_open_at, open_regular
from registry.base.locations import PACKAGE, Location, package_folders
from registry.errors import ReachError, SourceError
from registry.settings import BYTES, amount

__all__ = ["MAX_TEXT", "UNBOUNDED", "UNLIMITED", "Boundary", "Limits"]

MAX_TEXT = 1 << 28
"""Characters of a string that an expression makes, such as a template that repeats a column."""
# What is here is about the machine and its processes, even if the index is in the top folder.
_MACHINE = ("/proc", "/sys", "/dev")


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The budget of one dataset; `limits` of the root index raises it."""

    unpacked_bytes: int = 1 << 36
    """Bytes a file has, or unpacks to; for a glob in an archive, all its members together."""
    # Packed text is up to some 30 times as small. What is 200 times as small is there to do harm.
    ratio: int = 200
    """How many times as large as its packed bytes a file may be, if it is larger than 1 GiB."""
    line_bytes: int = 1 << 26
    """Bytes of a line, and of a CSV row."""
    document_bytes: int = 1 << 29
    """Bytes of a JSON file that is not JSON Lines, and of a Parquet page: each is read whole."""
    sample_bytes: int = 1 << 28
    """Bytes of a sample."""
    records: int = 100_000_000
    """Records that are read, and samples that are made of them."""
    seconds: int = 7200
    """Time to decode and map the records, and for each transfer of a file."""
    files: int = 100_000
    """Files and folders that a glob may have to look at."""
    extends: int = 32
    """Ancestors of a dataset."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Limits:
        """Return the limits that `limits` of an index gives; sizes may have a unit, `100MB`."""
        return convert({key: _number(value) for key, value in given.items()}, cls)

    def message(self, key: str, what: str, unit: str) -> str:
        """Return the message for an exceeded limit.

        Args:
            key: Its name.
            what: What exceeds it, with a verb: `a line has`.
            unit: What it counts.
        """
        limit: int = getattr(self, key)
        raised = f"`limits: {{{key}: …}}` in the root index raises the limit"
        return f"{what} more than {limit:,} {unit} ({raised})"

    def ratio_fault(self, size: int, packed: int) -> str:
        """Return what is wrong with so many bytes that are unpacked from these; "" for nothing."""
        if size <= self.ratio * packed:
            return ""
        what = f"{packed:,} packed bytes unpack to {size:,}, so each gives"
        return self.message("ratio", what, "bytes")


def _number(value: int | str) -> int:
    """Return a number, or the bytes of a size with a unit."""
    if isinstance(value, int):
        return value
    return int(amount(value, BYTES, what="size", example="100MB"))


UNLIMITED = Limits(**dict.fromkeys(Limits.__struct_fields__, sys.maxsize))
"""The limits of files that the user names in a call."""


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
        """Open the file of a local location, as `open_file` does.

        Raises:
            SourceError: it is larger than the limit of files.
        """
        file = _open(self.check_location(location), location.local_path())
        if os.fstat(file.fileno()).st_size > self.limits.unpacked_bytes:
            file.close()
            message = self.limits.message("unpacked_bytes", "the file has", "bytes")
            raise SourceError(f"{location.public}: {message}")
        return file


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
