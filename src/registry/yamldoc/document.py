"""A parsed file: its value, and the position of each nested value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from registry.base.process_state import cached_property
from registry.errors import ManifestError, Problem
from registry.rules import RULES

__all__ = [
    "CONFLICT_MARKER",
    "DataPath",
    "Document",
    "ParsedText",
    "Position",
    "Positions",
    "conflict_line",
    "is_within",
    "json_path",
    "paths_in",
    "unparsed",
]

DataPath = tuple[str | int, ...]
"""Where a value is in a document: keys and list indexes."""

CONFLICT_MARKER = r"(?m)^(<{7}|\|{7}|={7}|>{7})( .*)?\r?$"
"""A line that git writes around each side of a conflict."""
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


class Position(NamedTuple):
    """A place in a file, both 1-based."""

    line: int
    column: int


class Positions(Mapping[DataPath, Position]):
    """The positions in a document by path, which is computed on first use: for a problem."""

    def __init__(self, value: Any, numbers: Sequence[int] | bytes) -> None:
        """Store the line and column of each value in document order, or a JSON array of them."""
        self._value = value
        self._numbers = numbers

    @property
    def numbers(self) -> Sequence[int]:
        """Line and column of each value, flattened."""
        numbers = self._numbers
        decoded: Sequence[int] = json.loads(numbers) if isinstance(numbers, bytes) else numbers
        return decoded

    @cached_property
    def _by_path(self) -> dict[DataPath, Position]:
        numbers = iter(self.numbers)
        positions = map(Position, numbers, numbers)
        return dict(zip(paths_in(self._value), positions, strict=True))

    def __getitem__(self, path: DataPath) -> Position:
        return self._by_path[path]

    def __iter__(self) -> Iterator[DataPath]:
        return iter(self._by_path)

    def __len__(self) -> int:
        return len(self._by_path)


def paths_in(value: Any, path: DataPath = ()) -> Iterator[DataPath]:
    """Yield the paths of all values in document order."""
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from paths_in(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from paths_in(item, (*path, index))


@dataclass(frozen=True)
class Document:
    """A parsed file: its value and the position of each nested value."""

    value: Any
    """Plain data: dict, list, str, int, float, bool, None."""
    file: str
    """The file's name in messages."""
    positions: Positions
    """Position of each value: in a mapping, that of its key."""

    def position(self, path: DataPath) -> Position:
        """Return the position of `path`, or of the nearest value that contains it."""
        while path and path not in self.positions:
            path = path[:-1]
        return self.positions.get(path, Position(1, 1))

    def problem(self, path: DataPath, message: str, hint: str = "", *, rule: str) -> Problem:
        """Return a problem at `path`; `rule` is the id of the violated rule."""
        line, column = self.position(path)
        return Problem(
            message=message,
            file=self.file,
            line=line,
            column=column,
            path=json_path(path),
            hint=hint,
            rule=rule,
            severity=RULES[rule].severity,
        )


@dataclass(frozen=True)
class ParsedText:
    """What could be parsed of a text."""

    document: Document | None
    """None if nothing could be parsed."""
    problems: tuple[Problem, ...] = ()
    """Each at the path of its value in the document, as far as that is known."""
    incomplete: tuple[DataPath, ...] = ()
    """Mappings in the document that lack keys which could not be parsed."""

    def complete(self) -> Document:
        """Return the document of a text without problems.

        Raises:
            ManifestError: with all problems.
        """
        if self.problems or self.document is None:
            raise ManifestError(self.problems)
        return self.document


def json_path(path: DataPath) -> str:
    """Return `path` as a JSON path such as `$.datasets.mmlu.fields['a b'][0]`."""
    plain = (isinstance(step, str) and _PLAIN_KEY.fullmatch(step) for step in path)
    steps = zip(path, plain, strict=True)
    return "$" + "".join(f".{step}" if is_plain else f"[{step!r}]" for step, is_plain in steps)


def is_within(path: str, outer: str) -> bool:
    """Return whether a JSON path is another one, or a path below it."""
    return path == outer or path.startswith((f"{outer}.", f"{outer}["))


_START = Position(1, 1)


def unparsed(
    file: str,
    message: str,
    hint: str = "",
    position: Position = _START,
    *,
    rule: str,
) -> ManifestError:
    """Return the error for a file that can't be parsed."""
    line, column = position
    problem = Problem(message=message, file=file, line=line, column=column, hint=hint, rule=rule)
    return ManifestError([problem])


def conflict_line(text: str) -> int | None:
    """Return the line of the first conflict marker of a merge, or None."""
    # Most files have no marker, and a plain search is much faster than the pattern.
    marker = re.search(CONFLICT_MARKER, text) if any(mark * 7 in text for mark in "<|=>") else None
    return None if marker is None else text.count("\n", 0, marker.start()) + 1
