"""Find files that a change replaces under samples which name them: media, files, sandbox code."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache

from registry.diff.snapshots.changed_files import changed_files, extract, paths_of
from registry.diff.snapshots.contents import Contents
from registry.diff.snapshots.file_names import (
    FileNames,
    file_names,
    matches,
    may_make_files,
    outer_globs,
    words_in,
    words_of,
)
from registry.diff.snapshots.mapper_code import python_files_of

__all__ = ["NamedFile", "named_files"]

_CONFIGURATION = re.compile(r"\.ya?ml$|Dockerfile|Containerfile")
_BUILT = ("build", "FROM")
"""A configuration with one of these words makes an image of the files in its folder."""


@dataclass(frozen=True)
class NamedFile:
    """A file that differs, and that samples of a dataset name or may name."""

    digests: tuple[str | None, str | None]
    """Before and after; None where there is no such file."""
    is_code: bool
    """Whether it may run in the sandbox, or configure it."""


def named_files(base: Contents, head: Contents) -> dict[str, dict[str, NamedFile]]:
    """Return dataset → path from the catalog's folder → a file that its samples name."""
    if base.catalog is None or head.catalog is None:
        return {}
    sides = (base, head)
    listed = paths_of(base.checkout) | paths_of(head.checkout)
    globs = frozenset[str]().union(*(outer_globs(side) for side in sides))
    inside = {path for path in listed if not path.startswith("../") or matches(path, globs)}
    changed = changed_files(base, head, inside)
    if not changed:
        return {}
    wanted = {word for path in listed for name in path.split("/") for word in words_of(name)}
    makes_files = cache(
        lambda mapper: may_make_files(python_files_of(mapper, base.checkout, head.checkout))
    )
    found = {}
    for name in sorted(base.specs.keys() | head.specs.keys()):
        names = [
            file_names(side, name, makes_files, wanted) for side in sides if name in side.specs
        ]
        code = _code(names, sides, listed, wanted).intersection(changed)
        of_dataset = {
            path: NamedFile(digests, path in code)
            for path, digests in changed.items()
            if path in code or any(one.by_text(path) or one.by_data(path) for one in names)
        }
        if of_dataset:
            found[name] = of_dataset
    return found


# --- code in the sandbox, which names further files ---


def _code(
    names: list[FileNames],
    sides: tuple[Contents, Contents],
    listed: set[str],
    wanted: Collection[str],
) -> set[str]:
    """Return the files that may run in a sandbox, or configure one."""
    waiting = {path for path in listed if any(one.is_code(path) for one in names)}
    found = set[str]()
    while waiting:
        found |= waiting
        words, folders = set[str](), set[str]()
        for side in sides:
            for path, named in _words(side, waiting, {*wanted, *_BUILT}):
                words |= named
                if _CONFIGURATION.search(path) and not named.isdisjoint(_BUILT):
                    folders.add(os.path.dirname(path))
        waiting = {
            path
            for path in listed - found
            if words_of(os.path.basename(path)) <= words or _is_in(path, folders)
        }
    return found


def _words(
    side: Contents, paths: Collection[str], wanted: Collection[str]
) -> Iterator[tuple[str, frozenset[str]]]:
    extract(side.checkout, paths)
    boundary = side.boundary.allowing([str(side.checkout.top)])
    for path in sorted(paths):
        file = os.path.join(side.checkout.folder, path)
        # What is no text names nothing: an image, an archive.
        yield path, words_in(file, boundary, wanted) or frozenset()


def _is_in(path: str, folders: Collection[str]) -> bool:
    return any(not folder or path.startswith(f"{folder}/") for folder in folders)
