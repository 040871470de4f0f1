"""The catalog: all datasets reachable from an index, by name."""

from __future__ import annotations

import glob
import importlib.util
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, overload

from registry.errors import DatasetNotFoundError, ManifestError, Problem
from registry.layers import Entry, Layer
from registry.resolve import resolve
from registry.schema import validate
from registry.settings import INDEX_NAME, Settings, builtin_root
from registry.spec import DatasetSpec
from registry.yamlfile import Document, read_yaml

__all__ = ["Catalog", "shown"]

Other = TypeVar("Other")

_PACKAGE = "package:"


@dataclass(frozen=True)
class Catalog(Mapping[str, DatasetSpec]):
    """Datasets by name; `catalog[name]` is resolved when it is asked for."""

    index: Path
    """The index file."""
    entries: dict[str, Entry] = field(default_factory=dict)
    """Datasets as they stand in the files."""
    problems: tuple[Problem, ...] = ()
    """What is wrong in the files; a dataset of a file without problems still resolves."""
    trust: frozenset[str] = frozenset()
    """Packages whose functions may be mappers, as the root index says."""

    @classmethod
    def open(cls, root: str | Path | None = None) -> Catalog:
        """Read the catalog of `root`, a folder with a `datasets.yaml` or such a file.

        None takes REGISTRY_ROOT, else the nearest `datasets.yaml` upwards from the working
        directory, else the built-in catalog.

        Raises:
            ManifestError: the index itself can't be used.
        """
        index = Settings.from_environment(root=root).index
        reader = _Reader()
        reader.read_index(index)
        return cls(index, reader.entries, tuple(reader.problems), reader.trust[index])

    def __getitem__(self, name: str) -> DatasetSpec:
        return self.resolve(name)

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    @overload
    def get(self, key: str, /) -> DatasetSpec | None: ...

    @overload
    def get(self, key: str, default: Other, /) -> DatasetSpec | Other: ...

    def get(self, key: str, default: Any = None, /) -> Any:
        """Return the dataset `key`, or `default` where there is none."""
        return self[key] if key in self.entries else default

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.entries))

    def __len__(self) -> int:
        return len(self.entries)

    def resolve(
        self,
        name: str,
        *,
        overrides: Mapping[str, Any] | None = None,
        source: str | None = None,
    ) -> DatasetSpec:
        """Return the dataset `name`, resolved, with overrides and another source's location.

        Raises:
            DatasetNotFoundError: no such name; it carries the nearest ones.
            ManifestError: its manifest, or one that it extends, is not valid.
        """
        self.check_name(name)
        self._check_files_of(name)
        spec = resolve(name, self.entries, overrides=overrides, source=source)
        self.check_trust(spec)
        return spec

    def check_name(self, name: str) -> None:
        """Raise an error where no dataset has the name: the broken files, if there are any."""
        if name not in self.entries:
            if self.problems:
                raise ManifestError(self.problems)
            raise DatasetNotFoundError(name, self.entries, catalog=str(self.index))

    def check_trust(self, spec: DatasetSpec) -> None:
        """Refuse a mapper of a package that the root index does not name."""
        package = (spec.mapper or "").partition(":")[0].partition(".")[0]
        if package and package not in self.trust:
            message = f"the package '{package}' is not trusted, so its code is not run"
            hint = f"add it under `trust` in {shown(self.index)}, if you have read it"
            entry = self.entries[spec.name]
            problem = entry.problem(("mapper",), message, hint, rule="untrusted-mapper")
            raise ManifestError([problem])

    def _check_files_of(self, name: str) -> None:
        """Raise the problems of the files that a dataset and its ancestors stand in."""
        seen: set[str] = set()
        current: object = name
        while isinstance(current, str) and current in self.entries and current not in seen:
            seen.add(current)
            current = self.entries[current].value.get("extends")
        files = {self.entries[one].document.file for one in seen}
        problems = [problem for problem in self.problems if problem.file in files]
        if problems:
            raise ManifestError(problems)

    def place_for(self, name: str) -> Path | None:
        """Return the file of a new manifest: where a glob of the index finds it, or None."""
        document = read_yaml(self.index, shown_as=shown(self.index))
        for pattern in document.value.get("include", []):
            folder, _, last = pattern.rpartition("/")
            stem, star, suffix = last.partition("*")
            fixed = folder.removesuffix("/**").removesuffix("**")
            if pattern.startswith(_PACKAGE) or not star or stem or "*" in fixed + suffix:
                continue
            place: Path = self.index.parent / fixed / f"{name}{suffix}"
            return place
        return None

    def with_manifest(self, document: Document) -> Catalog:
        """Return this catalog with the datasets of one more manifest, which need not be a file.

        Raises:
            ManifestError: it is not valid.
        """
        reader = _Reader()
        reader.entries = dict(self.entries)
        reader.add_manifest(document, self.index.parent, self._defaults())
        if reader.problems:
            raise ManifestError(reader.problems)
        return replace(self, entries=reader.entries)

    def _defaults(self) -> Layer:
        """Return the defaults of the index itself."""
        document = read_yaml(self.index, shown_as=shown(self.index))
        return Layer("default", document.value.get("defaults", {}), document, ("defaults",))

    def including(self, files: Iterable[Path]) -> Catalog:
        """Return this catalog with those of the files that it does not hold yet."""
        reader = _Reader()
        reader.entries, reader.problems = dict(self.entries), list(self.problems)
        named = {entry.document.file for entry in self.entries.values()}
        named |= {problem.file for problem in self.problems} | {str(self.index)}
        known = {Path(file).resolve() for file in named}
        for file in files:
            if file.resolve() in known:
                continue
            if file.name == INDEX_NAME:
                reader.read_index(file.absolute())
            else:
                reader.read_manifest(file, self.index.parent, self._defaults())
        return replace(self, entries=reader.entries, problems=tuple(reader.problems))


