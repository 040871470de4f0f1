"""The compiled catalog: one file in the cache from which a name resolves without parsing any.

    lines of JSON: a header, the records of the files, and a checksum of all that

The header has the names, the state of all files as a digest, and where each record begins; a
record is decoded when a dataset of its file is asked for. It only saves work: where it is absent,
damaged, of another version or of other files, the files are read, and it is written anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec
from msgspec import Struct

from registry.base.best_effort import best_effort_path, read_best_effort, write_best_effort
from registry.base.digest import digest_of
from registry.base.gc import gc_paused
from registry.catalog.cached_files import (
    CachedFile,
    CachedFiles,
    Key,
    cached_file_from,
    compact_json,
    document_from,
)
from registry.catalog.code_version import package_version_key
from registry.catalog.discovery import listing_digest, look_at
from registry.catalog.reader import LocatedProblem, Reader
from registry.errors import Problem
from registry.manifest.merge import Entry, Layer, defaults_of

if TYPE_CHECKING:
    from registry.manifest.schema import SchemaName
    from registry.yamldoc.reader import Document

__all__ = [
    "Compiled",
    "CompiledEntries",
    "compile_catalog",
    "open_index",
]


def open_index(index: Path, cache_dir: Path) -> Compiled:
    """Return the compiled catalog of an index: the one in the cache, where it still holds.

    Raises:
        ManifestError: the index itself can't be used.
    """
    place = best_effort_path(index, cache_dir, "catalog")
    stored = _load(place)
    if stored is not None and stored.is_current():
        return stored
    compiled = compile_catalog(index, stored)
    if stored is None or not stored.data.startswith(compiled.data):
        write_best_effort(place, compiled.data)
    return compiled


def _load(path: Path) -> Compiled | None:
    """Return the catalog that is kept, None where there is none of this version."""
    data = read_best_effort(path)
    if data is None:
        return None
    try:
        compiled = _compiled(data)
        return compiled if compiled.header["code"] == package_version_key() else None
    except (ValueError, LookupError, TypeError):  # of another form
        return None


def _compiled(data: bytes) -> Compiled:
    end = data.index(b"\n")
    return Compiled(data, msgspec.json.decode(memoryview(data)[:end]), end + 1)


class Compiled(Struct, frozen=True):
    """A catalog in the form that is kept."""

    data: bytes
    """A header and the records, as they are kept, with or without their checksum."""
    header: dict[str, Any]
    """What the header of `data` says, with the problems of all files."""
    start: int
    """Where the records begin."""
    withheld: Mapping[int, Document] = {}
    """Documents that are only in memory, by their record: they may hold secrets."""

    def is_current(self) -> bool:
        """Return whether all files are those that were read."""
        indexes = [look_at(path, patterns) for path, patterns, _ in self.header["indexes"]]
        return not self.header["racy"] and listing_digest(indexes) == self.header["listing"]

    @property
    def trust(self) -> frozenset[str]:
        """Packages whose functions may be mappers, as the root index says."""
        return frozenset(self.header["trust"])

    @property
    def content(self) -> str | None:
        """Digest of what all files say and of the code that reads them; None with secrets."""
        return None if self.withheld else str(self.header["content"])

    def problems(self, show: Callable[[str], str]) -> Iterator[Problem]:
        """Yield what is wrong in the files, which are named as `show` does."""
        for problem, file, line in self.header["found"]:
            yield LocatedProblem(Problem(**problem), file, line).shown(show)

    def record(self, row: int) -> CachedFile:
        """Return the record of a file."""
        begin, end = self.header["ends"][row : row + 2]
        return cached_file_from(self.data[self.start + begin : self.start + end])

    def records(self) -> Iterator[CachedFile]:
        """Yield the records of all files."""
        return map(self.record, range(len(self.header["ends"]) - 1))


class CompiledEntries(Mapping[str, Entry]):
    """Datasets by name, in the order of the files; one is decoded when it is asked for."""

    def __init__(self, compiled: Compiled, show: Callable[[str], str]) -> None:
        header = compiled.header
        # Flat lists, because ten thousand small ones take a while to decode.
        self._places = dict(zip(header["names"], range(len(header["names"])), strict=True))
        self._compiled = compiled
        self._show = show
        self._documents: dict[int, Document] = {}
        self._brought_by: dict[int, tuple[Path, Layer]] = {}

    def __getitem__(self, name: str) -> Entry:
        place = self._places[name]
        row, number = self._compiled.header["rows"][place], self._compiled.header["brought"][place]
        if number not in self._brought_by:
            path, _, index_row = self._compiled.header["indexes"][number]
            self._brought_by[number] = Path(path).parent, defaults_of(self._document(index_row))
        return Entry(name, self._document(row), *self._brought_by[number])

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def _document(self, row: int) -> Document:
        """Return the document of a record, the same one each time."""
        if row not in self._documents:
            record = self._compiled.record(row)
            secret, file = self._compiled.withheld.get(row), self._show(record.path)
            document = replace(secret, file=file) if secret else document_from(record, file)
            self._documents[row] = document
        return self._documents[row]


@gc_paused()  # thousands of documents are held, and none of them goes
def compile_catalog(index: Path, old: Compiled | None) -> Compiled:
    """Read the files of an index; those that are as in `old` are not parsed.

    Raises:
        ManifestError: the index itself can't be used.
    """
    records = CachedFiles(old.records() if old else ())
    reader = Reader(records)
    reader.read_index(index)
    secret = _withheld(records)
    hidden = {document.file for document in secret.values()}
    lines = [
        (record.withheld() if row in secret else record).to_bytes()
        for row, record in enumerate(records.read.values())
    ]
    header = {**_header(index, reader, records), "ends": [0, *accumulate(map(len, lines))]}
    kept = [one for one in header["found"] if one[0]["file"] not in hidden]
    racy = header["racy"] or bool(secret)
    head = compact_json({**header, "found": kept, "racy": racy})
    return Compiled(head + b"".join(lines), header, len(head), secret)


def _withheld(records: CachedFiles) -> dict[int, Document]:
    """Return the documents that are not to be kept on a disk."""
    return {
        row: document_from(record, record.path)
        for row, record in enumerate(records.read.values())
        if record.secret
    }


def _header(index: Path, reader: Reader, records: CachedFiles) -> dict[str, Any]:
    rows = {key: number for number, key in enumerate(records.read)}
    numbers = {one.path: number for number, one in enumerate(reader.indexes)}
    places = [_place(entry, rows, numbers) for entry in reader.entries.values()]
    found = [[one.problem.to_dict(), one.first_file, one.first_line] for one in reader.found]
    contents = [[path, schema, one.digest] for (path, schema), one in records.read.items()]
    return {
        "code": package_version_key(),
        "listing": listing_digest(reader.indexes),
        "racy": any(record.racy for record in records.read.values()),
        "content": digest_of([package_version_key(), contents, found]),
        "indexes": [[one.path, one.patterns, rows[one.path, "index"]] for one in reader.indexes],
        "trust": sorted(reader.trust[index]),
        "found": found,
        "names": list(reader.entries),
        "rows": [row for row, _ in places],
        "brought": [number for _, number in places],
    }


def _place(entry: Entry, rows: Mapping[Key, int], numbers: Mapping[str, int]) -> tuple[int, int]:
    """Return the record that an entry stands in, and the number of its index."""
    index = cast("Document", entry.defaults.document)
    schema: SchemaName = "index" if entry.document is index else "manifest"
    return rows[entry.document.file, schema], numbers[index.file]
