"""Open the two snapshots of a diff: resolve their datasets, with the origin of each value."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from registry.base.local_files import local_files
from registry.boundary.boundary import Boundary
from registry.catalog.catalog import Catalog
from registry.diff.checkout import Checkout, checkout_of, folder_checkout
from registry.diff.git.tree import matching
from registry.diff.local_files import digest_of_file, local_patterns
from registry.diff.models import Snapshot
from registry.diff.reach import index_reach, reach_of
from registry.errors import LockError, ManifestError, Problem
from registry.lockfile.models import Lock, lock_of, read_documents
from registry.lockfile.provenance import pin_provenance
from registry.manifest.models import DatasetSpec
from registry.manifest.provenance import Origin, origins_of
from registry.settings import lock_file_of
from registry.yamldoc.reader import Document, read_yaml

__all__ = ["OpenSnapshot", "open_snapshots"]

_KEYS_WITH_PATHS = ("source", "concat", "join.source", "pin")
_DATASET_KEYS = ("version", "defaults", "datasets")
"""Keys of the index that are reported at its datasets, or not at all."""


@dataclass(frozen=True)
class OpenSnapshot:
    """One snapshot, with the specs and pins that its samples are loaded by."""

    checkout: Checkout
    snapshot: Snapshot
    specs: Mapping[str, DatasetSpec] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)
    boundary: Boundary = field(default_factory=Boundary)
    """What the datasets may reach."""

    def extract_siblings(self, name: str) -> None:
        """Extract all files beside a dataset's data, as its samples may refer to them."""
        tree, top = self.checkout.tree, self.checkout.top
        if tree is None:
            return
        for folder in {os.path.dirname(path) for path in local_patterns(self.specs[name])}:
            is_glob = any(sign in folder for sign in "*?[")
            if Path(folder).is_relative_to(top) and not is_glob:
                tree.copy(matching(tree, os.path.relpath(folder, top)), top)


@contextmanager
def open_snapshots(
    base: str | None, head: str | None, index: Path
) -> Iterator[tuple[OpenSnapshot, OpenSnapshot]]:
    """Open both snapshots; the files of revisions exist until the context exits.

    Args:
        base: A folder with a `datasets.yaml`, such a file, or a git revision; None is the commit
            where the current branch left the main branch.
        head: The same; None is the folder of `index` in its present state.
        index: The catalog whose revisions are meant.

    Raises:
        RevisionError: a revision can't be read.
    """
    with TemporaryDirectory(prefix="registry-diff-") as temporary:
        folder = Path(temporary).resolve()
        old = _read(checkout_of(base, index, folder / "base"))
        new = _read(
            folder_checkout(index, "work tree")
            if head is None
            else checkout_of(head, index, folder / "head")
        )
        # A catalog may have thousands of datasets, of which few change: comparing parsed values
        # first avoids finding the origin of each value of all others.
        unchanged = frozenset(
            name
            for name in old.specs.keys() & new.specs.keys()
            if _determinants(old, name) == _determinants(new, name)
        )
        yield _open(old, unchanged), _open(new, unchanged)


