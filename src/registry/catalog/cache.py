"""The catalog cache: one compiled file that resolves a name without parsing a manifest.

    lines of JSON: a header, the records of the files, and a checksum of both

The header has the names, a digest of the states of all files, and the offset of each record; a
record is decoded when a dataset in its file is looked up. The cache is optional: if it is missing,
damaged or out of date, the files are read and it is written again.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec
from msgspec import Struct

from registry.base.digest import digest_of
from registry.base.fs import best_effort_path, read_best_effort, write_best_effort
from registry.base.local_files import FileState
from registry.base.process_state import cached_property, gc_paused
from registry.boundary.boundary import Boundary
from registry.catalog.cached_files import (
    CachedFile,
    CachedFiles,
    cached_file_from,
    compact_json,
    document_from,
    package_version_key,
)
from registry.catalog.discovery import IncludeReach, list_files, listing_digest
from registry.catalog.groups import GroupEntry
from registry.catalog.reader import CatalogReader, LocatedProblem
from registry.errors import Problem
from registry.manifest.merge import (
    Entry,
    Layer,
    Merged,
    Place,
    current_name,
    index_defaults,
    parent_of,
)
from registry.manifest.models import DatasetSpec
from registry.manifest.paths import outside_path
from registry.manifest.resolve import checked_entry, spec_of
from registry.manifest.source_models import infer_source_keys
from registry.settings import most_manifests

if TYPE_CHECKING:
    from registry.manifest.schema import SchemaName
    from registry.yamldoc.reader import Document

__all__ = [
    "CompiledCatalog",
    "CompiledEntries",
    "ResolvedSpecs",
    "compile_catalog",
    "load_compiled",
    "open_compiled",
    "parents_of",
    "retired_of",
]


_MOST_DECODED = 256
"""Files whose documents stay in memory from one opening of a catalog to the next."""

_MOST_RESOLVED = 64
_SCALARS = (bool, int, float, str, type(None))


def open_compiled(
    index: Path, cache_dir: Path, reach: IncludeReach, *, deadline: float = math.inf
) -> CompiledCatalog:
    """Return the compiled catalog of an index, from the cache if no file has changed.

    Args:
        index: The index.
        cache_dir: The folder of the cache.
        reach: Where included manifests may be.
        deadline: As for `compile_catalog`.

    Raises:
        ManifestError: the index is invalid or can't be read.
    """
    path = best_effort_path(index, cache_dir, "catalog")
    cached = load_compiled(path)
    if cached is not None and cached.is_current(reach):
        return cached
    compiled = compile_catalog(index, cached, reach=reach, deadline=deadline)
    if cached is None or not cached.data.startswith(compiled.data):
        write_best_effort(path, compiled.data)
    return compiled


def load_compiled(path: Path) -> CompiledCatalog | None:
    """Return the cached catalog; None if there is none, or another version of the code wrote it."""
    compiled = _load(path, FileState.or_absent(path))
    return compiled if compiled and compiled.header["code"] == package_version_key() else None


# Whether the manifests are as they were is asked each time: a file that changes without a new state
# gives an older catalog, which is not current, and never a wrong one.
@functools.lru_cache(maxsize=4)
def _load(path: Path, state: FileState) -> CompiledCatalog | None:
    data = read_best_effort(path)
    if data is None:
        return None
    try:
        end = data.index(b"\n")
        header = msgspec.json.decode(memoryview(data)[:end])
        return CompiledCatalog(data, header, end + 1) if "code" in header else None
    except (ValueError, LookupError, TypeError):  # in another format
        return None


class CompiledCatalog(Struct, frozen=True, dict=True):
    """A catalog in its cached form."""

    data: bytes
    """The header and the records, with or without the checksum."""
    header: dict[str, Any]
    """The header of `data`, with the problems of all files."""
    start: int
    """Offset of the first record."""
    secret_documents: Mapping[int, Document] = {}
    """Documents that may contain secrets, by row; they are not written to the cache."""

    def is_current(self, reach: IncludeReach) -> bool:
        """Return whether no file has changed since it was read, with the same reach and limit."""
        header = self.header
        if header["racy"] or header["reach"] != reach.to_json():
            return False
        if header["limit"] != most_manifests():
            return False
        root, permissions = self.indexes[0], header["permissions"]
        indexes = [
            list_files(path, patterns, reach.boundary(root, index, permissions))
            for index, (path, patterns, _) in zip(self.indexes, header["indexes"], strict=True)
        ]
        # Comparing them takes less time than their digest.
        if indexes == self.__dict__.get("_current"):
            return True
        is_current = bool(header["listing"] == listing_digest(indexes))
        if is_current:
            self.__dict__["_current"] = indexes
        return is_current

    def entries(self, here: Path, display: Callable[[str], str]) -> CompiledEntries:
        """Return the datasets by name; what was decoded for an earlier call is used again.

        `display` returns a file's name in messages, which depends on the working folder, `here`.
        """
        known = self._entries.get(here)
        if known is None or known.decoded > _MOST_DECODED:
            known = self._entries[here] = CompiledEntries(self, display)
        return known

    @cached_property
    def _entries(self) -> dict[Path, CompiledEntries]:
        return {}

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The position of each dataset, in the order of the files."""
        names = self.header["names"]
        return dict(zip(names, range(len(names)), strict=True))

    @cached_property
    def permissions(self) -> dict[str, Any]:
        """The keys of the root index that permit something."""
        return dict(self.header["permissions"])

    @cached_property
    def indexes(self) -> tuple[Path, ...]:
        """The index files, the root first."""
        return tuple(Path(path) for path, _, _ in self.header["indexes"])

    @property
    def content(self) -> str | None:
        """Digest of the content of all files and of the code that reads them.

        None if a file has secrets, or could not be read in time.
        """
        cacheable = self.header["complete"] and not self.secret_documents
        return str(self.header["content"]) if cacheable else None

    def problems(self, display: Callable[[str], str]) -> Iterator[Problem]:
        """Yield the problems of the files; `display` returns a file's name in messages."""
        for problem, file, line in self.header["problems"]:
            yield LocatedProblem(Problem(**problem), file, line).displayed(display)

    def record(self, row: int) -> CachedFile:
        """Return the record of a file."""
        begin, end = self.header["offsets"][row : row + 2]
        return cached_file_from(self.data[self.start + begin : self.start + end])

    def records(self) -> Iterator[CachedFile]:
        """Yield the records of all files."""
        return map(self.record, range(len(self.header["offsets"]) - 1))


