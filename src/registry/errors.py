"""The errors that this package raises on purpose, in one tree.

RegistryError
├ ManifestError             a manifest or index is invalid: all problems with their positions
├ DatasetNotFoundError      no dataset has this name (also a LookupError)
│ └ SplitNotFoundError      the dataset declares no such split (also a LookupError)
├ GroupError                a group is asked for where one dataset is needed
├ SampleNotFoundError       no sample has this id (also a KeyError)
├ LockError                 datasets.lock can't be used, or the samples differ from its pin
│ └ LockStaleError          it has no pin for the dataset, or a pin of an older manifest
├ SourceError               the bytes of a source can't be obtained
│ ├ OfflineError            a request is needed, but requests are disabled
│ ├ AccessError             the source denies access
│ ├ ReachError              the boundary of the catalog excludes the location
│ ├ DigestMismatchError     the bytes of the source differ from those that datasets.lock pins
│ └ MissingDependencyError  a package that the source needs is not installed
├ DecodeError               a file has an invalid format (also a ValueError): file, line
├ MappingError              a record can't be mapped (also a ValueError): record, field, value
├ ExpectationError          the samples fail `expect`, or all targets are blank (also a ValueError)
├ RevisionError             a git revision can't be read (also a ValueError)
├ ReviewError               a reviewed state is invalid, or something else is to be built
├ ExportError               a dataset can't be written as asked
├ ExtensionError            a plugin of another package can't be imported, or is not what it must be
├ BundleError               a bundle can't be made, or is not what it says it is
├ LogError                  a log of an evaluation can't be read
└ CacheError                the cache folder can't be read or written
  └ DamagedEntryError       an entry is damaged; it was moved to the quarantine

A message says what is wrong and where, and in parentheses what to do next. Errors that the loaders
raise for invalid data are also ValueErrors, as those of Inspect's loaders are.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import asdict, replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "AccessError",
    "BundleError",
    "CacheError",
    "DamagedEntryError",
    "DatasetNotFoundError",
    "DecodeError",
    "DeprecatedNameWarning",
    "DigestMismatchError",
    "ExpectationError",
    "ExportError",
    "ExtensionError",
    "GroupError",
    "LockError",
    "LockStaleError",
    "LogError",
    "ManifestError",
    "MappingError",
    "MissingDependencyError",
    "OfflineError",
    "Problem",
    "ReachError",
    "RegistryError",
    "ReviewError",
    "RevisionError",
    "SampleNotFoundError",
    "Severity",
    "SourceError",
    "check_arguments",
    "close_matches",
    "count_text",
    "did_you_mean",
    "list_names",
    "near_or_known",
    "shorten",
    "types_and_values",
]


_MOST_KNOWN = 40
"""More than the commands, operations and keys that messages list."""


def close_matches(word: str, known: Iterable[str]) -> list[str]:
    """Return up to three of the `known` names that are similar to `word`, best first.

    The word itself is none of them: it may be known, and of no use here.
    """
    import difflib  # slow to import, and only errors need it

    by_folded: dict[str, str] = {}
    for name in known:
        if name != word:
            by_folded.setdefault(name.casefold(), name)
    matches = difflib.get_close_matches(str(word).casefold(), by_folded, n=3, cutoff=0.5)
    return [by_folded[match] for match in matches]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint with the most similar of the `known` names, "" if none is similar."""
    matches = close_matches(word, known)
    return f"did you mean '{matches[0]}'?" if matches else ""


def near_or_known(word: str, known: Iterable[str], what: str) -> str:
    """Return a hint with the most similar of the `known` names, else with them all, as `what`.

    Of names that come from data, which may be thousands, it has the first.
    """
    names = list(known)
    return did_you_mean(word, names) or f"{what}: {list_names(names) or 'none'}"


def check_arguments(given: Iterable[str], known: Sequence[str]) -> None:
    """Raise a TypeError for a name that is no argument of `get_dataset`."""
    for key in given:
        if key not in known:
            hint = near_or_known(key, known, "known")
            raise TypeError(f"get_dataset() has no argument '{key}' ({hint})")


