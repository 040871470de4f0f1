"""Read an index and all that it includes: datasets as they stand there, and what is wrong."""

from __future__ import annotations

import os
from collections import ChainMap
from collections.abc import Callable, Mapping, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec import Struct
from msgspec.structs import replace

from registry.base.file_state import FileState
from registry.catalog.discovery import Files, IndexFiles, included
from registry.errors import ManifestError, Problem
from registry.manifest.merge import Entry, Layer, defaults_of
from registry.yamldoc.reader import Document

if TYPE_CHECKING:
    from registry.manifest.schema import SchemaName

__all__ = ["LocatedProblem", "ParsedFile", "Read", "Reader", "parse_file"]


class ParsedFile(Struct, frozen=True):
    """What one file says."""

    document: Document | None
    """None where it can't be parsed."""
    problems: tuple[Problem, ...]
    """What is wrong with its form."""


Read = Callable[[Path, "SchemaName", FileState], ParsedFile]
"""Read a file that was in this state when it was found."""


def parse_file(parse: Callable[[], Document], schema: SchemaName) -> ParsedFile:
    """Parse a file and validate what it says."""
    from registry.manifest.validation import validate  # the warm catalog validates nothing

    try:
        document = parse()
    except ManifestError as error:
        return ParsedFile(None, error.problems)
    return ParsedFile(document, tuple(validate(document, schema)))


class LocatedProblem(Struct, frozen=True):
    """A problem, and the place that it speaks of besides its own."""

    problem: Problem
    first_file: str = ""
    """The file that has the name already, of a name that is taken."""
    first_line: int = 0

    def shown(self, show: Callable[[str], str]) -> Problem:
        """Return the problem with its files named as `show` does."""
        shown = replace(self.problem, file=show(self.problem.file))
        if not self.first_file:
            return shown
        return replace(shown, hint=f"by {show(self.first_file)}:{self.first_line}")


class Reader:
    """Collects datasets, problems and the files of each index, in the order of the indexes."""

    def __init__(self, read: Read, known: Mapping[str, Entry] | None = None) -> None:
        """Begin with datasets that are `known` and keep their names."""
        self.entries: MutableMapping[str, Entry] = {}
        if known is not None:
            # A chain writes to its first mapping only.
            self.entries = ChainMap(self.entries, cast("MutableMapping[str, Entry]", known))
        self.found: list[LocatedProblem] = []
        self.trust: dict[Path, frozenset[str]] = {}
        self.indexes: list[IndexFiles] = []
        self._read = read
        self._files: set[str] = set()
        self._folders: dict[str, str] = {}

    def read_index(self, path: Path) -> None:
        """Read an index and what it includes, once.

        Raises:
            ManifestError: the index itself can't be used.
        """
        if path in self.trust:
            return
        self.trust[path] = frozenset()
        state = FileState.or_absent(path)
        content = self._read(path, "index", state)
        if content.problems or content.document is None:
            self.indexes.append(IndexFiles(str(path), state))
            raise ManifestError(content.problems)
        self._read_included(path, state, content.document)

    def _read_included(self, path: Path, state: FileState, document: Document) -> None:
        self.trust[path] = frozenset(document.value.get("trust", ()))
        patterns = document.value.get("include", [])
        files = IndexFiles(str(path), state, patterns, included(patterns, path.parent))
        self.indexes.append(files)
        defaults = defaults_of(document)
        self._add(document, path.parent, defaults)
        for number, found in enumerate(files.included):
            if not self._include(found, path.parent, defaults):
                message = f"'{patterns[number]}' matches nothing"
                place = ("include", number)
                hint = "check the spelling"
                problem = document.problem(place, message, hint, rule="include-nothing")
                self.found.append(LocatedProblem(problem))

    def _include(self, found: Files | str | None, folder: Path, defaults: Layer) -> bool:
        """Read what one pattern stands for; return whether that is anything."""
        if isinstance(found, str):
            try:
                self.read_index(Path(found))
            except ManifestError as error:
                self.found.extend(map(LocatedProblem, error.problems))
            return True
        for path, state in found or ():
            self.read_manifest(path, state, folder, defaults)
        return bool(found and found.names)

    def read_manifest(self, path: Path, state: FileState, folder: Path, defaults: Layer) -> None:
        """Read a manifest of an index in `folder`, once, however it is written."""
        real = self._real(path)
        if real not in self._files:
            self._files.add(real)
            self.add_manifest(self._read(path, "manifest", state), folder, defaults)

    def _real(self, path: Path) -> str:
        """Return a path without links; their folder is the same for most files."""
        above, name = os.path.split(path)
        if name == ".." or os.path.islink(path):
            return os.path.realpath(path)
        if above not in self._folders:
            self._folders[above] = os.path.realpath(above)
        return os.path.join(self._folders[above], name)

    def add_manifest(self, content: ParsedFile, folder: Path, defaults: Layer) -> None:
        """Add what a manifest says."""
        self.found.extend(map(LocatedProblem, content.problems))
        if content.document is not None:
            self._add(content.document, folder, defaults)

    def _add(self, document: Document, folder: Path, defaults: Layer) -> None:
        datasets = document.value.get("datasets") if isinstance(document.value, dict) else None
        for name, value in datasets.items() if isinstance(datasets, dict) else ():
            if not isinstance(value, dict):
                continue
            entry = Entry(name, document, folder, defaults)
            first = self.entries.setdefault(name, entry)
            if first is not entry:
                self.found.append(_taken(entry, first))


def _taken(entry: Entry, first: Entry) -> LocatedProblem:
    message = f"the name '{entry.name}' is taken already"
    problem = entry.problem((), message, rule="duplicate-name")
    line = first.document.position(("datasets", entry.name)).line
    return LocatedProblem(problem, first.document.file, line)