class CompiledEntries(Mapping[str, Entry]):
    """Datasets by name, in the order of the files; each is decoded on lookup."""

    def __init__(self, compiled: CompiledCatalog, display: Callable[[str], str]) -> None:
        self.resolved = ResolvedSpecs(self)
        """The datasets that were resolved from these entries."""
        self._numbers = compiled.numbers
        self.compiled = compiled
        self._display = display
        self._documents: dict[int, Document] = {}
        self._indexes: dict[int, tuple[Path, Layer]] = {}

    def __getitem__(self, name: str) -> Entry:
        places = self.compiled.header["overridden"].get(name, ())
        overridden = (
            Place(Path(folder), self._display(file), line) for folder, file, line in places
        )
        return Entry(name, *self._place(self._numbers[name]), tuple(overridden))

    def _place(self, number: int) -> tuple[Document, Path, Layer]:
        """Return the file of a dataset or a group, and the folder and defaults of its index."""
        header = self.compiled.header
        row, index = header["rows"][number], header["index_numbers"][number]
        if index not in self._indexes:
            path, _, index_row = header["indexes"][index]
            self._indexes[index] = Path(path).parent, index_defaults(self._document(index_row))
        return (self._document(row), *self._indexes[index])

    @property
    def parents(self) -> Mapping[str, str]:
        """What each dataset extends: no file is decoded for it."""
        return dict(self.compiled.header["parents"])

    @cached_property
    def groups(self) -> Mapping[str, GroupEntry]:
        """The groups by name; the files of groups are decoded for it."""
        first = len(self._numbers)
        return {
            name: GroupEntry(name, *self._place(first + number))
            for number, name in enumerate(self.compiled.header["groups"])
        }

    @property
    def retired(self) -> Mapping[str, str]:
        """What `retired_of` returns: no file is decoded for it."""
        return dict(self.compiled.header["retired"])

    def __contains__(self, name: object) -> bool:
        return name in self._numbers

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def decoded(self) -> int:
        """How many files were decoded so far."""
        return len(self._documents)

    def _document(self, row: int) -> Document:
        """Return the document of a record, the same object each time."""
        if row not in self._documents:
            record = self.compiled.record(row)
            secret, file = self.compiled.secret_documents.get(row), self._display(record.path)
            document = replace(secret, file=file) if secret else document_from(record, file)
            self._documents[row] = document
        return self._documents[row]


@gc_paused()  # it creates thousands of documents, and no garbage
def compile_catalog(
    index: Path,
    earlier: CompiledCatalog | None = None,
    *,
    reach: IncludeReach | None = None,
    lenient: bool = False,
    deadline: float = math.inf,
) -> CompiledCatalog:
    """Read the files of an index, parsing only those that have changed since `earlier`.

    Args:
        index: The index.
        earlier: The same catalog as it was before, perhaps in another folder.
        reach: Where included manifests may be.
        lenient: Collect the problems of an invalid index.
        deadline: The processor time of this process at which no further manifest is read.

    Raises:
        ManifestError: the index is invalid or can't be read.
    """
    files = CachedFiles(earlier.records() if earlier else ())
    reach = reach or IncludeReach()
    reader = CatalogReader(files, reach=reach, deadline=deadline)
    reader.read_index(index, lenient=lenient)
    reader.finish()
    secret = {
        row: document_from(record, record.path)
        for row, record in enumerate(files.read.values())
        if record.secret
    }
    lines = [
        (record.without_content() if row in secret else record).to_bytes()
        for row, record in enumerate(files.read.values())
    ]
    header = {
        **_header(index, reader, files),
        "reach": reach.to_json(),
        "limit": most_manifests(),
        "offsets": [0, *accumulate(map(len, lines))],
    }
    # A problem may quote a secret, so problems in these files are not written to the cache either.
    unquoted = {document.file for document in secret.values()}
    problems = [problem for problem in header["problems"] if problem[0]["file"] not in unquoted]
    racy = header["racy"] or bool(secret)
    first_line = compact_json({**header, "problems": problems, "racy": racy})
    return CompiledCatalog(first_line + b"".join(lines), header, len(first_line), secret)


