"""Where the two sides of a review lie: a folder as it is, or what a git revision holds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from registry.diff.git import Tree, commit_of, fork_point, matching, open_tree, repository_of
from registry.errors import ManifestError
from registry.settings import INDEX_NAME, lock_file_of
from registry.yamldoc.reader import read_yaml

__all__ = ["Place", "place_of", "place_of_folder"]


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

    def file(self, name: str) -> str:
        """Return the name of a file without the folders of this machine."""
        path = os.path.abspath(name) if name else ""
        inside = path.startswith(f"{self.top}{os.sep}")
        return os.path.relpath(path, self.top) if inside else name

    def text(self, text: str) -> str:
        """Return a message without the folders of this machine."""
        return text.replace(f"{self.top}{os.sep}", "")

    def relative(self, value: Any) -> Any:
        """Return a value with the paths in it relative to the catalog's folder."""
        match value:
            case str() if value == str(self.top) or value.startswith(f"{self.top}{os.sep}"):
                return os.path.relpath(value, self.folder)
            case list():
                return [self.relative(item) for item in value]
            case dict():
                return {key: self.relative(item) for key, item in value.items()}
            case _:
                return value


def place_of(given: str | None, index: Path, temporary: Path) -> Place:
    """Return where a side lies: `given` is a folder, an index, a revision, or the fork point.

    Raises:
        RevisionError: it is none of these, or git can't be asked.
    """
    own = None if given is None else _index_of(Path(given))
    if own is not None and given is not None:
        return place_of_folder(own, given)
    return _place_of_revision(given, index, temporary)


def _index_of(path: Path) -> Path | None:
    """Return the index that a path names: a folder's, or the file itself."""
    index = path / INDEX_NAME if path.is_dir() else path
    return index.resolve() if index.name.endswith((".yaml", ".yml")) and index.is_file() else None


def place_of_folder(index: Path, label: str) -> Place:
    """Return the side that a folder is as it lies there."""
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
    lock = lock_file_of(Path(name)).as_posix()
    yield from (path for path in (lock,) if path in tree.blobs)
    try:
        value = read_yaml(place.index).value
    except ManifestError:  # told when the catalog is opened
        return
    included = value.get("include") if isinstance(value, dict) else None
    for pattern in included if isinstance(included, list) else ():
        if isinstance(pattern, str) and not pattern.startswith(("package:", "/")):
            yield from matching(tree, os.path.join(folder, pattern))
