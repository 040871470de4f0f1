"""The lockfile: digests of the source bytes and the samples of each dataset.

It is written by `registry lock`, reviewed like code, and read by the strict YAML reader.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

from msgspec import Meta, Struct
from msgspec.structs import replace

from registry.base.conversion import convert
from registry.base.materials import Digest, Material, Materials, Original
from registry.errors import LockError, ManifestError, Problem, count_text, list_names
from registry.lockfile.spec_digest import spec_digest
from registry.lockfile.text import (
    FIX,
    NEWER,
    chunks,
    conflict_sides,
    dump,
    lock_error,
    read_bytes,
    write_text,
)
from registry.manifest.models import DatasetSpec
from registry.manifest.serialize import data_of
from registry.yamldoc.document import conflict_line
from registry.yamldoc.reader import Document, parse_yaml

__all__ = [
    "FIRST",
    "PIN_FORMAT",
    "CommitPin",
    "DataVersion",
    "Lock",
    "Pin",
    "Version",
    "lock_of",
    "lock_text",
    "parse_lock",
    "pin_data",
    "read_documents",
    "read_lock",
    "read_sides",
    "write_lock",
]

_PATTERN = r"^[1-9][0-9]{0,5}-[A-Z]{1,4}$(?!\n)"
_LETTERS = 26
DataVersion = Annotated[str, Meta(pattern=_PATTERN)]
PIN_FORMAT = 1
"""Version of the computation of a pin's digests; a pin with another version is stale."""
_RELOCK = "take either side, or leave it, and run `registry lock`"
# Reporting the problems of a hostile file must not take minutes.
_MAX_PROBLEMS = 100
_SHOWN_SOURCES = 3
_MAX_PIN = 1 << 22
_REQUIRED = ("sources", "columns")
_KEYS = (
    *("version", "spec", "sources", "files", "sandbox", "images", "code"),
    *("samples", "columns", "ordered", "unordered", "original", "format"),
)


class Version(NamedTuple):
    """A version of a dataset; a later one is greater."""

    number: int
    """N: results of versions with different numbers are not comparable."""
    letter: int
    """X as a number: 1 is A, 26 is Z, 27 is AA."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `2-A`.

        Raises:
            ValueError: it is not a version.
        """
        if re.fullmatch(_PATTERN, text) is None:
            raise ValueError(f"'{text}' is not a version (write a number and a letter, as in 2-A)")
        number, _, letters = text.partition("-")
        letter = 0
        for one in letters:
            letter = letter * _LETTERS + ord(one) - ord("A") + 1
        return cls(int(number), letter)

    @property
    def next_number(self) -> Self:
        """The version after a change that makes results not comparable."""
        return self._replace(number=self.number + 1, letter=1)

    @property
    def next_letter(self) -> Self:
        """The version after any other change."""
        return self._replace(letter=self.letter + 1)

    def __str__(self) -> str:
        letters, rest = "", self.letter
        while rest:
            rest, digit = divmod(rest - 1, _LETTERS)
            letters = chr(ord("A") + digit) + letters
        return f"{self.number}-{letters}"


FIRST = Version(1, 1)
"""The version of a new dataset, and of one whose lockfile has no versions yet."""


class _OfManifest:
    """What is made for one manifest, in one format."""

    __slots__ = ()

    spec: Digest
    format: int

    def agrees(self, spec: DatasetSpec) -> bool:
        """Return whether it was made for this manifest."""
        return self.format == PIN_FORMAT and self.spec == spec_digest(spec)

    @property
    def is_newer(self) -> bool:
        """Whether a newer release wrote it, so that this one can't tell what it is made for."""
        return self.format > PIN_FORMAT