def parents_of(entries: Mapping[str, Entry]) -> Mapping[str, str]:
    """Return what each dataset extends, of those that extend one of the entries."""
    if isinstance(entries, CompiledEntries):
        return entries.parents
    found = ((name, parent_of(entry, entries)) for name, entry in entries.items())
    return {name: parent.name for name, parent in found if parent is not None}


def retired_of(entries: Mapping[str, Entry]) -> Mapping[str, str]:
    """Return the names of datasets that were renamed or removed, with their names now, or ""."""
    if isinstance(entries, CompiledEntries):
        return entries.retired
    retired = (name for name, entry in entries.items() if entry.is_retired)
    found = {name: current_name(name, entries) for name in retired}
    return {
        name: new if new in entries and not entries[new].is_retired else ""
        for name, new in found.items()
    }


def _header(index: Path, reader: CatalogReader, files: CachedFiles) -> dict[str, Any]:
    rows = {key: row for row, key in enumerate(files.read)}
    index_numbers = {one.path: number for number, one in enumerate(reader.indexes)}
    entry_rows, entry_indexes = list[int](), list[int]()
    written: list[Entry | GroupEntry] = [*reader.entries.values(), *reader.groups.values()]
    for entry in written:
        own_index = cast("Document", entry.defaults.document)
        schema: SchemaName = "index" if entry.document is own_index else "manifest"
        entry_rows.append(rows[entry.document.file, schema])
        entry_indexes.append(index_numbers[own_index.file])
    problems = [[one.problem.to_dict(), one.first_file, one.first_line] for one in reader.problems]
    contents = [[path, schema, record.digest] for (path, schema), record in files.read.items()]
    code = package_version_key()
    return {
        "code": code,
        "listing": listing_digest(reader.indexes),
        # What could not be read in time is read next time, when the rest is cached.
        "racy": reader.is_stopped or any(record.racy for record in files.read.values()),
        "complete": not reader.is_stopped,
        "content": digest_of([code, contents, problems]),
        "indexes": [[one.path, one.patterns, rows[one.path, "index"]] for one in reader.indexes],
        "permissions": reader.permissions[index],
        "problems": problems,
        # Three flat lists decode much faster than ten thousand small ones.
        "names": list(reader.entries),
        "rows": entry_rows,
        "index_numbers": entry_indexes,
        "parents": parents_of(reader.entries),
        "retired": retired_of(reader.entries),
        "groups": list(reader.groups),
        "overridden": {
            name: [[str(one.folder), one.file, one.line] for one in entry.overridden]
            for name, entry in reader.entries.items()
            if entry.overridden
        },
    }


class _Resolved(Struct, frozen=True):
    boundary: Boundary
    merged: Merged
    spec: DatasetSpec


class ResolvedSpecs:
    """The datasets that were resolved last; equal calls give the same object."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        """Resolve from these entries, which stay as they are."""
        self._entries = entries
        self._known: dict[Hashable, _Resolved] = {}

    def resolve(
        self,
        name: str,
        *,
        boundary: Boundary,
        overrides: Mapping[str, Any] | None = None,
        source: str | None = None,
    ) -> DatasetSpec:
        """Return the resolved dataset `name`; arguments and errors as `registry.manifest.resolve`.

        Only files may differ from one call to the next, and with them whether a path leads outside
        the boundary: that is checked each time.
        """
        key = _key_of(name, overrides or {}, source)
        known = None if key is None else self._known.get(key)
        if known is not None and known.boundary == boundary and not any(outside_path(known.merged)):
            return known.spec
        merged = checked_entry(
            name, self._entries, boundary=boundary, overrides=overrides, source=source
        )
        spec = spec_of(self._entries[name], merged, self._entries)
        # The paths of a companion would have to be checked each time, too.
        if key is not None and spec.companion is None:
            if len(self._known) >= _MOST_RESOLVED:
                self._known.clear()
            self._known[key] = _Resolved(boundary, merged, spec)
        return spec


def _key_of(name: str, overrides: Mapping[str, Any], source: str | None) -> Hashable:
    """Return all that a spec depends on besides the entries and the boundary; None if unknown."""
    if not all(isinstance(value, _SCALARS) for value in overrides.values()):
        return None
    # Whether it is a folder decides about the type of anything else.
    if source is not None and infer_source_keys(source) is None:
        return None
    # An equal number of another type is an error, or another dataset: `limit: true` and `limit: 1`.
    values = tuple((key, type(value), value) for key, value in overrides.items())
    return name, values, source, os.getcwd(), os.path.expanduser("~")
