"""Read what the files of a checkout contain: manifests, pins, and digests of local data."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

from registry.base.locations import PACKAGE
from registry.boundary.boundary import Boundary
from registry.boundary.paths import fixed_folder
from registry.catalog.catalog import Catalog, valid_index
from registry.catalog.discovery import package_of
from registry.catalog.permissions import permissions_of
from registry.diff.checkout import Checkout
from registry.diff.git_tree import matching
from registry.diff.local_files import (
    FileDigest,
    digest_of_file,
    files_of,
    local_patterns,
)
from registry.errors import LockError, ManifestError, Problem, ReachError
from registry.lockfile.models import Lock, lock_of, read_documents
from registry.lockfile.origins import pin_origins
from registry.manifest.models import DatasetSpec
from registry.manifest.origins import Origin
from registry.settings import Settings, lock_file_of
from registry.yamldoc.reader import Document

__all__ = ["Contents", "read_contents"]


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
    checkout: Checkout, rules: Path | None = None, names: Collection[str] | None = None
) -> Contents:
    """Return the contents of a checkout; what can't be read is a problem.

    Args:
        checkout: Where the files are.
        rules: The index that decides what they may reach; None is their own.
        names: The datasets to resolve, of those that it has; None means all.
    """
    problems: list[Problem] = []
    try:
        # A temporary checkout is read once, so caching its catalog would only fill the disk.
        catalog = Catalog.open(checkout.index, keep=checkout.mirror is None, paths_from=rules)
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