class Pin(Materials, _OfManifest, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one dataset was made of when it was pinned, and for which manifest."""

    spec: Digest
    """Digest of the resolved manifest, see `spec_digest`."""
    columns: tuple[str, ...]
    """Columns in the first records of the first source."""
    format: Annotated[int, Meta(ge=1)]
    """Version of the computation of these digests."""
    version: DataVersion | None = None
    """Version of the dataset, such as `2-A`; None in a lockfile of an older release."""

    @property
    def data_version(self) -> Version:
        """The version of the dataset; the first one if the pin has none."""
        return FIRST if self.version is None else Version.parse(self.version)

    @property
    def summary(self) -> str:
        """Its version, those of its first sources, and how many samples it has."""
        version = "" if self.version is None else f"version {self.version}, "
        sources = list_names([one.short for one in self.sources], _SHOWN_SOURCES)
        return f"{version}{sources}, {count_text(self.samples, 'sample')}"

    def of_original(self, spec: DatasetSpec) -> Pin | None:
        """Return the pin of the samples without corrections; None if there is none.

        `spec` is the dataset without them. The version is that of the corrected samples, so the
        original ones have none.
        """
        if self.original is None:
            return None
        digests = {name: getattr(self.original, name) for name in Original.__struct_fields__}
        return replace(self, **digests, spec=spec_digest(spec), version=None, original=None)


class CommitPin(Struct, _OfManifest, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The commits that the manifest of one dataset names: its bytes are fixed, but not verified.

    It is derived without a request, and a load has nothing to compare with it.
    """

    spec: Digest
    """Digest of the resolved manifest, see `spec_digest`."""
    sources: tuple[Material, ...]
    """Repositories and files with their commits, and the digests of the catalog's own files."""
    format: Annotated[int, Meta(ge=1)]
    """As in `Pin`."""


class Lock(Struct, frozen=True):
    """The pins of a catalog."""

    pins: Mapping[str, Pin] = {}
    """By the name of the dataset; each of these is verified."""
    commits: Mapping[str, CommitPin] = {}
    """Those of datasets that are not among `pins`, of which only the commit is known."""
    version: int = 1
    """Version of the file's format."""

    @property
    def names(self) -> list[str]:
        """The datasets in the file."""
        return sorted({*self.pins, *self.commits})

    def row_of(self, name: str) -> Pin | CommitPin | None:
        """Return what the file has of a dataset."""
        return self.pins.get(name) or self.commits.get(name)

    def pin_of(self, *names: str) -> Pin | None:
        """Return the pin of a dataset: that of the first of its names, the old ones last."""
        return next((self.pins[name] for name in names if name in self.pins), None)


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
    """Read a lockfile to update it: with merge conflicts ours, theirs, and the base if it is there.

    Raises:
        LockError: it is invalid, or one side is.
    """
    data, file = read_bytes(path, shown_as=shown_as), shown_as or str(path)
    if data is None:
        return ()
    text = _decode(data, file)
    if conflict_line(text) is None:
        return (lock_of(_documents(text, file)),)
    *sides, base = conflict_sides(text)
    locks = [lock_of(_documents(side or "", file)) for side in sides]
    with contextlib.suppress(LockError):  # zdiff3 moves lines out of the conflict, not of the base
        locks += [] if base is None else [lock_of(_documents(base, file))]
    return tuple(locks)


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
        raise lock_error([Problem(message="not UTF-8", file=file)]) from error


def lock_of(documents: Iterable[Document]) -> Lock:
    """Return the lock in the documents of a lockfile."""
    pins: dict[str, Pin] = {}
    commits: dict[str, CommitPin] = {}
    for document in documents:
        for name, pin in document.value["datasets"].items():
            # Older lockfiles have the key `asked` for `requested`.
            sources = [
                {"requested" if key == "asked" else key: value for key, value in source.items()}
                for source in pin["sources"]
            ]
            if "samples" in pin:
                pins[name] = convert({**pin, "sources": sources}, Pin)
            else:
                commits[name] = convert({**pin, "sources": sources}, CommitPin)
    return Lock(pins, commits)


def _documents(text: str, file: str) -> tuple[Document, ...]:
    line = conflict_line(text)
    if line is not None:
        problem = Problem(
            message="unresolved merge conflict", file=file, line=line, column=1, hint=_RELOCK
        )
        raise lock_error([problem])
    documents: list[Document] = []
    problems: list[Problem] = []
    # An empty text has no chunks, but is a document without the required keys.
    for number, chunk in enumerate(chunks(text) if text else [""]):
        if len(chunk) > _MAX_PIN:
            line = len(chunk) - len(chunk.lstrip("\n")) + 1
            message = f"a pin is larger than {_MAX_PIN >> 20} MiB"
            raise lock_error([Problem(message=message, file=file, line=line, column=1)])
        try:
            documents.append(_validated(parse_yaml(chunk, file=file), is_first=number == 0))
        except ManifestError as error:
            problems.extend(error.problems[:_MAX_PROBLEMS])
        if len(problems) >= _MAX_PROBLEMS:
            problems.append(Problem(message="more problems, which are not listed", file=file))
            break
    # The YAML reader finds duplicates within a chunk, but not in several chunks.
    seen: set[str] = set()
    for document in documents:
        for name in document.value["datasets"]:
            if name in seen:
                message = f"duplicate dataset '{name}'"
                problems.append(Problem(message=message, file=file, hint=FIX))
            seen.add(name)
    if problems:
        raise lock_error(problems)
    return tuple(documents)


def _validated(document: Document, *, is_first: bool) -> Document:
    from registry.manifest.validation import validate  # a warm open validates nothing

    if not is_first:  # only the first chunk of a large file has the key `version`
        value = {"version": 1, **document.value}
        document = Document(value, document.file, document.positions)
    problems = validate(document, "lock", most=_MAX_PROBLEMS)
    version = document.value.get("version") if isinstance(document.value, dict) else None
    for number, problem in enumerate(problems):  # say so of what only a newer release writes
        if problem.path == "$.version" and isinstance(version, int) and version > 1:
            # All else that a newer format has is no problem of its own.
            raise ManifestError([replace(problem, hint=NEWER)])
        if problem.rule == "unknown-key":
            hint = "; ".join(filter(None, [NEWER, problem.hint]))
            problems[number] = replace(problem, hint=hint)
    if problems:
        raise ManifestError(problems)
    return document


def pin_data(pin: Pin | CommitPin) -> dict[str, Any]:
    """Return a pin as JSON data in the order of a lockfile, without what it doesn't have."""
    data = data_of(pin, keep=lambda value, _: value not in (None, (), {}))
    # A list that is required is written even if it is empty.
    required = _REQUIRED if isinstance(pin, Pin) else ()
    return {key: data.get(key, []) for key in sorted({*data, *required}, key=_KEYS.index)}


def lock_text(
    lock: Lock, conflicts: Mapping[str, tuple[Pin | None, Pin | None, Pin | None]] | None = None
) -> str:
    """Return the text of a lock; the same lock always gives the same text.

    `conflicts` has the pins of ours, the base and theirs, to be written as git does.
    """
    marked = {
        name: [None if pin is None else pin_data(pin) for pin in sides]
        for name, sides in (conflicts or {}).items()
    }
    pins = {name: pin_data(pin) for name, pin in lock.pins.items()}
    pins |= {name: pin_data(one) for name, one in lock.commits.items()}
    return dump(pins, marked)


def write_lock(path: Path, lock: Lock) -> None:
    """Write a lockfile atomically."""
    write_text(path, lock_text(lock))
