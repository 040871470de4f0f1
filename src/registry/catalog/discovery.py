"""Find the files that an index includes, and their states, without reading them.

Where they may be is what the root index permits, which no manifest and no included index can.
"""

from __future__ import annotations

import contextlib
import functools
import glob
import hashlib
import json
import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from registry.base.local_files import ABSENT, INODE_MASK, FileState
from registry.base.locations import PACKAGE, package_folders
from registry.base.process_state import cached_property
from registry.boundary.boundary import Boundary, Limits
from registry.boundary.paths import Entries, GlobLimitError, name_matcher, search
from registry.settings import INDEX_NAME, builtin_root, most_manifests

if TYPE_CHECKING:
    from registry.yamldoc.reader import Document

__all__ = [
    "PACKAGE",
    "GlobMatches",
    "IncludeReach",
    "IndexFiles",
    "boundary_of",
    "find_included",
    "list_files",
    "listing_digest",
    "match_glob",
    "package_of",
    "permissions_of",
]

_ENTRIES_PER_FILE = 5
"""How many entries of folders a glob may list for each manifest that a catalog may have."""
_KEYS = ("trust", "hosts", "secrets", "paths", "limits")


class GlobMatches(Struct, frozen=True):
    """The files that one glob of an index matches, sorted by name."""

    folder: str
    """The folder that the names are relative to."""
    names: Sequence[str]
    states: array[int]
    """Their states, flattened: an array of ints is hashed as one block of bytes."""
    limit: str = ""
    """Why they are not listed, if that takes too much work."""
    outside: str = ""
    """A folder that is not listed, because it is outside the catalog."""

    def __iter__(self) -> Iterator[tuple[Path, FileState]]:
        folder, numbers = Path(self.folder), iter(self.states)
        for name, *state in zip(self.names, *[numbers] * len(ABSENT), strict=True):
            yield folder / name, FileState(*state)


class IndexFiles(Struct, frozen=True):
    """An index and the files that it includes."""

    path: str
    state: FileState
    patterns: Sequence[str] = ()
    """Its `include`."""
    included: Sequence[GlobMatches | str | None] = ()
    """For each pattern: matching files, the index of a package, or None for a missing package."""


def list_files(path: str, patterns: Sequence[str], boundary: Boundary) -> IndexFiles:
    """List the files of an index whose `include` is known."""
    included = find_included(patterns, Path(path).parent, boundary)
    return IndexFiles(path, FileState.or_absent(path), patterns, included)


def find_included(
    patterns: Iterable[str], folder: Path, boundary: Boundary
) -> list[GlobMatches | str | None]:
    """Return what each `include` of an index in `folder` matches, inside the boundary."""
    entries = Entries(_ENTRIES_PER_FILE * most_manifests())
    return [
        _find_package_index(pattern.removeprefix(PACKAGE))
        if pattern.startswith(PACKAGE)
        else _glob(pattern, folder, boundary, entries)
        for pattern in patterns
    ]


def listing_digest(indexes: Iterable[IndexFiles]) -> str:
    """Return a digest that changes when any file changes, appears or disappears."""
    hashed = hashlib.sha256()
    for index in indexes:
        included = [
            [matches.folder, len(matches.names)] if isinstance(matches, GlobMatches) else matches
            for matches in index.included
        ]
        hashed.update(json.dumps([index.path, index.state, index.patterns, included]).encode())
        for matches in index.included:
            if isinstance(matches, GlobMatches):
                # Unambiguous: no name contains a NUL, and the number of names is hashed above.
                hashed.update(os.fsencode("\0".join([*matches.names, ""])))
                hashed.update(matches.states)
    return hashed.hexdigest()


def _glob(pattern: str, folder: Path, boundary: Boundary, entries: Entries) -> GlobMatches:
    """Return the matches of a glob, sorted by path, with their states."""
    base = str(folder)
    parent, last = os.path.split(pattern)
    if "\0" not in pattern and last != "**" and glob.has_magic(last) and not glob.has_magic(parent):
        base, pattern = str(folder / parent), last  # names of one folder are shorter
    refused: list[str] = []

    def may_list(path: str) -> bool:
        if not boundary.contains(path):
            refused.append(path)
        return not refused

    try:
        names = match_glob(pattern, base, entries, may_list=may_list)
    except GlobLimitError as error:
        return GlobMatches(str(folder), (), array("q"), str(error))
    outside = os.path.normpath(refused[0]) if refused else ""
    states = _states(base, names) if names else array("q")
    return GlobMatches(base, names, states, outside=outside)


def _states(folder: str, names: Sequence[str]) -> array[int]:
    """Return the states of files, flattened; with 10,000 files most of a warm lookup is here."""
    numbers: list[int] = []
    stat = os.stat
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # it was just deleted, or we may open its files but not list it
        paths = (os.path.join(folder, name) for name in names)
        return array("q", [number for path in paths for number in FileState.or_absent(path)])
    try:
        # Relative to an open folder, so that the kernel does not resolve the full path of each
        # file; and with all names encoded at once, because `stat` would encode one by one.
        for name in os.fsencode("\0".join(names)).split(b"\0") if names else ():
            try:
                one = stat(name, dir_fd=descriptor)
            except OSError:  # a broken link, or a file that was just deleted
                numbers += ABSENT
            else:  # `FileState.of` inlined, because calls would take 10% longer
                numbers += (one.st_size, one.st_mtime_ns, one.st_ctime_ns, one.st_ino & INODE_MASK)
    finally:
        os.close(descriptor)
    return array("q", numbers)


