"""Compare files of two checkouts by their bytes, whatever they are for."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection
from functools import partial
from pathlib import Path

from registry.diff.checkout import Checkout
from registry.diff.local_files import FileDigest, common_digests, digest_of_file
from registry.diff.snapshots.contents import Contents
from registry.errors import ReachError
from registry.settings import lock_file_of

__all__ = ["changed_files", "differing_digests", "extract", "paths_of"]

_SHA1_DIGITS = 40


def paths_of(checkout: Checkout) -> set[str]:
    """Return its files as paths from the catalog's folder; of a submodule, each of them."""
    return {checkout.relative(str(checkout.top / name)) for name in checkout.listed}


def changed_files(base: Contents, head: Contents, paths: Collection[str]) -> set[str]:
    """Return the files that differ by git's ids, without those that a diff compares anyway.

    A file may still be equal, as a pointer of Git LFS is to what it names.
    """
    rest = set(paths) - (_compared(base) & _compared(head))
    trees = [tree for side in (base, head) if (tree := side.checkout.tree) is not None]
    is_sha1 = all(len(one) == _SHA1_DIGITS for tree in trees for one in tree.blobs.values())
    identity = partial(_identity, algorithm="sha1" if is_sha1 else "sha256")
    return {path for path in rest if identity(base.checkout, path) != identity(head.checkout, path)}


def differing_digests(
    base: Contents, head: Contents, paths: Collection[str]
) -> dict[str, tuple[str | None, str | None]]:
    """Return the digests before and after of files whose data differs; None if there is none."""
    before, after = common_digests(_digests(base, paths), _digests(head, paths))
    pairs = {path: (before.get(path), after.get(path)) for path in sorted(paths)}
    return {path: pair for path, pair in pairs.items() if pair[0] != pair[1]}


def _compared(side: Contents) -> set[str]:
    """Return the files that a diff compares for what they are: manifests, the lock, data."""
    assert side.catalog is not None  # noqa: S101 (it is compared)
    relative, index = side.checkout.relative, side.checkout.index
    files = {entry.document.file for entry in side.catalog.written}
    files |= {str(index), str(lock_file_of(index))}
    found = {relative(os.path.abspath(file)) for file in files}
    return found.union(*side.files.values())


def _identity(checkout: Checkout, path: str, algorithm: str = "sha1") -> str | None:
    """Return git's id of a file; of a link that leads outside what it names, or why it has none."""
    file, tree = os.path.normpath(checkout.folder / path), checkout.tree
    name = os.path.relpath(file, checkout.top)
    if tree is not None:
        target = tree.links.get(name)
        return tree.blobs.get(name) or (None if target is None else f"link to {target}")
    real = os.path.realpath(file)
    is_inside = Path(real).is_relative_to(os.path.realpath(checkout.top))
    if is_inside and os.path.isfile(file):
        try:
            return _object_id(file, algorithm)
        except OSError as error:
            return f"can't be read: {error.strerror}"
    if os.path.islink(file):
        target = os.path.join(os.path.dirname(name), os.readlink(file))
        return f"link to {os.path.normpath(target)}"
    return None if is_inside else f"link to {real}"


def _object_id(file: str, algorithm: str) -> str:
    """Return the id that git gives to the bytes of a file."""
    with open(file, "rb") as opened:
        size = os.fstat(opened.fileno()).st_size
        start = f"blob {size}\0".encode()
        return hashlib.file_digest(opened, lambda: hashlib.new(algorithm, start)).hexdigest()


def _digests(side: Contents, paths: Collection[str]) -> dict[str, FileDigest]:
    extract(side.checkout, paths)
    boundary = side.boundary.allowing([str(side.checkout.top)])
    found = {}
    for path in paths:
        identity = _identity(side.checkout, path)
        if identity is None:
            continue
        try:
            found[path] = digest_of_file(os.path.join(side.checkout.folder, path), boundary)
        except (OSError, ReachError):  # a link that leads outside
            found[path] = FileDigest(identity)
    return found


def extract(checkout: Checkout, paths: Collection[str]) -> None:
    """Make files of a revision exist, by their paths from the catalog's folder."""
    files = (os.path.normpath(checkout.folder / path) for path in paths)
    checkout.extract([os.path.relpath(file, checkout.top) for file in files])
