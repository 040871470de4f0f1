"""The errors of the package, one tree.

RegistryError
├ ManifestError            every problem of a file, with positions
├ DatasetNotFoundError     also LookupError
├ LockError                datasets.lock can't be used, or the samples are not those it pins
│ └ LockStaleError         it pins something else, or nothing
├ SourceError
│ ├ OfflineError           a request would be needed
│ ├ AccessError            refused, or credentials missing
│ ├ DigestMismatchError    other bytes than datasets.lock pins
│ └ MissingDependencyError an extra package would be needed
├ DecodeError              also ValueError: file and line
├ MappingError             also ValueError: record, field, value
├ ExpectationError         also ValueError: `expect` does not hold
├ RevisionError            also ValueError: a git revision that can't be read
└ CacheError
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import asdict, replace

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "AccessError",
    "CacheError",
    "DatasetNotFoundError",
    "DecodeError",
    "DigestMismatchError",
    "ExpectationError",
    "LockError",
    "LockStaleError",
    "ManifestError",
    "MappingError",
    "MissingDependencyError",
    "OfflineError",
    "Problem",
    "RegistryError",
    "RevisionError",
    "Severity",
    "SourceError",
    "close_matches",
    "did_you_mean",
    "shorten",
]


def close_matches(word: str, known: Iterable[str], *, most: int = 3) -> list[str]:
    """Return up to `most` of the `known` names that look like `word`, nearest first."""
    import difflib  # only for errors

    by_folded: dict[str, str] = {}
    for name in known:
        by_folded.setdefault(name.casefold(), name)
    matches = difflib.get_close_matches(str(word).casefold(), by_folded, n=most, cutoff=0.5)
    return [by_folded[match] for match in matches]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Word the nearest `known` name as a hint; empty where nothing is near."""
    near = close_matches(word, known, most=1)
    return f"did you mean '{near[0]}'?" if near else ""


