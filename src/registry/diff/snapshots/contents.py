"""Read what the files of a checkout contain, and compare them by their bytes.

Manifests, pins and the digests of local data are the contents of each side; any other file of two
checkouts is compared by git's id of it, and where that differs by its digest.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

from registry.base.fs import stream_sha256
from registry.base.local_files import LFS_POINTER
from registry.base.locations import PACKAGE
from registry.boundary.boundary import Boundary
from registry.boundary.paths import fixed_folder, list_files
from registry.catalog.catalog import Catalog, valid_index
from registry.catalog.discovery import package_of, permissions_of
from registry.diff.checkout import Checkout
from registry.diff.git_tree import matching
from registry.errors import LockError, ManifestError, Problem, ReachError
from registry.lockfile.models import Lock, lock_of, read_documents
from registry.lockfile.origins import pin_origins
from registry.manifest.models import DatasetSpec
from registry.manifest.origins import Origin
from registry.settings import Settings, lock_file_of
from registry.yamldoc.reader import Document

__all__ = [
    "Contents",
    "FileDigest",
    "changed_files",
    "common_digests",
    "differing_digests",
    "digest_of_file",
    "files_of",
    "local_patterns",
    "moved_files",
    "read_contents",
]

_LONGEST_POINTER = 1024
_SHA1_DIGITS = 40


@dataclass(frozen=True)
class FileDigest:
    """The digest of a file's bytes."""

    own: str
    """`sha256:…` of the file as it is."""
    pointed: str = ""
    """The digest that it names, if it is a pointer of Git LFS."""


def local_patterns(spec: DatasetSpec) -> list[str]:
    """Return the absolute paths, globs and folders that a dataset is read from, if any.

    Files of installed packages are the same for both sides of a comparison, so they are left out.
    """
    paths = (path for source in spec.all_sources for path in source.paths() if path.is_path)
    return list(dict.fromkeys(one.local_path() for one in paths))


def files_of(pattern: str, boundary: Boundary) -> list[str]:
    """Return the files that a path, folder or glob names; none that may not be read.

    Raises:
        ReachError: a file in a folder or glob is a link that leads outside.
    """
    if not boundary.contains(fixed_folder(pattern)):
        return []  # not even listed
    return list_files(pattern, boundary)


def digest_of_file(path: str, boundary: Boundary) -> FileDigest:
    """Return the digest of a file's bytes."""
    with boundary.open_file(path) as file:
        start = file.read(_LONGEST_POINTER + 1)
        file.seek(0)
        own = f"sha256:{stream_sha256(file)}"
    pointer = LFS_POINTER.fullmatch(start)
    return FileDigest(own, f"sha256:{pointer[1].decode()}" if pointer else "")


