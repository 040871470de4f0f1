"""What is kept of each file of a catalog: its state, its problems, its document as JSON."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from registry.base.file_state import ABSENT, FileState
from registry.base.locations import has_secret
from registry.catalog.reader import ParsedFile, parse_file
from registry.errors import Problem
from registry.yamldoc.reader import (
    MAX_BYTES,
    Document,
    Positions,
    parse_bytes,
    unreadable,
)

if TYPE_CHECKING:
    from registry.manifest.schema import SchemaName

__all__ = [
    "CachedFile",
    "CachedFiles",
    "Key",
    "cached_file_from",
    "compact_json",
    "document_from",
    "holds_secret",
]

_PROSE = {"description", "homepage"}
# `json.dumps` makes an encoder at each call.
_COMPACT = json.JSONEncoder(separators=(",", ":"))

Key = tuple[str, "SchemaName"]
"""A file may be read as an index and as a manifest."""


def compact_json(value: Any) -> bytes:
    """Return a line of JSON, in ASCII."""
    return _COMPACT.encode(value).encode() + b"\n"


@dataclass(frozen=True, kw_only=True)
class CachedFile:
    """A file as it was when it was read."""

    path: str
    schema: SchemaName
    """What it was read as."""
    state: FileState
    racy: bool
    """Whether the content may change while the state stays, so that it is read each time."""
    digest: str
    """sha256 of its bytes, empty where it can't be read."""
    secret: bool
    """Whether it may hold a secret, so that what it says is kept in memory only."""
    problems: tuple[Problem, ...]
    body: bytes
    """Two lines of JSON: the value, and the places in it; empty where it can't be parsed."""

    def withheld(self) -> CachedFile:
        """Return the record without what the file says, so that it is parsed each time."""
        return replace(self, digest="", racy=True, problems=(), body=b"")

    def to_bytes(self) -> bytes:
        """Return the record as lines of JSON."""
        head = {**vars(self), "problems": [one.to_dict() for one in self.problems]}
        del head["body"]
        return compact_json(head) + self.body


def cached_file_from(data: bytes | memoryview) -> CachedFile:
    """Return the record that `to_bytes` wrote."""
    head, _, body = bytes(data).partition(b"\n")
    fields = json.loads(head)
    problems = tuple(Problem(**one) for one in fields.pop("problems"))
    state = FileState(*fields.pop("state"))
    return CachedFile(**fields, state=state, problems=problems, body=body)


def document_from(record: CachedFile, shown_as: str) -> Document:
    """Return the document of a record that has a body."""
    text, places = record.body.splitlines()
    value = json.loads(text)
    return Document(value, shown_as, Positions(value, places))


def holds_secret(value: Any, *, options: bool = False) -> bool:
    """Return whether a document may hold a secret: in a URL, or literally in `fs_options`."""
    if isinstance(value, dict):
        return any(
            holds_secret(item, options=(options and key != "env") or key == "fs_options")
            for key, item in value.items()
            if key not in _PROSE
        )
    if isinstance(value, list):
        return any(holds_secret(item, options=options) for item in value)
    if isinstance(value, str) and "://" in value:
        return has_secret(value)
    return options and isinstance(value, str | int | float) and not isinstance(value, bool)


def _body(document: Document) -> bytes:
    return compact_json(document.value) + compact_json(document.positions.numbers)


class CachedFiles:
    """Reads the files of a catalog, and keeps a record of each."""

    def __init__(self, known: Iterable[CachedFile] = ()) -> None:
        """Begin with what is known of the files; what has not changed is not parsed again."""
        self.read: dict[Key, CachedFile] = {}
        self._known = {(record.path, record.schema): record for record in known}

    def __call__(self, path: Path, schema: SchemaName, listed: FileState) -> ParsedFile:
        """Return what a file says, which had the state `listed` when it was found."""
        key = (str(path), schema)
        known = self._known.get(key)
        if known is not None and not known.racy and known.state == listed:
            self.read[key] = known
            return _content(known)
        self.read[key], content = _read(path, schema, listed, known)
        return content


def _read(
    path: Path, schema: SchemaName, listed: FileState, known: CachedFile | None
) -> tuple[CachedFile, ParsedFile]:
    """Read a file; where its bytes are those that are known, they are not parsed."""
    racy = listed.is_racy()
    file = str(path)
    try:
        with path.open("rb") as opened:
            state = FileState.of(os.fstat(opened.fileno()))
            # A byte more than it has: to ask for a megabyte would take longer than to read it.
            data = opened.read(min(state.size, MAX_BYTES) + 1)
            if len(data) > state.size:  # it grew, or is no file that has a size
                data += opened.read(MAX_BYTES + 1 - len(data))
        # One that changed since it was found is looked at again the next time.
        racy = racy or state != listed
    except OSError as error:
        # What may be read can change without a trace in the state, so it is read each time.
        content = ParsedFile(None, unreadable(file, error).problems)
        return _record(file, schema, content, state=ABSENT, racy=True, digest=""), content
    digest = hashlib.sha256(data).hexdigest()
    if known is not None and known.digest == digest:
        again = replace(known, state=listed, racy=racy)
        return again, _content(again)
    content = parse_file(lambda: parse_bytes(data, file=file), schema)
    return _record(file, schema, content, state=listed, racy=racy, digest=digest), content


def _record(path: str, schema: SchemaName, content: ParsedFile, **fields: Any) -> CachedFile:
    document = content.document
    body = b"" if document is None else _body(document)
    return CachedFile(
        path=path,
        schema=schema,
        secret=_may_hold_secret(body) and document is not None and holds_secret(document.value),
        problems=content.problems,
        body=body,
        **fields,
    )


def _may_hold_secret(body: bytes) -> bool:
    """Return whether a document as JSON has what each secret needs; most have none of it."""
    return b'"fs_options"' in body or (b"://" in body and (b"@" in body or b"?" in body))


def _content(record: CachedFile) -> ParsedFile:
    document = document_from(record, record.path) if record.body else None
    return ParsedFile(document, record.problems)
