"""Read an index and everything it includes: the datasets as written, and problems."""

from __future__ import annotations

import math
import os
import time
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct
from msgspec.structs import replace

from registry.base.local_files import ABSENT, FileState
from registry.boundary.boundary import Boundary
from registry.catalog.discovery import (
    PACKAGE,
    GlobMatches,
    IncludeReach,
    IndexFiles,
    find_included,
    package_of,
    permissions_of,
)
from registry.catalog.groups import GroupEntry
from registry.errors import ManifestError, Problem, count_text
from registry.manifest.derived import derived_entries
from registry.manifest.merge import Entry, Layer, index_defaults
from registry.settings import most_manifests
from registry.yamldoc.reader import Document, ParsedText, Positions, is_within, json_path

if TYPE_CHECKING:
    from registry.manifest.schema import SchemaName

__all__ = [
    "CatalogReader",
    "LocatedProblem",
    "ParsedFile",
    "ReadFile",
    "conflicts",
    "may_hide_datasets",
    "parse_file",
]

_IF_YOUR_OWN = "write a narrower pattern, or set REGISTRY_MAX_MANIFESTS if the catalog is your own"
_IF_LONG = "the others are checked; set REGISTRY_VALIDATE_SECONDS if the catalog is your own"
_DATASETS_PER_FILE = 5
"""How many datasets a catalog may have for each manifest that it may have."""
_HIDING = frozenset(
    {"unreadable-file", "yaml-syntax", "yaml-limit", "include-nothing", "include-limit"}
)


class ParsedFile(Struct, frozen=True):
    """One file, parsed and validated."""

    document: Document | None
    """None if it can't be parsed."""
    problems: tuple[Problem, ...]
    """Violations of its schema, or why it can't be parsed."""


ReadFile = Callable[[Path, "SchemaName", FileState], ParsedFile]
"""Reads a file, whose state was `FileState` when its folder was listed."""


def parse_file(parsed: ParsedText, schema: SchemaName) -> ParsedFile:
    """Validate what could be parsed of a file."""
    from registry.manifest.validation import validate  # a warm catalog validates nothing

    if parsed.document is None:
        return ParsedFile(None, parsed.problems)
    found = validate(parsed.document, schema)
    if parsed.problems:
        # A value that the parser refuses is null, and a key that is missing may be in the part that
        # can't be parsed; what is below the place of a problem was parsed.
        unsure = {one.path for one in parsed.problems} - {"$"}
        unsure |= set(map(json_path, parsed.incomplete))
        found = sorted(
            [*parsed.problems, *(one for one in found if one.path not in unsure)],
            key=lambda problem: (problem.line, problem.column),
        )
    return ParsedFile(parsed.document, tuple(found))


def may_hide_datasets(problem: Problem) -> bool:
    """Return whether a file, or a part of one, is not read because of a problem.

    Then a dataset that seems not to exist may be there.
    """
    return problem.rule in _HIDING