def count_text(number: float, word: str) -> str:
    """Return a count with its noun: `1 dataset`, `1,200 datasets`, `2.5 choices`."""
    return f"{number:,} {word}".replace(".0 ", " ", 1) + ("" if number == 1 else "s")


def list_names(names: Sequence[str], most: int = _MOST_KNOWN) -> str:
    """Return the first names, separated by commas, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def shorten(value: object, *, width: int = 80) -> str:
    """Return the repr of `value`, shortened in the middle to `width` characters."""
    try:
        text = repr(value)
    except RecursionError:
        return f"a {type(value).__name__}, nested too deeply to be shown"
    if len(text) <= width:
        return text
    half = (width - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def types_and_values(values: Sequence[object]) -> str:
    """Return the types of some values, and the values: `int (1, 2, 3)`."""
    types = dict.fromkeys(type(value).__name__ for value in values)
    return f"{' or '.join(types)} ({', '.join(shorten(value, width=40) for value in values)})"


Severity = Literal["error", "warning"]


class RegistryError(Exception):
    """Base of all errors that this package raises on purpose; all of them can be pickled."""

    def __reduce__(self) -> tuple[object, ...]:
        # By default, unpickling calls the class with `args`, the message; ours need more than that.
        return _restore, (type(self), self.args, self.__dict__)

    def to_dict(self) -> dict[str, str]:
        """Return the error as JSON data."""
        return {"type": type(self).__name__, "message": str(self)}


def _restore(cls: type[RegistryError], args: tuple[object], state: dict[str, object]) -> object:
    """Restore a pickled error without `__init__`, whose arguments are not stored."""
    error = cls.__new__(cls, *args)
    error.__dict__.update(state)
    return error


class Problem(Struct, frozen=True, kw_only=True):
    """One problem of a manifest or an index."""

    message: str
    """What is wrong, one line."""
    file: str = ""
    """The file as the user named it; empty for arguments of a Python call."""
    line: int = 0
    """1-based; 0 without a file."""
    column: int = 0
    """1-based."""
    path: str = "$"
    """JSON path of the value in the document."""
    hint: str = ""
    """What to do next."""
    rule: str = ""
    """Id of the violated rule; empty if the problem is not in a manifest."""
    severity: Severity = "error"
    """A dataset with an error can't be used; a warning is only reported."""

    @property
    def place(self) -> str:
        """`file:line:column $.path`, or the parts of it that are known."""
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return " ".join(part for part in (place, self.path) if part)

    @property
    def text(self) -> str:
        """The message and the hint, without file and position."""
        return f"{self.message} ({self.hint})" if self.hint else self.message

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" if self.place else self.text

    def to_dict(self) -> dict[str, object]:
        """Return the problem as JSON data."""
        return asdict(self)


class ManifestError(RegistryError):
    """A manifest, an index or an override is invalid, or does not fit its data."""

    def __init__(
        self,
        problems: Iterable[Problem],
        *,
        paths: Iterable[tuple[str | int, ...]] = (),
    ) -> None:
        if isinstance(problems, str):
            # Dask makes an error of the same type for its own text, unless that is a TypeError.
            raise TypeError("a ManifestError takes problems, not a text")
        self.problems = tuple(problems)
        self.paths = tuple(paths)
        """Keys of a dataset that lead to each problem; empty if the problems have positions."""
        super().__init__("\n".join(str(problem) for problem in self.problems))


class DatasetNotFoundError(RegistryError, LookupError):
    """No dataset has this name."""

    def __init__(
        self,
        name: str,
        known: Iterable[str],
        *,
        catalog: str = "",
        reason: str = "",
        what: str = "dataset",
        command: str = "registry list",
        unread: str = "",
    ) -> None:
        self.name = name
        self.matches = close_matches(name, known)
        similar = f"; similar names: {', '.join(self.matches)}" if self.matches else ""
        message = f"no {what} '{name}' in {catalog}{similar}"
        hint = f"; {unread} has problems, which `registry validate` shows" if unread else ""
        super().__init__(f"{reason or message} (`{command}` shows all{hint})")