@dataclass(frozen=True)
class _Contents:
    """What the files of a checkout contain."""

    checkout: Checkout
    catalog: Catalog | None = None
    """None if the index is invalid."""
    problems: tuple[Problem, ...] = ()
    specs: Mapping[str, DatasetSpec] = field(default_factory=dict)
    """Of the datasets that resolve."""
    lock: Lock = field(default_factory=Lock)
    pins: Mapping[str, tuple[Origin, ...]] = field(default_factory=dict)
    """Dataset → each value of its pin."""
    local_digests: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Dataset → local file → digest of its bytes."""


def _read(checkout: Checkout) -> _Contents:
    specs: dict[str, DatasetSpec] = {}
    problems: list[Problem] = []
    documents: tuple[Document, ...] = ()
    catalog: Catalog | None = None
    try:
        # A temporary checkout is read once, so caching its catalog would only fill the disk.
        catalog = Catalog.open(checkout.index, keep=not checkout.is_temporary)
    except ManifestError as error:
        problems += error.problems
    else:
        problems += catalog.problems
        for name in catalog:
            try:
                specs[name] = catalog[name]
            except ManifestError as error:
                problems += error.problems
        try:
            documents = read_documents(lock_file_of(checkout.index))
        except LockError as error:
            problems += error.problems
    _extract_data(specs, checkout)
    digest = cache(digest_of_file)  # datasets that extend one another share files
    return _Contents(
        checkout,
        catalog,
        tuple(checkout.portable_problem(one) for one in dict.fromkeys(problems)),
        specs,
        lock_of(documents),
        pin_provenance(documents),
        {
            name: {
                file: digest(Path(file))
                for pattern in local_patterns(spec)
                for file in local_files(pattern)
            }
            for name, spec in specs.items()
        },
    )


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


def _determinants(contents: _Contents, name: str) -> list[Any]:
    """Return all that determines a dataset; values by their `repr`, as 1 == True."""
    assert contents.catalog is not None  # noqa: S101 (it has a dataset)
    entries = contents.catalog.entries
    chain = [entries[name]]
    while (parent := chain[-1].value.get("extends")) is not None:
        chain.append(entries[parent])
    relative = contents.checkout.relative
    return [
        [repr(entry.value) for entry in chain],
        [entry.name for entry in chain],
        repr(chain[0].defaults.value),
        [relative(str(entry.folder)) for entry in chain],
        [(one.key, repr(one.value)) for one in contents.pins.get(name, ())],
        {relative(file): digest for file, digest in contents.local_digests[name].items()},
    ]


def _open(contents: _Contents, unchanged: frozenset[str]) -> OpenSnapshot:
    checkout, catalog = contents.checkout, contents.catalog
    label, problems = checkout.label, contents.problems
    if catalog is None:
        snapshot = Snapshot(label=label, datasets={}, problems=problems, unreadable=True)
        return OpenSnapshot(checkout, snapshot)
    document = read_yaml(checkout.index)
    file = checkout.file_name(str(checkout.index))
    snapshot = Snapshot(
        label=label,
        datasets={
            name: {} if name in unchanged else _values(catalog, contents, name)
            for name in contents.specs
        },
        index={
            key: Origin(
                key=key, value=value, layer="index", file=file, line=document.position((key,)).line
            )
            for key, value in document.value.items()
            if key not in _DATASET_KEYS
        },
        reach={
            "": index_reach(document.value),
            **{name: reach_of(spec, checkout.relative) for name, spec in contents.specs.items()},
        },
        problems=problems,
        broken=frozenset(catalog.entries) - frozenset(contents.specs),
    )
    return OpenSnapshot(checkout, snapshot, contents.specs, contents.lock, catalog.boundary)


def _values(catalog: Catalog, contents: _Contents, name: str) -> dict[str, Origin]:
    """Return every value of a dataset, its pin and the digests of its local files."""
    checkout = contents.checkout
    values = {one.key: one for one in origins_of(contents.specs[name], catalog.entries)}
    # The bytes belong to the dataset that names the source, so that a change is reported there
    # once and inherited by all that extend it.
    owner = values.get("source.path", values["source.type"]).dataset
    for one in contents.pins.get(name, ()):
        dataset = owner if one.key.startswith("pin.sources") else name
        values[one.key] = replace(one, dataset=dataset)
    for path, digest in contents.local_digests[name].items():
        key = f"bytes.{checkout.relative(path)}"
        values[key] = Origin(key=key, value=digest, layer="bytes", file=path, dataset=owner)
    for key, one in values.items():
        value = checkout.relative(one.value) if key.startswith(_KEYS_WITH_PATHS) else one.value
        values[key] = replace(one, value=value, file=checkout.file_name(one.file))
    return values