class _Reader:
    """Reads an index and all that it includes, and collects entries and problems."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.problems: list[Problem] = []
        self.trust: dict[Path, frozenset[str]] = {}
        self._files: set[Path] = set()

    def read_index(self, path: Path) -> None:
        if path in self.trust:
            return
        self.trust[path] = frozenset()
        document = read_yaml(path, shown_as=shown(path))
        problems = validate(document, "index")
        if problems:
            raise ManifestError(problems)
        self.trust[path] = frozenset(document.value.get("trust", ()))
        defaults = Layer("default", document.value.get("defaults", {}), document, ("defaults",))
        self._add(document, path.parent, defaults)
        for number, pattern in enumerate(document.value.get("include", [])):
            self._include(pattern, path.parent, defaults, document, number)

    def _include(
        self, pattern: str, folder: Path, defaults: Layer, document: Document, number: int
    ) -> None:
        if pattern.startswith(_PACKAGE):
            index = _package_index(pattern.removeprefix(_PACKAGE))
            if index is not None:
                try:
                    self.read_index(index)
                except ManifestError as error:
                    self.problems.extend(error.problems)
                return
        else:
            paths = sorted(glob.glob(pattern, root_dir=folder, recursive=True))
            for path in paths:
                self.read_manifest(folder / path, folder, defaults)
            if paths:
                return
        message = f"'{pattern}' matches nothing"
        place, hint = ("include", number), "check the spelling"
        self.problems.append(document.problem(place, message, hint, rule="include-nothing"))

    def read_manifest(self, path: Path, folder: Path, defaults: Layer) -> None:
        if path.resolve() in self._files:
            return
        self._files.add(path.resolve())
        try:
            document = read_yaml(path, shown_as=shown(path))
        except ManifestError as error:
            self.problems.extend(error.problems)
            return
        self.add_manifest(document, folder, defaults)

    def add_manifest(self, document: Document, folder: Path, defaults: Layer) -> None:
        self.problems.extend(validate(document, "manifest"))
        self._add(document, folder, defaults)

    def _add(self, document: Document, folder: Path, defaults: Layer) -> None:
        datasets = document.value.get("datasets") if isinstance(document.value, dict) else None
        for name, value in datasets.items() if isinstance(datasets, dict) else ():
            if not isinstance(value, dict):
                continue
            entry = Entry(name, document, folder, defaults)
            first = self.entries.setdefault(name, entry)
            if first is not entry:
                line = first.document.position(("datasets", name)).line
                message = f"the name '{name}' is taken already"
                hint = f"by {first.document.file}:{line}"
                self.problems.append(entry.problem((), message, hint, rule="duplicate-name"))


def shown(path: Path) -> str:
    """Return how a file is named in messages: relative to the working directory if it is below."""
    path, here = path.absolute(), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _package_index(name: str) -> Path | None:
    """Return the index that an installed package ships, without importing the package."""
    if name == "registry":
        return builtin_root()
    try:
        spec = importlib.util.find_spec(name) if name.isidentifier() else None
    except ValueError:  # a module that is no package
        return None
    places = spec.submodule_search_locations if spec else None
    for place in places or ():
        if (Path(place) / INDEX_NAME).is_file():
            return Path(place) / INDEX_NAME
    return None
