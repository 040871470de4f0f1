"""Compare files of two checkouts by their bytes, whatever they are for."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Mapping
from pathlib import Path

from registry.diff.checkout import Checkout
from registry.diff.local_files import FileDigest, common_digests, digest_of_file
from registry.diff.snapshots.contents import Contents
from registry.errors import ReachError
from registry.settings import lock_file_of

__all__ = ["changed_files", "extract", "paths_of"]

_SHA1_DIGITS = 40


def paths_of(checkout: Checkout) -> set[str]:
    """Return its files as paths from the catalog's folder; of a submodule, each of them."""
    return {checkout.relative(str(checkout.top / name)) for name in checkout.listed}


def changed_files(
    base: Contents, head: Contents, paths: Collection[str]
) -> dict[str, tuple[str | None, str | None]]:
    """Return the digests of the files that differ and that are not compared for what they are."""
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
    assert side.catalog is not None  # noqa: S101 (it is compared)
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
    extract(side.checkout, paths)
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


def extract(checkout: Checkout, paths: Collection[str]) -> None:
    files = (os.path.normpath(checkout.folder / path) for path in paths)
    checkout.extract([os.path.relpath(file, checkout.top) for file in files])
