"""The table row of an operation of the field language, and checks that operations share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from registry.errors import MappingError, types_and_values

if TYPE_CHECKING:
    from registry.manifest.expressions import OperationCall
    from registry.mapping.batch import Batch

__all__ = [
    "OF_NULL",
    "BatchFunction",
    "BatchStep",
    "Compiler",
    "Operation",
    "OperationExample",
    "StarredTable",
    "Step",
    "as_list",
    "expect_type",
    "no_argument",
    "on_list",
    "on_text",
    "options",
    "to_str",
]

BatchFunction = Callable[["Batch"], list[Any]]
"""A compiled expression: the records of a batch → the value of each."""

_SHOWN = 3
"""Values and keys of a table that a message shows."""

BatchStep = Callable[["Batch", list[Any]], list[Any]]
"""A compiled step of a pipe: the records of a batch, and the value of each → the new values."""


def _unchanged(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Step:
    """An operation with its argument, as one function of a value.

    A value of exactly the type `kind` is given to `function` as it is. If that raises a TypeError
    or a LookupError, and for values of other types, it is given what `check` returns. So both must
    agree: for a value on which `function` succeeds, `check` changes nothing.
    """

    function: Callable[..., Any]
    """The value, then that of each expression in the argument → the result."""
    kind: type | None = None
    """Type of most values; None if `function` itself looks at the type."""
    check: Callable[[Any], Any] = _unchanged
    """Returns what `function` takes; a MappingError for a value that the operation can't take."""
    refusal: Callable[[Any], str] | None = None
    """Returns the message for a checked value on which `function` raises a LookupError."""
    is_heavy: bool = False
    """Whether a result may be much larger than the value, or take long."""


class StarredTable:
    """Results by key, with that of `*` for all other keys; knows whether any key was of use."""

    def __init__(self, results: Mapping[str, Any], key_of: Callable[[Any], str | None]) -> None:
        """Take the results, and what returns a value as a key."""
        self._results = results
        self._key_of = key_of
        self._asked: dict[str | None, Any] = {}
        """The first values that are no key, by what they would be as one."""
        self.is_of_use = False

    def key_of(self, value: Any) -> str | None:
        """Return a value that is no str as a key."""
        key = self._key_of(value)
        self._note(key, value)
        return key

    def result_of(self, key: str | None) -> Any:
        """Return the result for a key."""
        if key is not None and key in self._results and key != "*":
            self.is_of_use = True
            return self._results[key]
        self._note(key, key)
        return self._results["*"]

    def _note(self, key: str | None, value: Any) -> None:
        if key not in self._results and len(self._asked) < _SHOWN:
            self._asked.setdefault(key, value)

    @property
    def mismatch(self) -> str:
        """The first values and keys in words, with the types of both; empty without values."""
        if not self._asked or self.is_of_use:
            return ""
        keys = [key for key in self._results if key != "*"][:_SHOWN]
        asked = types_and_values([*self._asked.values()])
        return f"the values are {asked}, the keys are {types_and_values(keys)}" if keys else ""


class Compiler(Protocol):
    """Compiles what the argument of an operation contains, for operations that are no `Step`."""

    tables: list[StarredTable]
    """The tables with `*` that were compiled."""

    def expression(self, raw: Any) -> BatchFunction:
        """Compile an expression as the manifest writes it; a missing column gives MISSING."""

    def required(self, raw: Any) -> BatchFunction:
        """Compile an expression whose columns must exist."""

    def steps(self, calls: Sequence[OperationCall]) -> BatchStep:
        """Compile several operations to one step."""

    def row_condition(self, raw: Any) -> BatchFunction:
        """Compile a condition that names the values it compares."""


Build = Callable[[Any, Compiler], "Step | BatchStep"]
"""Returns the step for an argument of the manifest; a ValueError if the argument is invalid."""


@dataclass(frozen=True)
class OperationExample:
    """A use of an operation that the documentation shows and a test runs."""

    step: Any
    """The step as a manifest writes it."""
    value: Any
    """The value that it is applied to."""
    result: Any
    record: dict[str, Any] | None = None
    """The record around the value, if the operation reads it."""


@dataclass(frozen=True)
class Operation:
    """One row of the table."""

    name: str
    summary: str
    """One line of documentation."""
    build: Build
    example: OperationExample
    takes_missing: bool = False
    """Whether it accepts a missing column, as it does null; otherwise that is an error."""
    expressions: Callable[[Any], list[Any]] = lambda argument: []
    """Returns the expressions in an argument, as the manifest writes them."""
    optional: bool = False
    """Whether these expressions may read columns that are missing."""
    reads_files: bool = False
    """Whether the function takes a Boundary after the value."""
    steps: Callable[[Any], list[Any]] = lambda argument: []
    """Returns the operations in an argument."""
    texts: Callable[[Any], Any] = lambda argument: None
    """Returns the part of an argument whose texts a result may be, or have."""
    own_columns: Callable[[Any], tuple[str, ...]] = lambda argument: ()
    """Returns the columns that an argument adds to the record for the expressions in it."""

    def adds(self, argument: Any, path: str) -> bool:
        """Return whether a dotted path starts in a column that the argument adds."""
        return path.partition(".")[0] in self.own_columns(argument)


OF_NULL = " (`default` gives one in place of null, `where` leaves such records out)"
"""What the error of a step says of null in place of a value."""


def as_list(argument: Any) -> list[Any]:
    """Return an argument as a list: unchanged if it is one, else a list of it alone."""
    return argument if isinstance(argument, list) else [argument]


def expect_type(value: Any, kind: type | tuple[type, ...], what: str) -> Any:
    """Return `value` if it has the type `kind`, else raise "needs `what`"."""
    # A bool is an int to Python, but not in manifests.
    if isinstance(value, kind) and not (isinstance(value, bool) and kind is int):
        return value
    raise MappingError(f"needs {what}{OF_NULL if value is None else ''}", value=value)


def to_str(value: Any) -> str:
    """Return a str unchanged and a number as a str; a MappingError for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise MappingError(f"needs a string{OF_NULL if value is None else ''}", value=value)


def on_text(function: Callable[..., Any], *, is_heavy: bool = False) -> Step:
    """Return the step of a function of a str; numbers become a str."""
    return Step(function, str, to_str, is_heavy=is_heavy)


def on_list(function: Callable[..., Any], what: str = "a list", *, is_heavy: bool = False) -> Step:
    """Return the step of a function of a list; `what` is how an error calls the list."""
    return Step(function, list, lambda value: expect_type(value, list, what), is_heavy=is_heavy)


def no_argument(step: Step) -> Build:
    """Return the `build` function of an operation that takes no argument."""

    def build(argument: Any, _: Compiler) -> Step:
        if argument is not None:
            raise ValueError(f"takes no argument, got {argument!r}")
        return step

    return build


def options(argument: Any, **defaults: Any) -> dict[str, Any]:
    """Return a dict of options, with `defaults` for those that the argument omits."""
    if argument is None:
        return defaults
    if not isinstance(argument, dict):
        raise ValueError(f"takes a mapping of {', '.join(defaults)}, got {argument!r}")
    unknown = [key for key in argument if key not in defaults]
    if unknown:
        raise ValueError(f"unknown option {unknown[0]!r}, known: {', '.join(defaults)}")
    return {**defaults, **argument}
