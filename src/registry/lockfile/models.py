"""The lockfile: what each dataset's sources held, and which samples came of them.

It is written by `registry lock`, reviewed like code, and read with the strict reader of YAML.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from registry.base.fs import write_atomic
from registry.errors import LockError, ManifestError, Problem
from registry.lockfile.text import block_of, conflict_line, pieces, pin_in, sides, written
from registry.manifest.models import Count, Text
from registry.manifest.serialize import data_of, is_said
from registry.yamldoc.reader import Document, parse_yaml

__all__ = [
    "PIN_FORMAT",
    "Lock",
    "LockedSource",
    "Pin",
    "lock_of",
    "lock_text",
    "read_documents",
    "read_lock",
    "read_pin",
    "read_sides",
    "write_lock",
]

PIN_FORMAT = 1
"""Version of how the digests of a pin are taken; a pin of another one is stale."""

_MAX_BYTES = 1 << 28
_RELOCK = "take either side, or leave it, and run `python -m registry lock`"
_MEND = "mend it, or remove the file and run `python -m registry lock`"

# Beside `$`, because in Python that fits before a line break at the end, too.
_END = r"$(?!\n)"
Digest = Annotated[str, Meta(pattern=rf"^sha256:[0-9a-f]{{64}}{_END}")]


class LockedSource(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file, known by its digest, or a repository of the Hub, known by its commit."""

    location: Text
    """Path relative to the index, or URL without secrets."""
    asked: Text | None = None
    """What the manifest asks for where that is not the location: a glob, a folder, a branch."""
    revision: Annotated[str, Meta(pattern=rf"^[0-9a-f]{{40}}{_END}")] | None = None
    """Commit of a repository."""
    etag: Text | None = None
    """ETag that the server gave with these bytes."""
    version_id: Text | None = None
    """VersionId of the object."""
    size: Count | None = None
    """Bytes of the file."""
    sha256: Annotated[str, Meta(pattern=rf"^[0-9a-f]{{64}}{_END}")] | None = None
    """Digest of the file's bytes."""

    def __post_init__(self) -> None:
        if self.revision is None and (self.size is None or self.sha256 is None):
            raise ValueError("neither a commit nor size and digest")

    @property
    def short(self) -> str:
        """Seven digits that tell this version from others, for people."""
        return (self.revision or self.sha256 or "")[:7]


