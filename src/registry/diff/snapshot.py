"""Open the two sides of a review: resolve their datasets, and note where each value stands."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import structs

from registry.base.local_files import local_files
from registry.catalog.catalog import Catalog
from registry.diff.checkout import Place, place_of, place_of_folder
from registry.diff.git import matching
from registry.diff.local_files import digest_of_file, local_patterns
from registry.diff.models import Side
from registry.errors import LockError, ManifestError, Problem
from registry.lockfile.models import Lock, lock_of, read_documents
from registry.lockfile.provenance import lock_origins
from registry.manifest.models import DatasetSpec
from registry.manifest.provenance import Origin, origins_of
from registry.settings import lock_file_of
from registry.yamldoc.reader import Document, read_yaml

__all__ = ["OpenSide", "open_sides"]

_PLACED = ("source", "concat", "join.source", "pin")
"""Keys whose values name files."""
_OF_DATASETS = ("version", "defaults", "datasets")
"""Keys of the index that are told at the datasets, or say nothing."""


@dataclass(frozen=True)
class OpenSide:
    """One side, with what is needed to read its samples."""

    place: Place
    side: Side
    specs: Mapping[str, DatasetSpec] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def fetch_beside(self, name: str) -> None:
        """Have all files at hand that samples of a dataset may name: those beside its data."""
        tree, top = self.place.tree, self.place.top
        if tree is None:
            return
        folders = {os.path.dirname(path) for path in local_patterns(self.specs[name])}
        for folder in folders:
            if Path(folder).is_relative_to(top) and not _is_glob(folder):
                tree.copy(matching(tree, os.path.relpath(folder, top)), top)


@contextmanager
def open_sides(
    base: str | None, head: str | None, index: Path
) -> Iterator[tuple[OpenSide, OpenSide]]:
    """Open both sides for as long as the context lasts.

    Args:
        base: A folder with a `datasets.yaml`, or such a file, or a git revision; None is where
            the current branch left the main branch.
        head: The same; None is the folder of `index` as it is.
        index: The catalog that revisions are looked up for.

    Raises:
        RevisionError: a revision can't be read.
    """
    with TemporaryDirectory(prefix="registry-diff-") as temporary:
        folder = Path(temporary).resolve()
        first = _read(place_of(base, index, folder / "base"))
        second = _read(
            place_of_folder(index, "work tree")
            if head is None
            else place_of(head, index, folder / "head")
        )
        alike = _alike(first, second)
        yield _opened(first, alike), _opened(second, alike)


@dataclass(frozen=True)
class _Read:
    """What the files of a side say."""

    place: Place
    catalog: Catalog | None = None
    """None where the index can't be used."""
    problems: tuple[Problem, ...] = ()
    specs: Mapping[str, DatasetSpec] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)
    pins: Mapping[str, tuple[Origin, ...]] = field(default_factory=dict)
    """What the lock says, value by value."""
    local_digests: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Dataset → local file → digest of its bytes."""


def _read(place: Place) -> _Read:
    try:
        catalog = Catalog.open(place.index, keep=not place.is_temporary)
    except ManifestError as error:
        return _Read(place, problems=tuple(_shown(problem, place) for problem in error.problems))
    specs, problems = _resolved(catalog)
    documents: tuple[Document, ...] = ()
    try:
        documents = read_documents(lock_file_of(place.index))
    except LockError as error:
        problems += error.problems
    _fetch_data(specs, place)
    return _Read(
        place,
        catalog,
        tuple(_shown(one, place) for one in dict.fromkeys([*catalog.problems, *problems])),
        specs,
        lock_of(documents),
        lock_origins(documents),
        _local_digests(specs),
    )


def _resolved(catalog: Catalog) -> tuple[dict[str, DatasetSpec], list[Problem]]:
    """Return the datasets that resolve, and what is wrong with the others."""
    specs: dict[str, DatasetSpec] = {}
    problems: list[Problem] = []
    for name in catalog:
        try:
            specs[name] = catalog[name]
        except ManifestError as error:
            problems += error.problems
    return specs, problems


def _fetch_data(specs: Mapping[str, DatasetSpec], place: Place) -> None:
    """Take the local files of all datasets out of the repository."""
    if place.tree is None:
        return
    patterns = {pattern for spec in specs.values() for pattern in local_patterns(spec)}
    inside = (one for one in sorted(patterns) if Path(one).is_relative_to(place.top))
    names = {os.path.relpath(pattern, place.top) for pattern in inside}
    place.tree.copy([path for name in names for path in matching(place.tree, name)], place.top)


def _local_digests(specs: Mapping[str, DatasetSpec]) -> dict[str, dict[str, str]]:
    digest = cache(digest_of_file)  # datasets that extend one another share files
    return {
        name: {
            file: digest(Path(file))
            for pattern in local_patterns(spec)
            for file in local_files(pattern)
        }
        for name, spec in specs.items()
    }


def _alike(first: _Read, second: _Read) -> frozenset[str]:
    """Return the datasets of which the files say the same, so that nothing can differ."""
    return frozenset(
        name
        for name in first.specs.keys() & second.specs.keys()
        if _said(first, name) == _said(second, name)
    )


def _said(read: _Read, name: str) -> list[Any]:
    """Return all that determines a dataset, as text: 1 and True are not the same."""
    assert read.catalog is not None  # noqa: S101 (it has a dataset)
    entries = read.catalog.entries
    chain = [entries[name]]
    while (parent := chain[-1].value.get("extends")) is not None:
        chain.append(entries[parent])
    return [
        [repr(entry.value) for entry in chain],
        [entry.name for entry in chain],
        repr(chain[0].defaults.value),
        [read.place.relative(str(entry.folder)) for entry in chain],
        [(one.key, repr(one.value)) for one in read.pins.get(name, ())],
        {read.place.relative(file): digest for file, digest in read.local_digests[name].items()},
    ]


def _opened(read: _Read, alike: frozenset[str]) -> OpenSide:
    place, catalog = read.place, read.catalog
    if catalog is None:
        side = Side(label=place.label, datasets={}, problems=read.problems, unreadable=True)
        return OpenSide(place, side)
    side = Side(
        label=place.label,
        datasets={
            name: {} if name in alike else _values(catalog, read, name) for name in read.specs
        },
        index=_index_values(place),
        problems=read.problems,
        broken=frozenset(catalog.entries) - frozenset(read.specs),
    )
    return OpenSide(place, side, read.specs, read.lock)


def _index_values(place: Place) -> dict[str, Origin]:
    """Return what the index says beside datasets and their defaults."""
    document = read_yaml(place.index)
    file = place.file(str(place.index))
    return {
        key: Origin(
            key=key, value=value, layer="index", file=file, line=document.position((key,)).line
        )
        for key, value in document.value.items()
        if key not in _OF_DATASETS
    }


def _values(catalog: Catalog, read: _Read, name: str) -> dict[str, Origin]:
    """Return every value of a dataset, its pin and the bytes of its local files."""
    place = read.place
    written = origins_of(read.specs[name], catalog.entries)
    found = {one.key: _placed(one, place) for one in written}
    giver = found.get("source.path", found["source.type"]).dataset  # its heirs have the same bytes
    for one in read.pins.get(name, ()):
        named = giver if one.key.startswith("pin.sources") else name
        found[one.key] = _placed(replace(one, dataset=named), place)
    for path, digest in read.local_digests[name].items():
        key, file = f"bytes.{place.relative(path)}", place.file(path)
        found[key] = Origin(key=key, value=digest, layer="bytes", file=file, dataset=giver)
    return found


def _placed(origin: Origin, place: Place) -> Origin:
    """Return a value without the folders of this machine."""
    value = place.relative(origin.value) if origin.key.startswith(_PLACED) else origin.value
    return replace(origin, value=value, file=place.file(origin.file))


def _shown(problem: Problem, place: Place) -> Problem:
    message, hint = place.text(problem.message), place.text(problem.hint)
    return structs.replace(problem, file=place.file(problem.file), message=message, hint=hint)


def _is_glob(path: str) -> bool:
    return any(sign in path for sign in "*?[")
