"""Find files that a change replaces under samples which name them: media, files, sandbox code."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from registry.diff.checkout import Checkout
from registry.diff.local_files import FileDigest, common_digests, digest_of_file
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
from registry.errors import ReachError
from registry.settings import lock_file_of

__all__ = ["NamedFile", "named_files"]

_SHA1_DIGITS = 40
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
    listed = _paths(base.checkout) | _paths(head.checkout)
    globs = frozenset[str]().union(*(outer_globs(side) for side in sides))
    inside = {path for path in listed if not path.startswith("../") or matches(path, globs)}
    changed = _changed(base, head, inside)
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


def _paths(checkout: Checkout) -> set[str]:
    """Return its files as paths from the catalog's folder; of a submodule, each of them."""
    return {checkout.relative(str(checkout.top / name)) for name in checkout.listed}


# --- what differs ---


def _changed(
    base: Contents, head: Contents, paths: Collection[str]
) -> dict[str, tuple[str | None, str | None]]:
    """Return the digests of the files that differ, those left out that both sides compare anyway."""
    rest = sorted(set(paths) - (_compared(base) & _compared(head)))
    trees = [tree for side in (base, head) if (tree := side.checkout.tree) is not None]
    is_sha1 = all(len(one) == _SHA1_DIGITS for tree in trees for one in tree.blobs.values())
    old, new = (_identities(side, rest, "sha1" if is_sha1 else "sha256") for side in (base, head))
    differing = [path for path in rest if old.get(path) != new.get(path)]
    before, after = common_digests(_digests(base, differing, old), _digests(head, differing, new))
    pairs = {path: (before.get(path), after.get(path)) for path in differing}
    return {path: pair for path, pair in pairs.items() if pair[0] != pair[1]}


def _compared(side: Contents) -> set[str]:
    """Return the files that a diff compares for what they are: manifests, the lock, data."""
    assert side.catalog is not None  # noqa: S101 (see above)
    relative, index = side.checkout.relative, side.checkout.index
    files = {entry.document.file for entry in side.catalog.entries.values()}
    files |= {str(index), str(lock_file_of(index))}
    found = {relative(os.path.abspath(file)) for file in files}
    return found.union(*side.files.values())


def _identities(side: Contents, paths: Collection[str], algorithm: str) -> dict[str, str]:
    """Return what differs for files with other bytes: git's id, and of a link what it names."""
    found = {}
    for path in paths:
        if identity := _identity(side.checkout, path, algorithm):
            found[path] = identity
    return found


def _identity(checkout: Checkout, path: str, algorithm: str) -> str | None:
    file, tree = os.path.normpath(checkout.folder / path), checkout.tree
    if tree is not None:
        name = os.path.relpath(file, checkout.top)
        target = tree.links.get(name)
        return tree.blobs.get(name) or (None if target is None else f"link to {target}")
    if os.path.islink(file) and not Path(os.path.realpath(file)).is_relative_to(checkout.top):
        target = os.path.join(os.path.dirname(file), os.readlink(file))
        return f"link to {os.path.relpath(target, checkout.top)}"
    return _object_id(file, algorithm) if os.path.isfile(file) else None


def _object_id(file: str, algorithm: str) -> str:
    """Return the id that git gives to the bytes of a file."""
    with open(file, "rb") as opened:
        size = os.fstat(opened.fileno()).st_size
        start = f"blob {size}\0".encode()
        return hashlib.file_digest(opened, lambda: hashlib.new(algorithm, start)).hexdigest()


def _digests(
    side: Contents, paths: Collection[str], identities: Mapping[str, str]
) -> dict[str, FileDigest]:
    _extract(side.checkout, paths)
    boundary = side.boundary.allowing([str(side.checkout.top)])
    found = {}
    for path in paths:
        if path not in identities:
            continue
        try:
            found[path] = digest_of_file(os.path.join(side.checkout.folder, path), boundary)
        except (OSError, ReachError):  # a link that leads outside
            found[path] = FileDigest(identities[path])
    return found


def _extract(checkout: Checkout, paths: Collection[str]) -> None:
    files = (os.path.normpath(checkout.folder / path) for path in paths)
    checkout.extract([os.path.relpath(file, checkout.top) for file in files])


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
    _extract(side.checkout, paths)
    boundary = side.boundary.allowing([str(side.checkout.top)])
    for path in sorted(paths):
        file = os.path.join(side.checkout.folder, path)
        # What is no text names nothing: an image, an archive.
        yield path, words_in(file, boundary, wanted) or frozenset()


def _is_in(path: str, folders: Collection[str]) -> bool:
    return any(not folder or path.startswith(f"{folder}/") for folder in folders)
