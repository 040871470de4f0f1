"""The catalog: all datasets reachable from an index, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from registry.base.file_state import FileState
from registry.catalog.cache import CompiledEntries, compile_catalog, open_index
from registry.catalog.discovery import PACKAGE
from registry.catalog.reader import LocatedProblem, ParsedFile, Reader, parse_file
from registry.errors import DatasetNotFoundError, ManifestError, Problem, close_matches
from registry.manifest.merge import Entry, Layer, defaults_of
from registry.manifest.models import DatasetSpec
from registry.manifest.resolve import resolve
from registry.settings import INDEX_NAME, Settings
from registry.yamldoc.reader import Document, read_yaml

if TYPE_CHECKING:
    from registry.manifest.schema import SchemaName

__all__ = ["Catalog", "display_path"]

Other = TypeVar("Other")


@dataclass(frozen=True)
class Catalog(Mapping[str, DatasetSpec]):
    """Datasets by name; `catalog[name]` is resolved when it is asked for."""

    index: Path
    """The index file."""
    entries: Mapping[str, Entry] = field(default_factory=dict)
    """Datasets as they stand in the files."""
    problems: tuple[Problem, ...] = ()
    """What is wrong in the files; a dataset of a file without problems still resolves."""
    trust: frozenset[str] = frozenset()
    """Packages whose functions may be mappers, as the root index says."""
    content: str | None = None
    """Digest of all that its files say; None where that is not to be kept."""

    @classmethod
    def open(cls, root: str | Path | None = None, *, keep: bool = True) -> Catalog:
        """Read the catalog of `root`, a folder with a `datasets.yaml` or such a file.

        None takes REGISTRY_ROOT, else the nearest `datasets.yaml` upwards from the working
        directory, else the built-in catalog. Not to `keep` it is for a folder that will go.

        Raises:
            ManifestError: the index itself can't be used.
        """
        settings = Settings.from_environment(root=root)
        here = Path.cwd()
        show = cache(lambda file: display_path(Path(file), here))
        try:
            if keep:
                compiled = open_index(settings.index, settings.cache_dir)
            else:
                compiled = compile_catalog(settings.index, None)
        except ManifestError as error:
            raise ManifestError(
                LocatedProblem(one).shown(show) for one in error.problems
            ) from error
        entries, problems = CompiledEntries(compiled, show), compiled.problems(show)
        return cls(settings.index, entries, tuple(problems), compiled.trust, compiled.content)

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
        """Raise an error where no dataset has the name.

        Raises:
            DatasetNotFoundError: it carries the nearest names.
            ManifestError: nothing is near, and a broken file may be where it stands.
        """
        if name not in self.entries:
            if self.problems and not close_matches(name, self.entries):
                raise ManifestError(self.problems)
            raise DatasetNotFoundError(name, self.entries, catalog=str(self.index))

    def check_trust(self, spec: DatasetSpec) -> None:
        """Refuse a mapper of a package that the root index does not name."""
        package = (spec.mapper or "").partition(":")[0].partition(".")[0]
        if package and package not in self.trust:
            message = f"the package '{package}' is not trusted, so its code is not run"
            hint = f"add it under `trust` in {display_path(self.index)}, if you have read it"
            entry = self.entries[spec.name]
            problem = entry.problem(("mapper",), message, hint, rule="untrusted-mapper")
            raise ManifestError([problem])

    def _check_files_of(self, name: str) -> None:
        """Raise the problems of the files that a dataset and its ancestors stand in."""
        files = {entry.document.file for entry in self._line_of(name)}
        problems = [problem for problem in self.problems if problem.file in files]
        if problems:
            raise ManifestError(problems)

    def tags_of(self, name: str) -> frozenset[str]:
        """Return the tags of a dataset, its own or inherited, also where it does not resolve."""
        layers = [entry.value for entry in self._line_of(name)]
        layers.append(self.entries[name].defaults.value)
        tags = next((layer["tags"] for layer in layers if "tags" in layer), None)
        return frozenset(map(str, tags)) if isinstance(tags, list) else frozenset()

    def _line_of(self, name: object) -> Iterator[Entry]:
        """Yield a dataset and its ancestors, as far as they are there and none comes again."""
        seen: set[str] = set()
        while isinstance(name, str) and name in self.entries and name not in seen:
            seen.add(name)
            entry = self.entries[name]
            yield entry
            name = entry.value.get("extends")

    def place_for(self, name: str) -> Path | None:
        """Return the file of a new manifest: where a glob of the index finds it, or None."""
        document = read_yaml(self.index, shown_as=display_path(self.index))
        for pattern in document.value.get("include", []):
            folder, _, last = pattern.rpartition("/")
            stem, star, suffix = last.partition("*")
            fixed = folder.removesuffix("/**").removesuffix("**")
            if pattern.startswith(PACKAGE) or not star or stem or "*" in fixed + suffix:
                continue
            place: Path = self.index.parent / fixed / f"{name}{suffix}"
            return place
        return None

    def with_manifest(self, document: Document) -> Catalog:
        """Return this catalog with the datasets of one more manifest, which need not be a file.

        Raises:
            ManifestError: it is not valid.
        """
        reader = Reader(_read, self.entries)
        content = parse_file(lambda: document, "manifest")
        reader.add_manifest(content, self.index.parent, self._defaults())
        if reader.found:
            raise ManifestError(one.shown(str) for one in reader.found)
        return replace(self, entries=reader.entries, content=None)

    def _defaults(self) -> Layer:
        """Return the defaults of the index itself."""
        return defaults_of(read_yaml(self.index, shown_as=display_path(self.index)))

    def including(self, files: Iterable[Path]) -> Catalog:
        """Return this catalog with those of the files that it does not hold yet."""
        wanted = list(files)
        known = self._real_files() if wanted else set()
        new = [file for file in wanted if file.resolve() not in known]
        if not new:
            return self
        reader = Reader(_read, self.entries)
        for file in new:
            if file.name == INDEX_NAME:
                reader.read_index(file.absolute())
            else:
                reader.read_manifest(
                    file, FileState.or_absent(file), self.index.parent, self._defaults()
                )
        problems = (*self.problems, *(one.shown(str) for one in reader.found))
        return replace(self, entries=reader.entries, problems=problems, content=None)

    def _real_files(self) -> set[Path]:
        """Return the files of the catalog, without links."""
        named = {entry.document.file for entry in self.entries.values()}
        named |= {problem.file for problem in self.problems} | {str(self.index)}
        return {Path(file).resolve() for file in named}


def _read(path: Path, schema: SchemaName, _: FileState) -> ParsedFile:
    """Read a file that no index leads to."""
    return parse_file(lambda: read_yaml(path, shown_as=display_path(path)), schema)


def display_path(path: Path, here: Path | None = None) -> str:
    """Return how a file is named in messages: relative to the working directory if it is below."""
    path, here = path.absolute(), here or Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