def common_digests(
    base: Mapping[str, FileDigest], head: Mapping[str, FileDigest]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the digests of both sides' files, by their names, such that equal data is equal.

    A pointer counts as the data that it names, unless the base has the data itself: then the
    change replaces the data by a text that only looks like it.
    """
    old = {name: digest.pointed or digest.own for name, digest in base.items()}
    new = {
        name: digest.own
        if name in base and not base[name].pointed
        else digest.pointed or digest.own
        for name, digest in head.items()
    }
    return old, new


def moved_files(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    """Return new name → old name of the files that only one side has, with the same bytes."""
    removed = defaultdict(list)
    for name in sorted(old.keys() - new.keys(), reverse=True):
        removed[old[name]].append(name)
    added = sorted(new.keys() - old.keys())
    return {name: removed[new[name]].pop() for name in added if removed[new[name]]}


# --- the contents of a checkout ---


@dataclass(frozen=True)
class Contents:
    """What the files of a checkout contain."""

    checkout: Checkout
    catalog: Catalog | None = None
    """None if the index is invalid."""
    boundary: Boundary = field(default_factory=Boundary)
    """What the datasets may reach."""
    problems: tuple[Problem, ...] = ()
    specs: Mapping[str, DatasetSpec] = field(default_factory=dict)
    """Of the datasets that resolve."""
    lock: Lock = field(default_factory=Lock)
    has_valid_lock: bool = True
    """Whether the lockfile can be read, or there is none."""
    pins: Mapping[str, tuple[Origin, ...]] = field(default_factory=dict)
    """Dataset → each value of its pin."""
    files: Mapping[str, Mapping[str, FileDigest]] = field(default_factory=dict)
    """Dataset → local file, by its path relative to the catalog's folder → digest."""
    forbidden: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Dataset → local paths that it may not read."""

    def file_name(self, path: str) -> str:
        """Return the name of a file in reports: relative to the top, or in a package."""
        full = os.path.abspath(path) if path else ""
        for index in self.catalog.indexes[1:] if self.catalog else ():
            if full.startswith(f"{index.parent}{os.sep}"):
                inner = os.path.relpath(full, index.parent)
                return f"{PACKAGE}{package_of(index.parent)}/{inner}"
        return self.checkout.file_name(path)


def read_contents(
    checkout: Checkout,
    rules: Path | None = None,
    names: Collection[str] | None = None,
    *,
    earlier: Catalog | None = None,
) -> Contents:
    """Return the contents of a checkout; what can't be read is a problem.

    Args:
        checkout: Where the files are.
        rules: The index that decides what they may reach; None is their own.
        names: The datasets to resolve, of those that it has; None means all.
        earlier: As for `Catalog.open`.
    """
    problems: list[Problem] = []
    try:
        # A temporary checkout is read once, so caching its catalog would only fill the disk.
        keep = checkout.mirror is None
        catalog = Catalog.open(checkout.index, keep=keep, earlier=earlier, paths_from=rules)
    except ManifestError as error:
        problems += error.problems
        return Contents(checkout, problems=_portable(problems, checkout))
    problems += catalog.problems
    specs: dict[str, DatasetSpec] = {}
    for name in catalog if names is None else sorted(catalog.keys() & set(names)):
        try:
            specs[name] = catalog[name]
        except ManifestError as error:
            problems += error.problems
    documents, lock_problems = _read_lock(checkout.index)
    # With the rules of the base a new permission is no problem of the manifest, but not used yet.
    rules = rules or checkout.index
    _link_allowed(checkout, rules)
    boundary = catalog.boundary_by(rules)
    _extract_data(specs, checkout)
    files, file_problems = _digests(specs, checkout, boundary)
    return Contents(
        checkout,
        catalog,
        boundary,
        _portable([*problems, *lock_problems, *file_problems], checkout),
        specs,
        lock_of(documents),
        not lock_problems,
        pin_origins(documents),
        files,
        _forbidden(specs, checkout, boundary),
    )


def _portable(problems: list[Problem], checkout: Checkout) -> tuple[Problem, ...]:
    return tuple(checkout.portable_problem(one) for one in dict.fromkeys(problems))


def _read_lock(index: Path) -> tuple[tuple[Document, ...], tuple[Problem, ...]]:
    try:
        return read_documents(lock_file_of(index)), ()
    except LockError as error:
        return (), tuple(error.problems)


def _digests(
    specs: Mapping[str, DatasetSpec], checkout: Checkout, boundary: Boundary
) -> tuple[dict[str, dict[str, FileDigest]], list[Problem]]:
    """Return the digests of local files by dataset, and the files that can't be read."""
    # Datasets that extend one another share files.
    digest = cache(partial(digest_of_file, boundary=boundary))
    found: dict[str, dict[str, FileDigest]] = {}
    problems = []
    for name, spec in specs.items():
        found[name] = {}
        try:
            files = [file for one in local_patterns(spec) for file in files_of(one, boundary)]
        except ReachError as error:
            problems.append(Problem(message=str(error), path=""))
            continue
        for file in files:
            try:
                found[name][str(checkout.relative(file))] = digest(file)
            except ReachError as error:
                problems.append(Problem(message=str(error), path=""))
            except OSError as error:
                problems.append(Problem(message=f"can't be read: {error.strerror}", file=file))
    return found, problems


def _forbidden(
    specs: Mapping[str, DatasetSpec], checkout: Checkout, boundary: Boundary
) -> dict[str, tuple[str, ...]]:
    found = {
        name: tuple(
            str(checkout.relative(pattern))
            for pattern in local_patterns(spec)
            if not boundary.contains(fixed_folder(pattern))
        )
        for name, spec in specs.items()
    }
    return {name: patterns for name, patterns in found.items() if patterns}


def _link_allowed(checkout: Checkout, rules: Path) -> None:
    """Let a temporary checkout reach what its catalog may read outside of the repository."""
    if checkout.mirror is None:
        return
    folder = str(checkout.folder).removeprefix(str(checkout.mirror))
    paths = permissions_of(valid_index(rules)).get("paths", ())
    for path in (*paths, *Settings.from_environment(root=checkout.index).allow_paths):
        real = os.path.normpath(os.path.join(folder, os.path.expanduser(path)))
        link = Path(f"{checkout.mirror}{real}")
        if os.path.exists(real) and not (link.exists() or link.is_relative_to(checkout.top)):
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(real)


def _extract_data(specs: Mapping[str, DatasetSpec], checkout: Checkout) -> None:
    """Extract the local files of all datasets from the repository."""
    tree, top = checkout.tree, checkout.top
    if tree is None:
        return
    patterns = {pattern for spec in specs.values() for pattern in local_patterns(spec)}
    inside = (one for one in sorted(patterns) if Path(one).is_relative_to(top))
    names = {os.path.relpath(pattern, top) for pattern in inside}
    # All at once, as each copy starts a process of git.
    tree.copy([path for name in names for path in matching(tree, name)], top)


# --- any files of two checkouts ---


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
    before, after = common_digests(_digests_of_paths(base, paths), _digests_of_paths(head, paths))
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
    name, tree = checkout.from_top(path), checkout.tree
    if tree is not None:
        target = tree.links.get(name)
        return tree.blobs.get(name) or (None if target is None else f"link to {target}")
    file = os.path.join(checkout.top, name)
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


def _digests_of_paths(side: Contents, paths: Collection[str]) -> dict[str, FileDigest]:
    side.checkout.extract(map(side.checkout.from_top, paths))
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
