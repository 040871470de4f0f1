"""The cached record of a file in a catalog, and the version of the code that reads the files."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sys
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from registry.base.digest import digest_of
from registry.base.local_files import ABSENT, FileState, open_beside, open_regular
from registry.base.locations import Location
from registry.catalog.reader import ParsedFile, parse_file
from registry.errors import Problem
from registry.settings import builtin_root
from registry.yamldoc.reader import MAX_BYTES, Document, Positions, parse_partially, unreadable

if TYPE_CHECKING:
    from registry.manifest.schema import SchemaName

__all__ = [
    "CachedFile",
    "CachedFiles",
    "Key",
    "cached_file_from",
    "compact_json",
    "contains_secret",
    "document_from",
    "may_contain_secret",
    "package_version_key",
]

# `json.dumps` with options creates an encoder on each call.
_COMPACT = json.JSONEncoder(separators=(",", ":"))
Key = tuple[str, "SchemaName"]
"""Path and schema: a file may be read as an index and as a manifest."""
_LOADED = time.time_ns()
"""When this process began to load its code."""


def compact_json(value: Any) -> bytes:
    """Return a line of JSON, in ASCII."""
    return _COMPACT.encode(value).encode() + b"\n"


@dataclass(frozen=True, kw_only=True)
class CachedFile:
    """A file, as it was when it was read."""

    path: str
    schema: SchemaName
    """The schema that it was validated against."""
    state: FileState
    racy: bool
    """Whether its content may change without a change of state, so that it is always read."""
    digest: str
    """sha256 of its bytes; empty if it can't be read."""
    secret: bool
    """Whether it may contain a secret, so that its content is not written to the cache."""
    problems: tuple[Problem, ...]
    body: bytes
    """Two lines of JSON: the value, and its positions; empty if it can't be parsed."""

    def without_content(self) -> CachedFile:
        """Return the record without the file's content, so that the file is always parsed."""
        return replace(self, digest="", racy=True, problems=(), body=b"")

    def to_bytes(self) -> bytes:
        """Return the record as lines of JSON."""
        head = {**vars(self), "problems": [problem.to_dict() for problem in self.problems]}
        del head["body"]
        return compact_json(head) + self.body

    def parsed(self) -> ParsedFile:
        """Return the result of parsing the file."""
        document = document_from(self, self.path) if self.body else None
        return ParsedFile(document, self.problems)


def cached_file_from(data: bytes | memoryview) -> CachedFile:
    """Return the record from the result of `to_bytes`."""
    head, _, body = bytes(data).partition(b"\n")
    fields = json.loads(head)
    problems = tuple(Problem(**problem) for problem in fields.pop("problems"))
    state = FileState(*fields.pop("state"))
    return CachedFile(**fields, state=state, problems=problems, body=body)


def document_from(record: CachedFile, file: str) -> Document:
    """Return the document of a record with a body; `file` is its name in messages."""
    value_line, positions_line = record.body.splitlines()
    value = json.loads(value_line)
    return Document(value, file, Positions(value, positions_line))


def may_contain_secret(body: bytes) -> bool:
    """Return whether a document as JSON may contain a secret: a fast check that excludes most."""
    if b'"fs_options"' in body:
        return True
    return b"://" in body and (b"@" in body or b"?" in body or b"#" in body)


def contains_secret(value: Any, *, in_options: bool = False) -> bool:
    """Return whether a document may contain a secret: in a URL, or literally in `fs_options`."""
    from registry.manifest.paths import strings_in  # few files may have secrets
    from registry.manifest.source_checks import OF_PAGES, secret_of

    if isinstance(value, dict):
        return any(
            any(secret_of(Location(text)) for _, text in strings_in(item))
            if key in OF_PAGES and not in_options
            else contains_secret(
                item, in_options=(in_options and key != "env") or key == "fs_options"
            )
            for key, item in value.items()
            if key != "description"
        )
    if isinstance(value, list):
        return any(contains_secret(item, in_options=in_options) for item in value)
    if isinstance(value, str) and "://" in value:
        return Location(value).has_secret
    return in_options and isinstance(value, str | int | float) and not isinstance(value, bool)