class DeprecatedNameWarning(UserWarning):
    """A dataset is deprecated, or asked for by its old name; the message says what to use."""


class GroupError(RegistryError):
    """A group of several datasets is asked for where one dataset is needed."""

    def __init__(self, name: str, members: Sequence[str]) -> None:
        self.name, self.members = name, tuple(members)
        number = count_text(len(members), "member")
        super().__init__(
            f"'{name}' is a group of {number}: name one, such as '{name}/{members[0]}', or open"
            f" all by `get_group` (registry show {name} lists them)"
        )


class SplitNotFoundError(DatasetNotFoundError):
    """A dataset does not declare this split."""

    def __init__(self, name: str, split: str, splits: Sequence[str]) -> None:
        self.name, self.split = name, split
        self.matches = close_matches(split, splits)
        near = f"did you mean '{self.matches[0]}'? " if self.matches else ""
        known = f"{near}splits: {list_names(splits)}" if splits else "it declares no `splits`"
        RegistryError.__init__(self, f"{name} has no split '{split}' ({known})")


_SHOWN_IDS = 3


class SampleNotFoundError(RegistryError, KeyError):
    """No sample of a dataset has this id."""

    def __init__(self, identifier: object, known: Iterable[str], *, dataset: str) -> None:
        self.identifier = identifier
        ids, text = list(known), str(identifier)
        # `12` is not spelt like `demo-012`, and most likely means it.
        having = list(islice((one for one in ids if text and text in one), _SHOWN_IDS))
        self.matches = close_matches(text, ids) or having
        similar = f"; similar ids: {', '.join(self.matches)}" if self.matches else ""
        if not similar:
            shown = ", ".join(ids[:_SHOWN_IDS])
            similar = f"; its first ids: {shown}" if ids else ": its samples have no ids"
        super().__init__(f"no sample of {dataset} has the id {shorten(identifier)}{similar}")

    __str__ = Exception.__str__  # KeyError shows the repr of the message


class LockError(RegistryError):
    """The lockfile can't be used, or the samples differ from its pin."""

    def __init__(self, message: str, *, problems: Iterable[Problem] = ()) -> None:
        self.problems = tuple(problems)
        super().__init__(message)


class LockStaleError(LockError):
    """The lockfile has no pin for a dataset, or a pin of an older manifest."""

    def __init__(self, dataset: str, message: str) -> None:
        self.dataset = dataset
        super().__init__(f"{dataset}: {message}")


class SourceError(RegistryError):
    """The bytes of a source can't be obtained."""

    missing_path = ""
    """The local file or folder that does not exist, if that is why."""
    transient = False
    """Whether the same request may succeed later."""
    is_answer = False
    """Whether the source answered, and what it has is not what was asked for."""
    retry_after: float | None = None
    """Seconds that the server asks to wait."""
    attempts = 0
    """How often the request was made before it was given up."""
    elapsed = 0.0
    """Seconds from the first attempt to the end of the last."""

    def give_up(self, attempts: int, elapsed: float) -> None:
        """Note in the message how often and how long a request was tried in vain."""
        self.attempts, self.elapsed = attempts, elapsed
        # The advice of a single attempt makes room for that at the end.
        message = str(self).removesuffix(" (try again)")
        tried = f"{count_text(attempts, 'attempt')} in {elapsed:.0f} s"
        wait = round(self.retry_after or 0)
        asked = f"; the server asks to wait {wait:,} s" if wait else ""
        self.args = (f"{message}, {tried}{asked} (try again later)",)


class OfflineError(SourceError):
    """A request is needed, but requests are disabled."""


class AccessError(SourceError):
    """The source denies access: credentials are missing, wrong or insufficient."""


class ReachError(SourceError):
    """A manifest names a location that neither the root index nor the user allows."""


