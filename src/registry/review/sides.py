"""Open the two sides of a review: a folder as it is, or what a git revision holds of a catalog."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from registry.catalog import Catalog
from registry.errors import ManifestError, Problem
from registry.git_tree import Tree, commit_of, fork_point, matching, open_tree, repository_of
from registry.lock_data import LOCK_NAME, lock_origins
from registry.origins import Origin, origins_of
from registry.review.local_files import digest_of_file, files_of, local_patterns
from registry.review.model import Side
from registry.settings import INDEX_NAME
from registry.spec import DatasetSpec
from registry.yamlfile import read_yaml

__all__ = ["OpenSide", "open_sides"]

_PLACED = ("source", "concat", "join.source", "pin")
"""Keys whose values name files."""

_OF_DATASETS = ("version", "defaults", "datasets")
"""Keys of the index that are told at the datasets, or say nothing."""


@dataclass(frozen=True)
class Place:
    """Where a side lies on this machine."""

    label: str
    index: Path
    top: Path
    """What is taken off the names of files: the repository's folder, or the catalog's."""
    tree: Tree | None = None
    """Where further files come from."""

    is_temporary: bool = False
    """Whether its files go when the review ends."""

    @property
    def folder(self) -> Path:
        """The catalog's folder."""
        return self.index.parent


@dataclass(frozen=True)
class OpenSide:
    """One side, with what is needed to read its samples."""

    place: Place
    side: Side
    specs: Mapping[str, DatasetSpec] = field(default_factory=dict)

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
        places = [
            _place(base, index, folder / "base"),
            _place_of_folder(index, "work tree")
            if head is None
            else _place(head, index, folder / "head"),
        ]
        first, second = (_opened(place) for place in places)
        yield first, second


def _place(given: str | None, index: Path, temporary: Path) -> Place:
    own = None if given is None else _index_of(Path(given))
    if own is not None and given is not None:
        return _place_of_folder(own, given)
    return _place_of_revision(given, index, temporary)


def _index_of(path: Path) -> Path | None:
    """Return the index that a path names: a folder's, or the file itself."""
    index = path / INDEX_NAME if path.is_dir() else path
    return index.resolve() if index.name.endswith((".yaml", ".yml")) and index.is_file() else None


def _place_of_folder(index: Path, label: str) -> Place:
    index = index.resolve()
    above = (folder for folder in index.parents if (folder / ".git").exists())
    return Place(label, index, next(above, index.parent))


def _place_of_revision(revision: str | None, index: Path, temporary: Path) -> Place:
    """Take the manifests of a revision out of the repository."""
    index = index.resolve()
    repository = repository_of(index.parent).resolve()
    commit = fork_point(repository) if revision is None else commit_of(repository, revision)
    tree = open_tree(repository, commit)
    name = os.path.relpath(index, repository)
    temporary.mkdir()
    label = f"{revision or 'merge base'} ({commit[:7]})"
    if name not in tree.blobs:  # before there was a catalog: all of the other side is new
        (temporary / name).parent.mkdir(parents=True, exist_ok=True)
        (temporary / name).write_text("version: 1\n", encoding="utf-8")
        return Place(f"{label}, without {name}", temporary / name, temporary, is_temporary=True)
    place = Place(label, temporary / name, temporary, tree, is_temporary=True)
    tree.copy(_manifests(place, name, tree), temporary)
    return place


def _manifests(place: Place, name: str, tree: Tree) -> Iterator[str]:
    """Yield the files that the index of a tree consists of."""
    tree.copy([name], place.top)
    folder = os.path.dirname(name)
    lock = os.path.join(folder, LOCK_NAME)
    yield from (path for path in (lock,) if path in tree.blobs)
    try:
        value = read_yaml(place.index).value
    except ManifestError:  # told when the catalog is opened
        return
    included = value.get("include") if isinstance(value, dict) else None
    for pattern in included if isinstance(included, list) else ():
        if isinstance(pattern, str) and not pattern.startswith(("package:", "/")):
            yield from matching(tree, os.path.join(folder, pattern))


def _opened(place: Place) -> OpenSide:
    try:
        catalog = Catalog.open(place.index, keep=not place.is_temporary)
    except ManifestError as error:
        shown = tuple(_shown(problem, place) for problem in error.problems)
        side = Side(label=place.label, datasets={}, problems=shown, unreadable=True)
        return OpenSide(place, side)
    specs, found = _resolved(catalog)
    _fetch_data(specs, place)
    problems = list(dict.fromkeys([*catalog.problems, *found]))
    try:
        pins = lock_origins(place.folder)
    except ManifestError as error:
        pins, problems = {}, [*problems, *error.problems]
    side = Side(
        label=place.label,
        datasets=_datasets(catalog, specs, pins, place),
        index=_index_values(place),
        problems=tuple(_shown(problem, place) for problem in problems),
        broken=frozenset(catalog.entries) - frozenset(specs),
    )
    return OpenSide(place, side, specs)


def _index_values(place: Place) -> dict[str, Origin]:
    """Return what the index says beside datasets and their defaults."""
    document = read_yaml(place.index)
    file = _file(str(place.index), place)
    return {
        key: Origin(
            key=key, value=value, layer="index", file=file, line=document.position((key,)).line
        )
        for key, value in document.value.items()
        if key not in _OF_DATASETS
    }


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


def _datasets(
    catalog: Catalog,
    specs: Mapping[str, DatasetSpec],
    pins: Mapping[str, tuple[Origin, ...]],
    place: Place,
) -> dict[str, dict[str, Origin]]:
    digest = cache(digest_of_file)  # datasets that extend one another share files
    found = {}
    for name, spec in specs.items():
        own = {one.key: _placed(one, place) for one in origins_of(spec, catalog.entries)}
        giver = own["source.path"].dataset
        for one in pins.get(name, ()):
            named = giver if one.key.startswith("pin.sources") else name
            own[one.key] = _placed(replace(one, dataset=named), place)
        for pattern in local_patterns(spec):
            for file in files_of(pattern):
                held = _bytes_origin(file, digest(Path(file)), giver, place)
                own[held.key] = held
        found[name] = own
    return found


def _bytes_origin(path: str, digest: str, giver: str, place: Place) -> Origin:
    """Return what a local file holds, as a value of the dataset that names the file."""
    key, file = f"bytes.{_relative(path, place)}", _file(path, place)
    return Origin(key=key, value=digest, layer="bytes", file=file, dataset=giver)


def _placed(origin: Origin, place: Place) -> Origin:
    """Return a value without the folders of this machine."""
    value = _relative(origin.value, place) if origin.key.startswith(_PLACED) else origin.value
    return replace(origin, value=value, file=_file(origin.file, place))


def _relative(value: Any, place: Place) -> Any:
    match value:
        case str() if os.path.isabs(value) and Path(value).is_relative_to(place.top):
            return os.path.relpath(value, place.folder)
        case list():
            return [_relative(item, place) for item in value]
        case dict():
            return {key: _relative(item, place) for key, item in value.items()}
        case _:
            return value


def _file(name: str, place: Place) -> str:
    path = Path(name).absolute() if name else Path()
    return str(path.relative_to(place.top)) if path.is_relative_to(place.top) else name


def _shown(problem: Problem, place: Place) -> Problem:
    return replace(problem, file=_file(problem.file, place))


def _is_glob(path: str) -> bool:
    return any(sign in path for sign in "*?[")