def shorten(value: object, *, width: int = 80) -> str:
    """Return the repr of `value`, cut in the middle to `width` characters."""
    try:
        text = repr(value)
    except RecursionError:
        return f"a {type(value).__name__} that is nested too deeply"
    if len(text) <= width:
        return text
    half = (width - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


Severity = Literal["error", "warning"]


class RegistryError(Exception):
    """Base of everything this package raises on purpose; it can be sent to another process."""

    def __reduce__(self) -> tuple[object, ...]:
        return _received, (type(self), self.args, self.__dict__)


def _received(kind: type[RegistryError], args: tuple[object], state: dict[str, object]) -> object:
    """Return an error that came from another process, without the arguments it was made of."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class Problem(Struct, frozen=True, kw_only=True):
    """One fault of a manifest or an index."""

    message: str
    """What is wrong, one line."""
    file: str = ""
    """The file, as the user named it; empty for arguments given in Python."""
    line: int = 0
    """1-based; 0 where there is no file."""
    column: int = 0
    """1-based."""
    path: str = "$"
    """Where in the document, as a JSON path."""
    hint: str = ""
    """What to do next."""
    rule: str = ""
    """Id of the rule that it breaks; empty where it is not about a manifest."""
    severity: Severity = "error"
    """Only an error stops a dataset from being used."""

    @property
    def place(self) -> str:
        """Where it is: `file:line:column $.path`, as far as that is known."""
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return " ".join(part for part in (place, self.path) if part)

    @property
    def text(self) -> str:
        """What is wrong and what to do next, without the place."""
        return f"{self.message} ({self.hint})" if self.hint else self.message

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" if self.place else self.text

    def to_dict(self) -> dict[str, object]:
        """Return the problem as JSON data."""
        return asdict(self)


class ManifestError(RegistryError):
    """A manifest, an index or an override is not valid."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class DatasetNotFoundError(RegistryError, LookupError):
    """No dataset has this name."""

    def __init__(self, name: str, known: Iterable[str], *, catalog: str) -> None:
        self.name = name
        self.matches = close_matches(name, known)
        near = f"; near names: {', '.join(self.matches)}" if self.matches else ""
        super().__init__(
            f"no dataset '{name}' in {catalog}{near} (python -m registry list shows all)"
        )


class LockError(RegistryError):
    """The lockfile can't be used, or what it pins is not what comes out."""

    def __init__(self, message: str, *, problems: Iterable[Problem] = ()) -> None:
        self.problems = tuple(problems)
        super().__init__(message)


class LockStaleError(LockError):
    """The lockfile pins something else than the manifest says, or nothing of a dataset."""

    def __init__(self, dataset: str, message: str) -> None:
        self.dataset = dataset
        super().__init__(f"{dataset}: {message}")


class SourceError(RegistryError):
    """The bytes of a source could not be had."""


class OfflineError(SourceError):
    """A request would be needed, and requests are switched off."""


class AccessError(SourceError):
    """The source refuses: credentials are missing, wrong or not enough."""


class DigestMismatchError(SourceError):
    """The bytes of a source are not those that the lockfile pins."""

    def __init__(self, location: str, *, dataset: str, pinned: str, found: str) -> None:
        self.location = location
        self.dataset = dataset
        self.pinned = pinned
        self.found = found
        super().__init__(
            f"{location}: datasets.lock pins {pinned} for {dataset}, what came is {found}"
            f" (`python -m registry lock --upgrade {dataset}` pins what is there now)"
        )


class MissingDependencyError(SourceError):
    """A source needs a package that is not installed."""


class DecodeError(RegistryError, ValueError):
    """A file is not what its type says."""

    def __init__(self, message: str, *, file: str, line: int | None = None) -> None:
        self.file = file
        self.line = line
        place = f"{file}:{line}" if line else file
        super().__init__(f"{place}: {message}")


class _MappingPlace(Struct, frozen=True):
    dataset: str = ""
    record: int | None = None
    field: str = ""
    operation: str = ""

    def __str__(self) -> str:
        parts = [
            f"record {self.record}" if self.record else "",
            f"field {self.field}" if self.field else "",
            f"operation {self.operation}" if self.operation else "",
        ]
        inside = ", ".join(part for part in parts if part)
        return ": ".join(part for part in (self.dataset, inside) if part)


_NO_VALUE = object()


class MappingError(RegistryError, ValueError):
    """A record does not map to a sample."""

    def __init__(
        self,
        message: str,
        *,
        dataset: str = "",
        record: int | None = None,
        field: str = "",
        operation: str = "",
        value: object = _NO_VALUE,
    ) -> None:
        self.message = message
        self.place = _MappingPlace(dataset, record, field, operation)
        self.value = None if value is _NO_VALUE else value
        self._has_value = value is not _NO_VALUE
        super().__init__(message)

    dataset = property(lambda self: self.place.dataset)
    record = property(lambda self: self.place.record)
    field = property(lambda self: self.place.field)
    operation = property(lambda self: self.place.operation)

    def at(
        self,
        *,
        dataset: str = "",
        record: int | None = None,
        field: str = "",
        operation: str = "",
    ) -> MappingError:
        """Return the same error with those parts of its place filled that were open."""
        old = self.place
        error = MappingError(self.message)
        error.place = replace(
            old,
            dataset=old.dataset or dataset,
            record=old.record or record,
            field=old.field or field,
            operation=old.operation or operation,
        )
        error.value, error._has_value = self.value, self._has_value
        return error

    def __str__(self) -> str:
        place = str(self.place)
        value = f", value: {shorten(self.value)}" if self._has_value else ""
        return f"{place}: {self.message}{value}" if place else f"{self.message}{value}"


class ExpectationError(RegistryError, ValueError):
    """A built dataset is not what its manifest expects."""


class RevisionError(RegistryError, ValueError):
    """No such revision, or git can't read it."""


class CacheError(RegistryError):
    """The cache folder can't be read or written."""
