"""The lockfile: which bytes the sources of each dataset had, and which samples they gave.

It is written by `registry lock`, reviewed like code, and read with the strict YAML reader.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from registry.base.conversion import convert
from registry.base.fs import write_atomic
from registry.errors import LockError, ManifestError, Problem
from registry.lockfile.text import chunks, conflict_line, conflict_sides, dump
from registry.manifest.models import Count, Text
from registry.manifest.serialize import data_of, is_set
from registry.yamldoc.reader import Document, parse_yaml

__all__ = [
    "PIN_FORMAT",
    "Lock",
    "LockedSource",
    "Pin",
    "lock_of",
    "lock_text",
    "parse_lock",
    "read_bytes",
    "read_documents",
    "read_lock",
    "read_sides",
    "write_lock",
]

PIN_FORMAT = 1
"""Version of how the digests of a pin are taken; a pin of another version is stale."""

# Half a million pins; what is larger is no lockfile, and must not fill the memory.
_MAX_BYTES = 1 << 28
_RELOCK = "take either side, or leave it, and run `python -m registry lock`"
_FIX = "fix it, or remove the file and run `python -m registry lock`"

# In Python's `re`, `$` alone also matches before a line break at the end.
_END = r"$(?!\n)"
Digest = Annotated[str, Meta(pattern=rf"^sha256:[0-9a-f]{{64}}{_END}")]


class LockedSource(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file, identified by its digest, or a repository of the Hub, identified by its commit."""

    location: Text
    """Path relative to the index, or URL without secrets."""
    requested: Text | None = None
    """What the manifest names where that is not the location: a glob, a folder, a branch."""
    revision: Annotated[str, Meta(pattern=rf"^[0-9a-f]{{40}}{_END}")] | None = None
    """Commit of a repository."""
    etag: Text | None = None
    """ETag that the server gave with these bytes."""
    version_id: Text | None = None
    """VersionId of the object."""
    size: Count | None = None
    """Size of the file in bytes."""
    sha256: Annotated[str, Meta(pattern=rf"^[0-9a-f]{{64}}{_END}")] | None = None
    """Digest of the file's bytes."""

    def __post_init__(self) -> None:
        if self.revision is None and (self.size is None or self.sha256 is None):
            raise ValueError("neither a commit nor size and digest")

    @property
    def short(self) -> str:
        """Seven hex digits that identify this version, for display."""
        return (self.revision or self.sha256 or "")[:7]