class CatalogReader:
    """Collects datasets, problems and the files of each index, in the order of the indexes."""

    def __init__(
        self,
        read: ReadFile,
        known: Mapping[str, Entry] | None = None,
        reach: IncludeReach | None = None,
        *,
        groups: Mapping[str, GroupEntry] | None = None,
        root: Path | None = None,
        deadline: float = math.inf,
    ) -> None:
        """Start with the datasets in `known`, whose names are in use.

        Args:
            read: Reads a file.
            known: Datasets that are already read.
            reach: Where included manifests may be, beside the folders of the indexes.
            groups: Groups that are already read.
            root: The folder of the catalog that has these; else that of the index read first.
            deadline: The processor time of this process at which no further manifest is read.
        """
        self.is_stopped = False
        """Whether manifests were not read because of the deadline."""
        self._deadline = deadline
        self.entries: MutableMapping[str, Entry] = {}
        if known is not None:
            # A chain writes to its first mapping only.
            self.entries = ChainMap(self.entries, cast("MutableMapping[str, Entry]", known))
        self.groups: dict[str, GroupEntry] = dict(groups or {})
        self.problems: list[LocatedProblem] = []
        self.permissions: dict[Path, dict[str, Any]] = {}
        self.indexes: list[IndexFiles] = []
        self._root = root
        self._has_splits = False
        self._claims: dict[str, list[Entry]] = {}
        self._read = read
        self._reach = reach or IncludeReach()
        self._files_read: set[str] = set()
        self._real_folders: dict[str, str] = {}

    def read_index(self, path: Path, *, lenient: bool = False) -> None:
        """Read an index and what it includes, unless it was read already.

        Raises:
            ManifestError: it is invalid or can't be read; if `lenient`, its problems are collected,
                and what can be read in spite of them is read.
        """
        if path in self.permissions:
            return
        self._root = path.parent if not self.permissions else self._root
        self.permissions[path] = {}  # an included index may include this one
        self._files_read.add(os.path.realpath(path))  # `*.yaml` beside it is not about itself
        state = FileState.or_absent(path)
        parsed = self._read(path, "index", state)
        is_missing = os.path.isdir(path) or (state == ABSENT and _is_missing(path))
        if parsed.problems and is_missing:
            hint = "name a folder with a datasets.yaml, or create one: `registry init FOLDER`"
            place = {"line": 0, "column": 0, "path": ""}
            missing = replace(parsed.problems[0], message="there is no catalog", hint=hint, **place)
            parsed = ParsedFile(None, (missing,))
        if parsed.problems and not lenient:
            self.indexes.append(IndexFiles(str(path), state))
            raise ManifestError(parsed.problems)
        document = parsed.document or Document({}, str(path), Positions({}, [1, 1]))
        patterns = _patterns(document)
        problems = parsed.problems
        if not problems:  # an invalid index permits nothing
            self.permissions[path] = permissions_of(document)
        elif not any(patterns) and any(
            may_hide_datasets(one) or one.path == "$" or is_within(one.path, "$.include")
            for one in problems
        ):
            hints = (problems[0].hint, "until then no manifest is checked")
            hint = "; ".join(filter(None, hints))
            problems = (replace(problems[0], hint=hint), *problems[1:])
        self.problems.extend(map(LocatedProblem, problems))
        root = next(iter(self.permissions))
        boundary = self._reach.boundary(root, path, self.permissions[root])
        included = find_included(patterns, path.parent, boundary)
        self.indexes.append(IndexFiles(str(path), state, patterns, included))
        defaults = index_defaults(document)
        self._add(document, path.parent, defaults)
        for number, found in enumerate(included):
            if isinstance(found, str):
                self.read_index(Path(found), lenient=True)
            elif found is not None and (found.names or found.limit or found.outside):
                where = path.parent, defaults, boundary
                problem = self._read_matches(found, document, number, where)
                self.problems += [problem] if problem else []
            elif pattern := patterns[number]:
                is_package = pattern.startswith(PACKAGE)
                hint = "install the package" if is_package else "check the spelling"
                nothing = _of_include(document, number, "matches nothing", hint, "include-nothing")
                self.problems.append(nothing)

    def _read_matches(
        self, found: GlobMatches, index: Document, number: int, where: tuple[Path, Layer, Boundary]
    ) -> LocatedProblem | None:
        """Read what a pattern of an index matches; return why not all of it was read, if so."""
        most = most_manifests()
        limit = found.limit
        if not limit and len(self._files_read) + len(found.names) > most:
            limit = f"the catalog has more than {most:,} manifests"
        if limit:
            return _of_include(index, number, f"is not read to the end: {limit}")
        folder, defaults, boundary = where
        refused, most = found.outside, _DATASETS_PER_FILE * most
        for position, (file, state) in enumerate(found):
            if time.process_time() > self._deadline:
                self.is_stopped = True
                why = f"is not read after {count_text(position, 'manifest')}: it takes too long"
                return _of_include(index, number, why, _IF_LONG)
            if len(self.entries) > most:
                limit = f"the catalog has more than {most:,} datasets"
                return _of_include(index, number, f"is not read to the end: {limit}")
            if boundary.admits(self._real_path(file)):
                self.read_manifest(file, state, folder, defaults)
            else:
                refused = refused or str(file)
        if not refused:
            return None
        message, hint = boundary.refusal(refused) or ("changed while it was read", "try again")
        message, path = f"'{refused}' {message}", ("include", number)
        return LocatedProblem(index.problem(path, message, hint, rule="outside-path"))

    def finish(self) -> None:
        """Decide what each name means, and add the splits, once all files are read."""
        for name, claims in self._claims.items():
            self._settle(name, claims)
        if self._has_splits:
            for entry in list(derived_entries(self.entries)):
                self.entries.setdefault(entry.name, entry)

    def _settle(self, name: str, claims: list[Entry]) -> None:
        """Decide which of several datasets has a name, and report those that are not overridden."""
        left = [one for one in claims if not any(self._overrides(by, one) for by in claims)]
        left = left or claims  # of packages that include each other
        # Its dependents in the package are written for it, and only the own can be changed.
        first, *others = sorted(left, key=self._is_own)
        taken = tuple(one.place for one in claims if self._overrides(first, one))
        self.entries[name] = replace(first, overridden=taken)
        self.problems += (_duplicate_name(one, first) for one in others)
        if len(claims) == 1 and not any(may_hide_datasets(one.problem) for one in self.problems):
            message = f"no included package has a dataset '{name}'"
            hint = "check the spelling and `include`, or remove `override`"
            problem = first.problem(("override",), message, hint, rule="override-nothing")
            self.problems.append(LocatedProblem(problem))

    def _overrides(self, entry: Entry, other: Entry) -> bool:
        """Return whether a dataset takes the place of one in a package that its index includes."""
        if not entry.overrides or entry.folder == other.folder or self._is_own(other):
            return False
        if self._is_own(entry):
            return True
        included = {Path(one.path).parent: one.included for one in self.indexes}
        reached, waiting = {entry.folder}, [entry.folder]
        while waiting:
            packages = (one for one in included.get(waiting.pop(), ()) if isinstance(one, str))
            new = {Path(one).parent for one in packages} - reached
            reached |= new
            waiting += new
        return other.folder in reached

    def read_manifest(self, path: Path, state: FileState, folder: Path, defaults: Layer) -> None:
        """Read a manifest of the index in `folder`, unless it was read by this or another path."""
        real = self._real_path(path)
        if real not in self._files_read:
            self._files_read.add(real)
            self.add_manifest(self._read(path, "manifest", state), folder, defaults)

    def _real_path(self, path: Path) -> str:
        parent, name = os.path.split(path)
        if name == ".." or os.path.islink(path):
            return os.path.realpath(path)
        # Thousands of files share a folder, so resolve its links only once.
        if parent not in self._real_folders:
            self._real_folders[parent] = os.path.realpath(parent)
        return os.path.join(self._real_folders[parent], name)

    def add_manifest(self, parsed: ParsedFile, folder: Path, defaults: Layer) -> None:
        """Add the datasets and problems of a manifest."""
        self.problems.extend(map(LocatedProblem, parsed.problems))
        if parsed.document is not None:
            self._add(parsed.document, folder, defaults)

    def _add(self, document: Document, folder: Path, defaults: Layer) -> None:
        # Add the names even in an invalid file, as far as its structure allows.
        datasets = document.value.get("datasets") if isinstance(document.value, dict) else None
        for name, value in datasets.items() if isinstance(datasets, dict) else ():
            if not isinstance(value, dict):
                continue
            self._has_splits |= "splits" in value
            entry = Entry(name, document, folder, defaults)
            first = self.entries.setdefault(name, entry)
            if first is not entry:
                self._claims.setdefault(name, [first]).append(entry)
            elif entry.overrides:
                self._claims[name] = [entry]
        groups = document.value.get("groups") if isinstance(document.value, dict) else None
        for name, value in groups.items() if isinstance(groups, dict) else ():
            if not isinstance(value, dict):
                continue
            group = GroupEntry(name, document, folder, defaults)
            other = self.groups.setdefault(name, group)
            if other is not group:
                if self._is_own(group) and not self._is_own(other):
                    self.groups[name], group, other = group, other, group
                self.problems.append(_duplicate_name(group, other))

    def _is_own(self, entry: Entry | GroupEntry) -> bool:
        """Return whether a dataset, or a group, is of the root index, and not of a package."""
        return entry.folder == self._root