def _find_package_index(name: str) -> str | None:
    """Return the index in an installed package, without importing the package."""
    if name == "registry":
        return str(builtin_root())
    folders = package_folders(name) if name.isidentifier() else []
    indexes = (os.path.join(folder, INDEX_NAME) for folder in folders)
    return next(filter(os.path.isfile, indexes), None)


def package_of(folder: Path) -> str:
    """Return the name of the package whose catalog is in a folder; "" if no package's is."""
    index = str(folder / INDEX_NAME)
    # In a checkout, the folder of the built-in catalog has any name.
    names = ("registry", folder.name)
    return next((name for name in names if _find_package_index(name) == index), "")


def match_glob(
    pattern: str,
    folder: str,
    entries: Entries,
    *,
    may_list: Callable[[str], bool] = lambda _: True,
) -> Sequence[str]:
    """Return what `glob.glob` finds with `recursive=True`, relative to `folder` and sorted.

    That function has no limits. In a folder that may not be listed, nothing matches.

    Raises:
        GlobLimitError: it has more than one `**`, or lists too many entries.
    """
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if "\0" in pattern or not parts:  # no name contains NUL, and `os` raises for it
        return []
    if parts.count("**") > 1:
        raise GlobLimitError("more than one `**`")
    if len(parts) == 1 and pattern == parts[0] != "**" and glob.has_magic(pattern):
        return _names(folder, pattern, entries, may_list)
    start = "" if pattern.startswith("/") else os.path.join(folder, "")
    path = (start or "/") + "/".join(parts)
    with contextlib.suppress(OSError):  # as `glob` does
        found = {
            one.removeprefix(start)
            for one in search(
                path, lambda one: os.path.realpath(one) if may_list(one) else "", entries
            )
        }
        found.discard(start.rstrip("/"))  # `**` is the folder itself, too
        if pattern.endswith("/"):
            found = {one for one in found if os.path.isdir(os.path.join(folder, one))}
        return sorted(found)
    return []


def _names(
    folder: str, pattern: str, entries: Entries, may_list: Callable[[str], bool]
) -> Sequence[str]:
    """Return the names in a folder that match, sorted."""
    try:
        names = os.listdir(folder) if may_list(folder) else []
    except OSError:
        return ()
    entries.add(len(names))
    return _matching(pattern, tuple(names))


@functools.lru_cache(maxsize=4)  # a catalog lists the same folders each time it is opened
def _matching(pattern: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(filter(name_matcher(pattern), names)))


# --- what the root index permits ---


def permissions_of(index: Document) -> dict[str, Any]:
    """Return the keys of an index that permit something, as JSON data."""
    return {key: index.value[key] for key in _KEYS if key in index.value}


def boundary_of(
    permissions: Mapping[str, Any],
    indexes: Iterable[Path],
    allow_paths: Iterable[str],
    *,
    real_path: Callable[[str], str] = os.path.realpath,
) -> Boundary:
    """Return what the manifests of a catalog may reach.

    Args:
        permissions: Those of the root index, or of the index that a review judges by.
        indexes: The index files of the catalog, the root first; each manifest may read files below
            the folder of any of them.
        allow_paths: Absolute paths that the user allows.
        real_path: Follows the links of a path.
    """
    folders = [os.path.dirname(index) for index in indexes]
    own = (
        os.path.join(folders[0], os.path.expanduser(path))
        for path in permissions.get("paths", ())
        if "\0" not in path  # no file has such a path
    )
    # The index that asks is the root in most catalogs.
    allowed = dict.fromkeys([*folders, *own, *allow_paths])
    return Boundary(
        folders=tuple(map(real_path, allowed)),
        hosts=frozenset(permissions.get("hosts", ())),
        secrets={name: tuple(hosts) for name, hosts in permissions.get("secrets", {}).items()},
        trust=frozenset(permissions.get("trust", ())),
        limits=Limits.of(permissions["limits"]) if "limits" in permissions else Limits(),
    )


class IncludeReach(Struct, frozen=True, dict=True):
    """Where included manifests may be, beside the folders of the root index and of their own.

    It belongs to one opening of a catalog, which follows the links of each folder once.
    """

    allowed: tuple[str, ...] = ()
    """Absolute paths that the user allows."""
    paths: tuple[str, ...] | None = None
    """`paths` of the index that a review judges by; None means those of the root index."""

    @cached_property
    def real_path(self) -> Callable[[str], str]:
        """Follow the links of a path, as they are when it is first asked about."""
        return functools.cache(os.path.realpath)

    def to_json(self) -> list[list[str] | None]:
        """Return it as JSON data."""
        return [list(self.allowed), None if self.paths is None else list(self.paths)]

    def boundary(self, root: Path, index: Path, permissions: Mapping[str, Any]) -> Boundary:
        """Return what the `include` of an index may reach; the permissions are the root index's."""
        paths = permissions.get("paths", ()) if self.paths is None else self.paths
        return boundary_of({"paths": paths}, [root, index], self.allowed, real_path=self.real_path)
