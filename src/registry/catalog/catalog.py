"""The catalog: all datasets reachable from an index, by name."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from registry.base.local_files import FileState, display_path
from registry.base.locations import Location
from registry.boundary.boundary import Boundary
from registry.catalog.cache import CompiledEntries, compile_catalog, open_compiled
from registry.catalog.discovery import PACKAGE, IncludeReach, boundary_of, permissions_of
from registry.catalog.groups import GroupEntry
from registry.catalog.names import Names
from registry.catalog.reader import (
    CatalogReader,
    LocatedProblem,
    ParsedFile,
    conflicts,
    may_hide_datasets,
    parse_file,
)
from registry.errors import ManifestError, MappingError, Problem, SourceError, count_text
from registry.manifest.merge import Entry, index_defaults
from registry.manifest.models import DatasetSpec
from registry.manifest.resolve import resolve
from registry.settings import INDEX_NAME, Settings
from registry.yamldoc.reader import (
    Document,
    ParsedText,
    Positions,
    is_within,
    read_partially,
    read_yaml,
)

if TYPE_CHECKING:
    from registry.manifest.schema import SchemaName

__all__ = ["Catalog", "read_uncached", "valid_index"]

Other = TypeVar("Other")


@dataclass(frozen=True, repr=False)
class Catalog(Names):
    """Datasets by name; `catalog[name]` is resolved on each access."""

    index: Path
    """The index file."""
    entries: Mapping[str, Entry] = field(default_factory=dict)
    """Datasets as written in the files, and the names of those that were renamed or removed."""
    problems: tuple[Problem, ...] = ()
    """Problems in the files; datasets in other files still resolve."""
    boundary: Boundary = field(default_factory=Boundary)
    """What its datasets may reach."""
    content: str | None = None
    """Digest of the content of its files; None if nothing about it may be cached."""
    rules_from: Path | None = None
    """The index whose permissions and `validate` count, if it is not its own."""
    groups: Mapping[str, GroupEntry] = field(default_factory=dict)
    """Groups as written in the files."""
    indexes: tuple[Path, ...] = ()
    """The index files: the root, and those of the packages that it includes."""

    def __repr__(self) -> str:
        problems = f", {count_text(len(self.problems), 'problem')}" if self.problems else ""
        count = count_text(len(self), "dataset")
        return f"Catalog({display_path(self.index)!r}: {count}{problems})"

    @classmethod
    def open(
        cls,
        root: str | Path | None = None,
        *,
        keep: bool = True,
        earlier: Catalog | None = None,
        rules_from: Path | None = None,
        paths_from: Path | None = None,
        lenient: bool = False,
        deadline: float = math.inf,
        settings: Settings | None = None,
    ) -> Catalog:
        """Read the catalog of `root`, a `datasets.yaml` or a folder that contains one.

        Args:
            root: None means REGISTRY_ROOT, or else the nearest `datasets.yaml` upwards from the
                working directory, or else the built-in catalog.
            keep: Whether to cache it; False for a catalog in a temporary folder.
            earlier: If it is not kept, another state of it: what both have is not parsed again.
            rules_from: The index whose `trust`, `hosts`, `secrets`, `paths`, `limits` and
                `validate` count, in place of its own: a review judges by those of the base.
            paths_from: The index whose `paths` say where included files may be, if it is another.
            lenient: Give an invalid index as a catalog that has its problems and what can be read.
            deadline: The processor time of this process at which no further manifest is read.
            settings: Those of the call, which have the root; None reads the environment.

        Raises:
            ManifestError: the index is invalid or can't be read, unless `lenient`.
        """
        settings = settings or Settings.from_environment(root=root)
        rules = None if rules_from is None else permissions_of(valid_index(rules_from))
        outside = rules if paths_from is None else permissions_of(valid_index(paths_from))
        paths = None if outside is None else tuple(outside.get("paths", ()))
        reach = IncludeReach(settings.allow_paths, paths)
        here = Path.cwd()
        display = cache(lambda file: display_path(Path(file), here))
        index, is_valid = settings.index, True
        try:
            if keep:
                compiled = open_compiled(index, settings.cache_dir, reach, deadline=deadline)
            else:
                known = earlier.entries if earlier else None
                before = known.compiled if isinstance(known, CompiledEntries) else None
                compiled = compile_catalog(index, before, reach=reach, deadline=deadline)
        except ManifestError as error:
            if not lenient:
                located = map(LocatedProblem, error.problems)
                raise ManifestError(problem.displayed(display) for problem in located) from error
            is_valid = False
            compiled = compile_catalog(index, reach=reach, lenient=True, deadline=deadline)
        permissions = compiled.permissions if rules is None else rules
        entries = compiled.entries(here, display)
        return cls(
            index=index,
            entries=entries,
            groups=entries.groups,
            problems=tuple(compiled.problems(display)),
            boundary=boundary_of(
                permissions, compiled.indexes, settings.allow_paths, real_path=reach.real_path
            ),
            content=compiled.content if is_valid else None,
            rules_from=rules_from,
            indexes=compiled.indexes,
        )

    def stray_problems(self) -> list[Problem]:
        """Return the problems of files that define no dataset; others are those of datasets."""
        if not self.problems:  # `entries` of a large catalog takes a while to load
            return []
        files = {entry.document.file for entry in self.entries.values()}
        stray = [problem for problem in self.problems if problem.file not in files]
        root, entries = self.index.parent, self.entries.values() if stray else ()
        # A name that two packages have is reported with the dataset that has it.
        own = {problem for entry in entries for problem in conflicts(entry, stray, root)}
        return [problem for problem in stray if problem not in own]

    def unread_problems(self) -> list[Problem]:
        """Return the problems of files, or parts of files, whose datasets are not known."""
        stray = set(self.stray_problems())
        return [one for one in self.problems if one in stray or may_hide_datasets(one)]

    def boundary_by(self, rules: Path) -> Boundary:
        """Return what its datasets may reach if another index decides.

        Raises:
            ManifestError: that index is invalid or can't be read.
        """
        allowed = Settings.from_environment(root=self.index).allow_paths
        return boundary_of(permissions_of(valid_index(rules)), self.indexes, allowed)

    def __getitem__(self, name: str) -> DatasetSpec:
        return self.resolve(name)

    def __contains__(self, name: object) -> bool:
        return name in self.entries and name not in self.retired

    @overload
    def get(self, key: str, /) -> DatasetSpec | None: ...

    @overload
    def get(self, key: str, default: Other, /) -> DatasetSpec | Other: ...

    def get(self, key: str, default: Any = None, /) -> Any:
        """Return the dataset `key`, or `default` if it does not exist."""
        return self[key] if key in self.entries else default

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.entries.keys() - self.retired.keys()))

    def __len__(self) -> int:
        return len(self.entries) - len(self.retired)

    def _ipython_key_completions_(self) -> list[str]:
        """Return what IPython and Jupyter complete after `catalog["`."""
        return list(self)

    def _repr_html_(self) -> str:
        """Return the first datasets as HTML for a notebook, of less than 30 KB."""
        from registry.catalog.display import catalog_html  # only notebooks ask for it

        return catalog_html(self, display_path(self.index))

    def __rich_repr__(self) -> Iterator[tuple[str, Any] | tuple[str, Any, Any]]:
        yield "index", str(self.index)
        yield "datasets", len(self)
        yield "problems", len(self.problems), 0

    def resolve(
        self, name: str, *, overrides: Mapping[str, Any] | None = None, source: str | None = None
    ) -> DatasetSpec:
        """Return the resolved dataset `name`; arguments as for `registry.manifest.resolve`.

        An old name of a dataset gives the dataset, which has its present name; so does that of a
        member of a group.

        Raises:
            DatasetNotFoundError: there is no such dataset; the error has similar names.
            ManifestError: its manifest, or one that it extends, is invalid.
            SourceError: `source` is a URL that can't be taken apart.
        """
        overrides = dict(overrides or {})
        if (member := self.member(name)) is not None:
            if member.only is not None:
                overrides["only"] = _only_in(name, member.only, overrides.get("only"))
            name = member.dataset
        if isinstance(overrides.get("split"), str) and self.splits_of(name):
            name = self.named(name, overrides.pop("split"))
        name = self.named(name)
        if source is not None:
            Location(source).check()
        self._check_files(name)
        known = self.entries
        run = (
            known.resolved.resolve
            if isinstance(known, CompiledEntries)
            else partial(resolve, entries=known)
        )
        spec = run(name, boundary=self.boundary, overrides=overrides, source=source)
        self.check_trust(spec)
        if spec.companion is not None:
            self._check_files(spec.companion.name)
            self.check_trust(spec.companion)
        return spec

    def _check_files(self, name: str) -> None:
        """Raise a ManifestError for problems of the files that define a dataset."""
        entries = list(self.lineage(name))
        files = {entry.document.file for entry in entries}
        indexes = {layer.document.file for entry in entries if (layer := entry.defaults).document}
        # A pattern that matches nothing is about other files: a bundle leaves them out.
        problems = [
            problem
            for problem in self.problems
            if (
                problem.file in files
                and problem.rule != "include-nothing"
                and not is_within(problem.path, "$.groups")  # without them, datasets can be used
            )
            or (
                problem.file in indexes
                and (problem.path == "$" or is_within(problem.path, "$.defaults"))
            )
        ]
        root = self.index.parent
        # Where a package extends a dataset, it means its own.
        own = (parent for child, parent in pairwise(entries) if child.folder == root)
        for entry in (entries[0], *own):
            problems += conflicts(entry, self.problems, root)
        parent = entries[-1].value.get("extends")
        if not problems and isinstance(parent, str) and parent not in self.entries:
            # It may be in a file, or a part of one, that can't be read.
            problems = [problem for problem in self.problems if may_hide_datasets(problem)]
        if problems:
            raise ManifestError(dict.fromkeys(problems))

    def check_trust(self, spec: DatasetSpec) -> None:
        """Raise a ManifestError for a mapper that the root index does not trust."""
        # Only the root index counts: an included package must not trust its own code.
        if spec.mapper is not None and spec.mapper not in self.boundary.trust:
            message = f"the mapper '{spec.mapper}' is not trusted, so its code is not run"
            index = display_path(self.index) + (" of the base" if self.rules_from else "")
            hint = f"add '{spec.mapper}' under `trust` in {index}, if you have read it"
            entry = self.entries[spec.name]
            problem = entry.problem(("mapper",), message, hint, rule="untrusted-mapper")
            raise ManifestError([problem])

    @contextlib.contextmanager
    def locating(self, name: str) -> Iterator[None]:
        """Add the file and position in the manifest to errors about the data of a dataset."""
        try:
            yield
        except (ManifestError, MappingError, SourceError) as error:
            from registry.manifest.origins import located  # only errors need it

            found = located(error, name, self.entries)
            if found is error:
                raise
            raise found from error.__cause__

    def file_for(self, name: str) -> Path | None:
        """Return a path for a new manifest that matches a glob of the index, or None."""
        document = read_yaml(self.index, shown_as=display_path(self.index), is_index=True)
        for pattern in document.value.get("include", []):
            folder, _, last = pattern.rpartition("/")
            stem, star, suffix = last.partition("*")
            # `**` also matches zero folders, so the file can be directly in the folder above it.
            fixed = folder.removesuffix("/**").removesuffix("**")
            if pattern.startswith(PACKAGE) or not star or stem or "*" in fixed + suffix:
                continue
            file: Path = self.index.parent / fixed / f"{name}{suffix}"
            return file
        return None

    def with_manifest(self, document: Document) -> Catalog:
        """Return this catalog with the datasets of another manifest, which need not be a file yet.

        Raises:
            ManifestError: the manifest is invalid.
        """
        root = self.index.parent
        reader = CatalogReader(read_uncached, self.entries, groups=self.groups, root=root)
        parsed = parse_file(ParsedText(document), "manifest")
        reader.add_manifest(parsed, root, index_defaults(self.index_document()))
        if reader.problems:
            raise ManifestError(problem.displayed(str) for problem in reader.problems)
        reader.finish()
        return replace(self, entries=reader.entries, groups=reader.groups, content=None)

    def index_document(self) -> Document:
        """Return the root index as far as it can be read; its problems are those of the catalog."""
        shown = display_path(self.index)
        document = read_partially(self.index, shown_as=shown, is_index=True).document
        if document is None or not isinstance(document.value, dict):
            return Document({}, shown, Positions({}, [1, 1]))
        return document

    def including(self, files: Iterable[Path]) -> Catalog:
        """Return this catalog with the datasets of more files; files already in it are skipped."""
        wanted = list(files)
        if not wanted:
            return self
        names = {entry.document.file for entry in self.written}
        names |= {problem.file for problem in self.problems} | {str(self.index)}
        known = {Path(name).resolve() for name in names}
        new = [file for file in wanted if file.resolve() not in known]
        if not new:
            return self
        allowed = Settings.from_environment(root=self.index).allow_paths
        reach = IncludeReach(allowed)
        root = self.index.parent
        reader = CatalogReader(read_uncached, self.entries, reach, groups=self.groups, root=root)
        defaults = index_defaults(self.index_document())
        for file in new:
            # A link that leads out of the catalog, and of its own folder.
            refused = self.boundary.allowing([str(file.parent)]).refusal(str(file))
            if refused is not None:
                message, hint = refused
                problem = Problem(message=message, file=str(file), hint=hint, rule="outside-path")
                raise ManifestError([problem])
            if file.name == INDEX_NAME:
                reader.read_index(file.absolute(), lenient=True)
            else:
                reader.read_manifest(file, FileState.or_absent(file), root, defaults)
        reader.finish()
        problems = (*self.problems, *(problem.displayed(str) for problem in reader.problems))
        return replace(
            self, entries=reader.entries, groups=reader.groups, problems=problems, content=None
        )


def _only_in(name: str, own: Mapping[str, Any], given: Any) -> Any:
    """Return which samples of a dataset are in a member of a group, and what a call keeps of it.

    Raises:
        ManifestError: the call has a value of its own for what makes the member.
    """
    if given is None or not isinstance(given, Mapping):  # what is no mapping, the model refuses
        return own if given is None else given
    if both := sorted(own.keys() & given.keys()):
        message = f"'{name}' has the samples of one `{both[0]}`"
        hint = f"leave `{both[0]}` out, or name another member"
        file = "argument `only`"
        problem = Problem(message=message, file=file, path="", hint=hint, rule="wrong-value")
        raise ManifestError([problem])
    return {**own, **given}


def valid_index(path: Path) -> Document:
    """Return the document of an index.

    Raises:
        ManifestError: it is invalid or can't be read.
    """
    parsed = read_uncached(path, "index", FileState.or_absent(path))
    if parsed.problems or parsed.document is None:
        raise ManifestError(parsed.problems)
    return parsed.document


def read_uncached(path: Path, schema: SchemaName, _: FileState) -> ParsedFile:
    """Read and parse a file without the cache."""
    is_index = schema == "index"
    parsed = read_partially(path, shown_as=display_path(path), is_index=is_index)
    return parse_file(parsed, schema)
