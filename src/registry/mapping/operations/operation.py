"""What an operation of the field language is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from registry.errors import MappingError

if TYPE_CHECKING:
    from registry.fields import Expression

__all__ = ["NO_ARGUMENT", "Apply", "Example", "Operation", "need", "no_argument", "options"]

Apply = Callable[[Any, dict[str, Any]], Any]
"""A step of a pipe: value and record → value."""

Build = Callable[[Any, "Callable[[Expression], Callable[[Any], Any]]"], Apply]
"""Makes a step from the argument in the manifest and the compiler of expressions."""


@dataclass(frozen=True)
class Example:
    """A use of an operation that the documentation shows and a test runs."""

    step: Any
    """The step as a manifest writes it."""
    value: Any
    """What it is applied to."""
    result: Any
    """What comes out."""
    record: dict[str, Any] | None = None
    """The record around it, where the operation looks at it."""


@dataclass(frozen=True)
class Operation:
    """One row of the table."""

    name: str
    summary: str
    """One line of documentation."""
    build: Build
    example: Example


def need(value: Any, kind: type | tuple[type, ...], what: str) -> Any:
    """Return `value` if it is of a kind, else raise a MappingError that says what is needed."""
    if isinstance(value, kind) and not (isinstance(value, bool) and kind is int):
        return value
    raise MappingError(f"needs {what}", value=value)


NO_ARGUMENT = None


def no_argument(argument: Any) -> None:
    """Refuse an argument."""
    if argument is not NO_ARGUMENT:
        raise ValueError(f"takes no argument, got {argument!r}")


def options(argument: Any, **defaults: Any) -> dict[str, Any]:
    """Return an argument that is a map of options, with `defaults` for those left out."""
    if argument is None:
        return defaults
    if not isinstance(argument, dict):
        raise TypeError(f"takes a map of {', '.join(defaults)}, got {argument!r}")
    unknown = [key for key in argument if key not in defaults]
    if unknown:
        raise ValueError(f"unknown option {unknown[0]!r}, known: {', '.join(defaults)}")
    return {**defaults, **argument}
