"""Which files an index brings and in what state they are, found without reading any."""

from __future__ import annotations

import contextlib
import fnmatch
import glob
import hashlib
import json
import os
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from registry.base.file_state import ABSENT, INODE_MASK, FileState
from registry.settings import INDEX_NAME, builtin_root

__all__ = [
    "PACKAGE",
    "Files",
    "IndexFiles",
    "included",
    "listing_digest",
    "look_at",
]

PACKAGE = "package:"


class Files(Struct, frozen=True):
    """The files that one glob of an index stands for, in order of their names."""

    folder: str
    """What the names are relative to."""
    names: Sequence[str]
    states: array[int]
    """Their states, flattened: an array of numbers is hashed as one block of bytes."""

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
    included: Sequence[Files | str | None] = ()
    """What each pattern stands for: files, or the index of a package, or no such package."""


def look_at(path: str, patterns: Sequence[str]) -> IndexFiles:
    """List the files of an index whose `include` is known."""
    return IndexFiles(
        path, FileState.or_absent(path), patterns, included(patterns, Path(path).parent)
    )


def included(patterns: Iterable[str], folder: Path) -> list[Files | str | None]:
    """Return what each `include` of an index in `folder` stands for."""
    return [
        _package_index(pattern.removeprefix(PACKAGE))
        if pattern.startswith(PACKAGE)
        else _find(pattern, folder)
        for pattern in patterns
    ]


def listing_digest(indexes: Iterable[IndexFiles]) -> str:
    """Return a digest that is another one as soon as any file is another one."""
    hashed = hashlib.sha256()
    for index in indexes:
        found = [
            [one.folder, len(one.names)] if isinstance(one, Files) else one
            for one in index.included
        ]
        hashed.update(json.dumps([index.path, index.state, index.patterns, found]).encode())
        for files in index.included:
            if isinstance(files, Files):
                # No name holds a NUL, and how many there are stands above.
                hashed.update(os.fsencode("\0".join([*files.names, ""])))
                hashed.update(files.states)
    return hashed.hexdigest()


def _find(pattern: str, folder: Path) -> Files:
    """Return what `glob` finds, with states; ordered as whole paths are."""
    above, last = os.path.split(pattern)
    if "\0" in pattern:  # is in no name
        place, names = str(folder), list[str]()
    elif glob.has_magic(above) or not glob.has_magic(last) or last == "**":
        place, names = str(folder), glob.glob(pattern, root_dir=folder, recursive=True)
    else:  # the common form: files of one folder
        place = str(folder / above)
        names = _find_in(place, last)
    names.sort()
    return Files(place, names, _states(place, names))


def _find_in(folder: str, pattern: str) -> list[str]:
    """Return what `glob` finds in one folder; its generators take as long again."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    # `fnmatch.filter`, which leaves out hidden names in the same step.
    not_hidden = "" if pattern.startswith(".") else r"(?!\.)"
    return list(filter(re.compile(not_hidden + fnmatch.translate(pattern)).match, names))


def _states(folder: str, names: Sequence[str]) -> array[int]:
    """Return the states of files; ten thousand of them are most of what a lookup takes."""
    numbers: list[int] = []
    stat = os.stat
    with _opened(folder) as descriptor:
        # Names as bytes, encoded all at once, because `stat` encodes each by itself.
        for name in os.fsencode("\0".join(names)).split(b"\0") if names else ():
            try:
                one = stat(name, dir_fd=descriptor)
            except OSError:  # a link that leads nowhere, or a file that has just gone
                numbers += ABSENT
            else:  # `FileState.of`, whose call would take a tenth of the time
                numbers += (one.st_size, one.st_mtime_ns, one.st_ctime_ns, one.st_ino & INODE_MASK)
    return array("q", numbers)


@contextlib.contextmanager
def _opened(folder: str) -> Iterator[int | None]:
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # then no name was found in it either
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _package_index(name: str) -> str | None:
    """Return the index that an installed package ships, without importing the package."""
    if name == "registry":
        return str(builtin_root())
    import importlib.util  # most catalogs are of no other package

    try:
        spec = importlib.util.find_spec(name) if name.isidentifier() else None
    except ValueError:  # a module that is no package
        return None
    places = spec.submodule_search_locations if spec else None
    for place in places or ():
        if (Path(place) / INDEX_NAME).is_file():
            return str(Path(place) / INDEX_NAME)
    return None