class Pin(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one dataset was when it was pinned."""

    spec: Digest
    """Digest of the resolved manifest, see `spec_digest`."""
    sources: Annotated[tuple[LockedSource, ...], Meta(min_length=1)]
    """What its records come from, in their order."""
    samples: Count
    """How many samples it has."""
    columns: tuple[str, ...]
    """Columns of the first source's records, as far as its first records have them."""
    ordered: Digest
    """Digest of the samples in their order."""
    unordered: Digest
    """Digest of the samples in any order."""
    format: Annotated[int, Meta(ge=1)]
    """Version of how these digests are taken."""

    def agrees(self, spec_digest: str) -> bool:
        """Return whether the pin is of a manifest with this digest."""
        return self.spec == spec_digest and self.format == PIN_FORMAT


class Lock(Struct, frozen=True):
    """The pins of a catalog."""

    pins: Mapping[str, Pin] = {}
    """By the name of the dataset."""
    version: int = 1
    """Version of the file's format."""


def read_lock(path: Path, *, shown_as: str | None = None) -> Lock | None:
    """Read a lockfile; None where there is none.

    Raises:
        LockError: it is not valid; with all problems, each with its place.
    """
    text = _read(path)
    return None if text is None else _parse(text, shown_as or str(path))


def read_documents(path: Path, *, shown_as: str | None = None) -> tuple[Document, ...]:
    """Read a lockfile as data with its places, in parts of bounded size; none where there is none.

    Raises:
        LockError: as for `read_lock`.
    """
    text = _read(path)
    return () if text is None else _documents(text, shown_as or str(path))


def lock_of(documents: Iterable[Document]) -> Lock:
    """Return the lock that the documents of a lockfile say."""
    return Lock(
        {
            name: msgspec.convert(value, Pin)
            for document in documents
            for name, value in document.value["datasets"].items()
        }
    )


def read_pin(path: Path, name: str, *, shown_as: str | None = None) -> Pin | None:
    """Read the pin of one dataset, and no more of the lockfile than it takes to find that.

    None where there is no such file, or no such dataset in it.

    Raises:
        LockError: the file is not valid.
    """
    text = _read(path)
    if text is None:
        return None
    block = block_of(text, name) if conflict_line(text) is None else None
    if block == "":
        return None
    # The parser of YAML takes longer to import than a whole open takes.
    pin = None if block is None else pin_in(block, name)
    if pin is not None:
        with contextlib.suppress(msgspec.ValidationError):  # what is wrong is said of the whole
            return msgspec.convert(pin, Pin)
    return _parse(text, shown_as or str(path)).pins.get(name)


def read_sides(path: Path, *, shown_as: str | None = None) -> tuple[Lock, ...]:
    """Read a lockfile to write it anew: both sides of a merge that could not be brought together.

    Raises:
        LockError: it is not valid, or a side is not.
    """
    text = _read(path)
    if text is None:
        return ()
    texts = (text,) if conflict_line(text) is None else sides(text)
    return tuple(_parse(one, shown_as or str(path)) for one in texts)


def _read(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _error(
            [Problem(message=f"can't be read: {error.strerror}", file=str(path))]
        ) from error
    if len(data) > _MAX_BYTES:
        raise _error([Problem(message=f"larger than {_MAX_BYTES >> 20} MiB", file=str(path))])
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _error([Problem(message="not UTF-8", file=str(path))]) from error


def _parse(text: str, shown: str) -> Lock:
    return lock_of(_documents(text, shown))


def _documents(text: str, shown: str) -> tuple[Document, ...]:
    line = conflict_line(text)
    if line is not None:
        problem = Problem(
            message="a merge left a conflict here", file=shown, line=line, column=1, hint=_RELOCK
        )
        raise _error([problem])
    documents: list[Document] = []
    problems: list[Problem] = []
    for number, piece in enumerate(pieces(text) if text else [""]):
        try:
            documents.append(_valid(parse_yaml(piece, file=shown), head=number == 0))
        except ManifestError as error:
            problems.extend(error.problems)
    problems += _twice(documents, shown)
    if problems:
        raise _error(problems)
    return tuple(documents)


def _twice(documents: Iterable[Document], shown: str) -> Iterator[Problem]:
    """Yield a problem for each dataset that several parts have."""
    seen: set[str] = set()
    for document in documents:
        for name in document.value["datasets"]:
            if name in seen:
                message = f"the dataset '{name}' stands in it twice"
                yield Problem(message=message, file=shown, hint=_MEND)
            seen.add(name)


def _valid(document: Document, *, head: bool) -> Document:
    """Return a valid document whole; only the first part of a large file has a head."""
    from registry.manifest.validation import (
        validate,  # a block that is found is not validated by it
    )

    whole = document if head else _with_version(document)
    problems = validate(whole, "lock")
    if problems:
        raise ManifestError(problems)
    return whole


def _with_version(document: Document) -> Document:
    return Document({"version": 1, **document.value}, document.file, document.positions)


def _error(problems: list[Problem]) -> LockError:
    message = "\n".join(str(problem) for problem in problems)
    return LockError(f"{message}\nThe lockfile is not valid: {_MEND}", problems=problems)


def lock_text(lock: Lock) -> str:
    """Return the text of a lock; the same lock is always the same text."""
    return written({name: data_of(pin, keep=is_said) for name, pin in lock.pins.items()})


def write_lock(path: Path, lock: Lock) -> None:
    """Write a lockfile, whole or not at all."""
    text = lock_text(lock).encode()
    try:
        write_atomic(path, lambda file: file.write(text))
    except OSError as error:
        raise LockError(f"{path}: can't be written: {error.strerror}") from error
