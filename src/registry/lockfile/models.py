"""The lockfile: digests of the source bytes and the samples of each dataset.

It is written by `registry lock`, reviewed like code, and read by the strict YAML reader.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from registry.base.conversion import convert
from registry.base.fs import write_atomic
from registry.base.local_files import open_beside
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
"""Version of the computation of a pin's digests; a pin with another version is stale."""

# Half a million pins. A larger file is not a lockfile and must not exhaust memory.
_MAX_BYTES = 1 << 28
_RELOCK = "take either side, or leave it, and run `registry lock`"
_FIX = "fix it, or remove the file and run `registry lock`"

# In Python's `re`, `$` alone also matches before a line break at the end.
_END = r"$(?!\n)"
Digest = Annotated[str, Meta(pattern=rf"^sha256:[0-9a-f]{{64}}{_END}")]


class LockedSource(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file, identified by its digest, or a repository of the Hub, identified by its commit."""

    location: Text
    """Path relative to the index, or URL without secrets."""
    requested: Text | None = None
    """The glob, folder or branch in the manifest, if it differs from the location."""
    revision: Annotated[str, Meta(pattern=rf"^[0-9a-f]{{40}}{_END}")] | None = None
    """Commit of a repository."""
    etag: Text | None = None
    """ETag that the server sent with these bytes."""
    version_id: Text | None = None
    """Version id of the object in cloud storage."""
    size: Count | None = None
    """Size of the file in bytes."""
    sha256: Annotated[str, Meta(pattern=rf"^[0-9a-f]{{64}}{_END}")] | None = None
    """Digest of the file's bytes."""

    def __post_init__(self) -> None:
        if self.revision is None and (self.size is None or self.sha256 is None):
            raise ValueError("neither `revision` nor `size` and `sha256`")

    @property
    def short(self) -> str:
        """Seven hex digits that identify this version, for display."""
        return (self.revision or self.sha256 or "")[:7]


class Pin(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The state of one dataset when it was pinned."""

    spec: Digest
    """Digest of the resolved manifest, see `spec_digest`."""
    sources: Annotated[tuple[LockedSource, ...], Meta(min_length=1)]
    """Its files and repositories, in reading order."""
    samples: Count
    """Number of samples."""
    columns: tuple[str, ...]
    """Columns in the first records of the first source."""
    ordered: Digest
    """Digest of the samples in their order."""
    unordered: Digest
    """Digest of the samples in any order."""
    format: Annotated[int, Meta(ge=1)]
    """Version of the computation of these digests."""

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
    """Read a lockfile; None if the file does not exist.

    Raises:
        LockError: it is invalid; the error has all problems with their positions.
    """
    data = read_bytes(path, shown_as=shown_as)
    return None if data is None else parse_lock(data, shown_as or str(path))


def read_documents(path: Path, *, shown_as: str | None = None) -> tuple[Document, ...]:
    """Read a lockfile as documents of limited size; an empty tuple if the file does not exist.

    Raises:
        LockError: as for `read_lock`.
    """
    data, file = read_bytes(path, shown_as=shown_as), shown_as or str(path)
    return () if data is None else _documents(_decode(data, file), file)


def read_sides(path: Path, *, shown_as: str | None = None) -> tuple[Lock, ...]:
    """Read a lockfile to update it: both sides if it contains merge conflicts.

    Raises:
        LockError: it is invalid, or one side is.
    """
    data, file = read_bytes(path, shown_as=shown_as), shown_as or str(path)
    if data is None:
        return ()
    text = _decode(data, file)
    sides = (text,) if conflict_line(text) is None else conflict_sides(text)
    return tuple(lock_of(_documents(side, file)) for side in sides)


def read_bytes(path: Path, *, shown_as: str | None = None) -> bytes | None:
    """Read the bytes of a lockfile; None if the file does not exist.

    Raises:
        LockError: it can't be read, or is too large.
    """
    file = shown_as or str(path)
    try:
        with open_beside(path) as opened:
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
    pins: dict[str, Pin] = {}
    for document in documents:
        for name, pin in document.value["datasets"].items():
            # Older lockfiles have the key `asked` for `requested`.
            sources = [
                {"requested" if key == "asked" else key: value for key, value in source.items()}
                for source in pin["sources"]
            ]
            pins[name] = convert({**pin, "sources": sources}, Pin)
    return Lock(pins)


def _documents(text: str, file: str) -> tuple[Document, ...]:
    line = conflict_line(text)
    if line is not None:
        problem = Problem(
            message="unresolved merge conflict", file=file, line=line, column=1, hint=_RELOCK
        )
        raise _error([problem])
    documents: list[Document] = []
    problems: list[Problem] = []
    # An empty text has no chunks, but is a document without the required keys.
    for number, chunk in enumerate(chunks(text) if text else [""]):
        try:
            documents.append(_validated(parse_yaml(chunk, file=file), is_first=number == 0))
        except ManifestError as error:
            problems.extend(error.problems)
    # The YAML reader finds duplicates within a chunk, but not in several chunks.
    seen: set[str] = set()
    for document in documents:
        for name in document.value["datasets"]:
            if name in seen:
                message = f"duplicate dataset '{name}'"
                problems.append(Problem(message=message, file=file, hint=_FIX))
            seen.add(name)
    if problems:
        raise _error(problems)
    return tuple(documents)


def _validated(document: Document, *, is_first: bool) -> Document:
    from registry.manifest.validation import validate  # a warm open validates nothing

    if not is_first:  # only the first chunk of a large file has the key `version`
        value = {"version": 1, **document.value}
        document = Document(value, document.file, document.positions)
    problems = validate(document, "lock")
    if problems:
        raise ManifestError(problems)
    return document


def _error(problems: list[Problem]) -> LockError:
    message = "\n".join(str(problem) for problem in problems)
    return LockError(f"{message}\nThe lockfile is invalid: {_FIX}", problems=problems)


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