class CachedFiles:
    """Reads the files of a catalog, and collects a record of each."""

    def __init__(self, known: Iterable[CachedFile] = ()) -> None:
        """Start with earlier records; files that have not changed are not parsed again."""
        self.read: dict[Key, CachedFile] = {}
        self._known = {(record.path, record.schema): record for record in known}
        self._by_content = {(one.digest, one.schema): one for one in self._known.values()}

    def __call__(self, path: Path, schema: SchemaName, listed: FileState) -> ParsedFile:
        """Return the content of a file, whose state was `listed` when its folder was listed."""
        key = (str(path), schema)
        known = self._known.get(key)
        if known is None or known.racy or known.state != listed:
            known, parsed = _read(path, schema, listed, self._by_content)
        else:
            parsed = known.parsed()
        self.read[key] = known
        return parsed


def _read(
    path: Path,
    schema: SchemaName,
    listed: FileState,
    known: Mapping[tuple[str, SchemaName], CachedFile],
) -> tuple[CachedFile, ParsedFile]:
    """Read a file, and parse it unless its bytes, by their digest and schema, are known."""
    file, racy = str(path), listed.is_racy()
    try:
        with (open_beside if schema == "index" else open_regular)(path) as opened:
            state = FileState.of(os.fstat(opened.fileno()))
            # One byte more than its size, as requesting MAX_BYTES would take longer than reading.
            data = opened.read(min(state.size, MAX_BYTES) + 1)
            if len(data) > state.size:  # it grew
                data += opened.read(MAX_BYTES + 1 - len(data))
    except OSError as error:
        # Permissions can change without a change of state, so such a file is always read.
        parsed = ParsedFile(None, unreadable(file, error).problems)
        return _record(file, schema, parsed, state=ABSENT, racy=True, digest=""), parsed
    racy = racy or state != listed  # it changed since it was listed, so read it again next time
    digest = hashlib.sha256(data).hexdigest()
    same = known.get((digest, schema))
    # Problems name the file.
    if same is not None and (same.path == file or not same.problems):
        unchanged = replace(same, path=file, state=listed, racy=racy)
        return unchanged, unchanged.parsed()
    parsed = parse_file(parse_partially(data, file=file), schema)
    return _record(file, schema, parsed, state=listed, racy=racy, digest=digest), parsed


def _record(path: str, schema: SchemaName, parsed: ParsedFile, **fields: Any) -> CachedFile:
    document, body, secret = parsed.document, b"", False
    if document is not None:
        body = compact_json(document.value) + compact_json(document.positions.numbers)
        secret = may_contain_secret(body) and contains_secret(document.value)
    problems = parsed.problems
    return CachedFile(
        path=path, schema=schema, secret=secret, problems=problems, body=body, **fields
    )


@functools.cache
def package_version_key() -> str:
    """Return a key that changes with Python's version, and with any of our modules or schemas.

    For an installed release it is equal on all machines, so that a cluster can share a cache. It
    uses the digests in the installer's RECORD, as the version number alone is the same for
    different commits installed by `pip install git+…`.
    """
    package = Path(__file__).parents[1]
    records = list(package.parent.glob("eval_registry-*.dist-info/RECORD"))
    # In a checkout the schemas are next to the package. Use the states of its files: reading them
    # all would take longer than the rest of opening a dataset.
    files = [str(record) for record in records] or [
        os.path.join(folder, name)
        for top in (package, builtin_root().parent / "schemas")
        for folder, _, names in os.walk(top)
        for name in names
        if name.endswith((".py", ".json"))
    ]
    states = {file: FileState.of(file) for file in sorted(files)}
    # If a file changed after this process loaded it, the process runs other code than the files
    # contain, so it shares no cache. By ctime, because mtime can be set to any value.
    if any(state.ctime_ns >= _LOADED for state in states.values()):
        return uuid.uuid4().hex
    if not records:
        return digest_of([sys.version, [[file, *state] for file, state in states.items()]])
    lines = [line for record in records for line in record.read_text("utf-8").splitlines()]
    # Compiled modules have no digest in RECORD, and not every installer creates them.
    ours = sorted(line for line in lines if line.startswith("registry/") and ",sha256=" in line)
    return digest_of([sys.version, ours])