class Pin(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one dataset was when it was pinned."""

    spec: Digest
    """Digest of the resolved manifest, see `spec_digest`."""
    sources: Annotated[tuple[LockedSource, ...], Meta(min_length=1)]
    """What its records come from, in their order."""
    samples: Count
    """Number of samples."""
    columns: tuple[str, ...]
    """Columns of the first source's records, as far as its first records have them."""
    ordered: Digest
    """Digest of the samples in their order."""
    unordered: Digest
    """Digest of the samples in any order."""
    format: Annotated[int, Meta(ge=1)]
    """Version of how these digests are taken."""

    def agrees(self, spec_digest: str) -> bool:
        """Return whether the pin was made for the manifest with this digest."""
        return self.spec == spec_digest and self.format == PIN_FORMAT


class Lock(Struct, frozen=True):
    """The pins of a catalog."""

    pins: Mapping[str, Pin] = {}
    """By the name of the dataset."""
    version: int = 1
    """Version of the file's format."""


def read_lock(path: Path, *, shown_as: str | None = None) -> Lock | None:
    """Read a lockfile; None if there is none.

    Raises:
        LockError: it is not valid; with all problems, each with its position.
    """
    data = read_bytes(path, shown_as=shown_as)
    return None if data is None else parse_lock(data, shown_as or str(path))


def read_documents(path: Path, *, shown_as: str | None = None) -> tuple[Document, ...]:
    """Read a lockfile as documents with positions, each of bounded size; none if there is no file.

    Raises:
        LockError: as for `read_lock`.
    """
    data, file = read_bytes(path, shown_as=shown_as), shown_as or str(path)
    return () if data is None else _documents(_decode(data, file), file)


def read_sides(path: Path, *, shown_as: str | None = None) -> tuple[Lock, ...]:
    """Read a lockfile to write it again: both sides, if a merge left conflicts in it.

    Raises:
        LockError: it is not valid, or a side is not.
    """
    data, file = read_bytes(path, shown_as=shown_as), shown_as or str(path)
    if data is None:
        return ()
    text = _decode(data, file)
    sides = (text,) if conflict_line(text) is None else conflict_sides(text)
    return tuple(lock_of(_documents(side, file)) for side in sides)


def read_bytes(path: Path, *, shown_as: str | None = None) -> bytes | None:
    """Read the bytes of a lockfile; None if there is none.

    Raises:
        LockError: it can't be read, or is too large.
    """
    file = shown_as or str(path)
    try:
        with path.open("rb") as opened:
            data = opened.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _error([Problem(message=f"can't be read: {error.strerror}", file=file)]) from error
    if len(data) > _MAX_BYTES:
        raise _error([Problem(message=f"larger than {_MAX_BYTES >> 20} MiB", file=file)])
    return data


def parse_lock(data: bytes, file: str) -> Lock:
    """Parse the bytes of a lockfile.

    Raises:
        LockError: as for `read_lock`.
    """
    return lock_of(_documents(_decode(data, file), file))


def _decode(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _error([Problem(message="not UTF-8", file=file)]) from error


def lock_of(documents: Iterable[Document]) -> Lock:
    """Return the lock in the documents of a lockfile."""
    return Lock(
        {
            name: convert({**pin, "sources": [*map(_renamed, pin["sources"])]}, Pin)
            for document in documents
            for name, pin in document.value["datasets"].items()
        }
    )


def _renamed(source: Mapping[str, Any]) -> dict[str, Any]:
    """Return a source with current keys: older lockfiles have `asked` for `requested`."""
    return {"requested" if key == "asked" else key: value for key, value in source.items()}


def _documents(text: str, file: str) -> tuple[Document, ...]:
    line = conflict_line(text)
    if line is not None:
        problem = Problem(
            message="a merge left a conflict here", file=file, line=line, column=1, hint=_RELOCK
        )
        raise _error([problem])
    documents: list[Document] = []
    problems: list[Problem] = []
    # An empty text has no chunk, but is a document without the required keys.
    for number, chunk in enumerate(chunks(text) if text else [""]):
        try:
            documents.append(_validated(parse_yaml(chunk, file=file), is_first=number == 0))
        except ManifestError as error:
            problems.extend(error.problems)
    problems += _duplicates(documents, file)
    if problems:
        raise _error(problems)
    return tuple(documents)


def _validated(document: Document, *, is_first: bool) -> Document:
    from registry.manifest.validation import validate  # a warm open validates nothing

    if not is_first:  # only the first chunk of a large file has the head with the version
        value = {"version": 1, **document.value}
        document = Document(value, document.file, document.positions)
    problems = validate(document, "lock")
    if problems:
        raise ManifestError(problems)
    return document


def _duplicates(documents: Iterable[Document], file: str) -> Iterator[Problem]:
    """Yield a problem for each dataset that several chunks have; YAML finds those of one chunk."""
    seen: set[str] = set()
    for document in documents:
        for name in document.value["datasets"]:
            if name in seen:
                message = f"the dataset '{name}' is in it twice"
                yield Problem(message=message, file=file, hint=_FIX)
            seen.add(name)


def _error(problems: list[Problem]) -> LockError:
    message = "\n".join(str(problem) for problem in problems)
    return LockError(f"{message}\nThe lockfile is not valid: {_FIX}", problems=problems)


def lock_text(lock: Lock) -> str:
    """Return the text of a lock; the same lock always gives the same text."""
    return dump({name: data_of(pin, keep=is_set) for name, pin in lock.pins.items()})


def write_lock(path: Path, lock: Lock) -> None:
    """Write a lockfile atomically."""
    text = lock_text(lock).encode()
    try:
        write_atomic(path, lambda file: file.write(text))
    except OSError as error:
        raise LockError(f"{path}: can't be written: {error.strerror}") from error