def _patterns(index: Document) -> list[str]:
    """Return the `include` of an index; an invalid item is "", which matches nothing."""
    patterns = index.value.get("include") if isinstance(index.value, dict) else None
    items = patterns if isinstance(patterns, list) else []
    return [item if isinstance(item, str) else "" for item in items]


def _is_missing(path: Path) -> bool:
    """Return whether there is nothing at a path; what may not be looked at may be there."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


# --- problems of files, and of `include` ---


class LocatedProblem(Struct, frozen=True):
    """A problem whose files are paths, which `displayed` replaces by their names in messages."""

    problem: Problem
    first_file: str = ""
    """For a duplicate name: the file of the dataset that has it; the hint ends with its place."""
    first_line: int = 0

    def displayed(self, display: Callable[[str], str]) -> Problem:
        """Return the problem with its files named by `display`."""
        problem = replace(self.problem, file=display(self.problem.file))
        if not self.first_file:
            return problem
        place = f"{display(self.first_file)}:{self.first_line}"
        return replace(problem, hint=f"{problem.hint} {place}")


def _of_include(
    document: Document, number: int, why: str, hint: str = _IF_YOUR_OWN, rule: str = "include-limit"
) -> LocatedProblem:
    """Return the problem for a pattern in `include`."""
    message = f"'{document.value['include'][number]}' {why}"
    return LocatedProblem(document.problem(("include", number), message, hint, rule=rule))


def _duplicate_name(entry: Entry | GroupEntry, first: Entry | GroupEntry) -> LocatedProblem:
    """Return the problem for a dataset, or a group, whose name is already in use."""
    message, hint = f"the name '{entry.name}' is already in use", "by"
    package = "" if first.folder == entry.folder else package_of(first.folder)
    if package:
        message = f"the name '{entry.name}' is already defined by package {package}"
        hint = "choose another; that one is at"
        if isinstance(entry, Entry):
            hint = "choose another, or write `override: true` to take its place; that one is at"
    problem = entry.problem((), message, hint, rule="duplicate-name")
    table = "groups" if isinstance(first, GroupEntry) else "datasets"
    line = first.document.position((table, entry.name)).line
    return LocatedProblem(problem, first.document.file, line)


def conflicts(entry: Entry, problems: Iterable[Problem], root: Path) -> list[Problem]:
    """Return the problems of other datasets that have the name of a package's dataset."""
    if entry.folder == root:
        return []
    path = json_path(("datasets", entry.written))
    return [one for one in problems if (one.rule, one.path) == ("duplicate-name", path)]