class DigestMismatchError(SourceError):
    """The bytes of a source differ from those that the lockfile pins, or the manifest states."""

    def __init__(
        self,
        location: str,
        *,
        dataset: str,
        pinned: str,
        found: str,
        twice: bool = False,
        fault: str = "",
        is_stated: bool = False,
        is_locked: bool = False,
        is_mirror: bool = False,
    ) -> None:
        self.location = location
        self.dataset = dataset
        self.pinned = pinned
        self.found = found
        self.is_stated = is_stated
        source = "the mirror" if is_mirror else "the source"
        source = f"{source}, fetched twice," if twice else source
        before = f"`registry lock --upgrade {dataset}` pins it"
        who = f"datasets.lock pins {pinned} for {dataset}"
        if is_stated:
            who, before = f"the manifest states {pinned} (`sha256`)", "`sha256` is replaced"
        hint = f"damaged on the way, or changed: try again, and look at the change before {before}"
        if is_mirror:
            hint = "remove the mirror from the manifest, or have its copy corrected"
        if is_locked:
            source = "datasets.lock"
            hint = f"`registry lock --upgrade {dataset}` pins what the manifest states"
        super().__init__(f"{location}: {who}, {source} has {found} ({fault or hint})")

    def at(self, origin: str) -> DigestMismatchError:
        """Add the place of the digest in the manifest to the message; return the error."""
        self.args = (f"{self}, at {origin}",)
        return self


class MissingDependencyError(SourceError):
    """A package that a source, or `to_inspect`, needs is not installed."""


class DecodeError(RegistryError, ValueError):
    """A file does not have the format that its source declares."""

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
    origin: str = ""

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
    """A record can't be mapped to a sample."""

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

    def __reduce__(self) -> tuple[object, ...]:
        # A worker's error must reach its parent whatever the value is, such as a generator.
        import pickle

        state = dict(self.__dict__)
        try:
            pickle.dumps(self.value)
        except (TypeError, AttributeError, pickle.PicklingError, RecursionError):
            state["value"] = shorten(self.value)
        return _restore, (type(self), self.args, state)

    dataset = property(lambda self: self.place.dataset)
    record = property(lambda self: self.place.record)
    field = property(lambda self: self.place.field)
    operation = property(lambda self: self.place.operation)
    origin = property(lambda self: self.place.origin)  # file:line:column of the expression

    def at(
        self,
        *,
        dataset: str = "",
        record: int | None = None,
        field: str = "",
        operation: str = "",
        origin: str = "",
    ) -> MappingError:
        """Return the same error with the parts of its position that were not known before."""
        # Each caller knows one part: the innermost the field, then the record, then the dataset.
        old = self.place
        error = MappingError(self.message)
        error.place = replace(
            old,
            dataset=old.dataset or dataset,
            record=old.record or record,
            field=old.field or field,
            operation=old.operation or operation,
            origin=old.origin or origin,
        )
        error.value, error._has_value = self.value, self._has_value
        return error

    def in_item(self, index: int) -> MappingError:
        """Return the same error with a message that names the item of a list it is about."""
        error = self.at()
        error.message = f"item {index}: {self.message}"
        return error

    def __str__(self) -> str:
        place = str(self.place)
        value = f", value: {shorten(self.value)}" if self._has_value else ""
        text = f"{place}: {self.message}{value}" if place else f"{self.message}{value}"
        return f"{text}, at {self.origin}" if self.origin else text


class ExpectationError(RegistryError, ValueError):
    """The samples fail `expect` of the manifest, or all of them have a blank target."""


class RevisionError(RegistryError, ValueError):
    """A git revision does not exist or can't be read."""


class ReviewError(RegistryError):
    """A reviewed state is invalid, or something else than it says is to be built."""


class ExportError(RegistryError):
    """A dataset can't be written in a format, or to the place that is asked for."""


class ExtensionError(RegistryError):
    """A plugin of another package can't be imported, or is not what its kind must be."""


class BundleError(RegistryError):
    """A bundle can't be made, or is damaged, altered or of a newer format."""


class LogError(RegistryError):
    """A log of an evaluation is missing or damaged, or no tool that we know wrote it."""


class CacheError(RegistryError):
    """The cache folder can't be read or written."""


class DamagedEntryError(CacheError):
    """An entry of the cache is damaged; it was moved to the quarantine, and can be built again."""
