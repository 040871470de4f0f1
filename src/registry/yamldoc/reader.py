"""Read strict YAML with positions; after a syntax error, each top-level key and dataset by itself.

What is read in spite of an error is only for reports: a file with a problem is never used. A key in
a block mapping starts at the indentation of its siblings, so lines that do are where the parser can
start again.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from registry.base.local_files import open_beside, open_regular
from registry.errors import ManifestError, Problem
from registry.yamldoc.document import (
    DataPath,
    Document,
    ParsedText,
    Position,
    Positions,
    is_within,
    json_path,
    unparsed,
)

__all__ = [
    "MAX_BYTES",
    "DataPath",
    "Document",
    "ParsedText",
    "Position",
    "Positions",
    "is_within",
    "json_path",
    "parse_bytes",
    "parse_partially",
    "parse_yaml",
    "read_partially",
    "read_yaml",
    "unreadable",
]

MAX_BYTES = 1 << 20
"""Maximum size of a file."""
_DATASETS = "datasets"
# Compiled on first use: the warm catalog parses nothing.
_KEY = r"(?P<indent> *)(?P<quote>[\"']?)(?P<key>[A-Za-z0-9][\w.-]*)(?P=quote):(?:\s|$)"
_MOST_FRAGMENTS = 1_000


def read_yaml(path: Path, *, shown_as: str | None = None, is_index: bool = False) -> Document:
    """Read a YAML file; arguments as for `read_partially`.

    Raises:
        ManifestError: it can't be read or parsed.
    """
    return read_partially(path, shown_as=shown_as, is_index=is_index).complete()


def read_partially(
    path: Path, *, shown_as: str | None = None, is_index: bool = False
) -> ParsedText:
    """Read what can be parsed of a YAML file, in spite of problems.

    Args:
        path: The file.
        shown_as: Its name in messages.
        is_index: Whether it may not be a link that leads out of its folder.
    """
    shown = shown_as or str(path)
    try:
        with (open_beside if is_index else open_regular)(path) as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        return ParsedText(None, unreadable(shown, error).problems)
    return parse_partially(data, file=shown)


def unreadable(file: str, error: OSError) -> ManifestError:
    """Return the error for a file that can't be read."""
    return unparsed(file, f"can't read the file: {error.strerror}", rule="unreadable-file")


def parse_bytes(data: bytes, *, file: str) -> Document:
    """Parse the bytes of a file; for a file that is too large, the first MAX_BYTES + 1 suffice.

    Raises:
        ManifestError: with all problems.
    """
    return parse_partially(data, file=file).complete()


def parse_partially(data: bytes, *, file: str) -> ParsedText:
    """Parse what can be parsed of a file, in spite of problems; arguments as for `parse_bytes`."""
    try:
        text = _decoded(data, file=file)
    except ManifestError as error:
        return ParsedText(None, error.problems)
    return _parse_recovering(text, file=file)


def _decoded(data: bytes, *, file: str) -> str:
    if len(data) > MAX_BYTES:
        message = f"the file is larger than {MAX_BYTES >> 20} MiB"
        raise unparsed(file, message, "split it", rule="yaml-limit")
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        *above, before = data[: error.start].decode("utf-8").split("\n")
        line, column = len(above) + 1, len(before) + 1
        message = f"byte {data[error.start]:#04x} is not UTF-8"
        position = Position(line, column)
        hint = "save it as UTF-8"
        raise unparsed(file, message, hint, position, rule="unreadable-file") from error


def parse_yaml(text: str, *, file: str) -> Document:
    """Parse YAML text; `file` is its name in messages."""
    from registry.yamldoc.parser import compose  # the warm catalog parses nothing

    return compose(text, file=file)


def _parse_recovering(text: str, *, file: str) -> ParsedText:
    """Parse YAML text; after a syntax error, parse its top-level keys and datasets one by one."""
    from registry.yamldoc.parser import compose_partially

    parsed = compose_partially(text, file=file)
    if parsed.document is not None or parsed.problems[-1].rule != "yaml-syntax":
        return parsed
    fragments = list(_fragments(text.split("\n")))
    # Without a key to start again at, or with so many that a hostile file would take seconds.
    if not 1 < len(fragments) <= _MOST_FRAGMENTS:
        return parsed
    return _Recovery(file).combined(fragments, parsed)


class _Fragment(NamedTuple):
    """The lines of a top-level key, or of one dataset."""

    path: DataPath
    line: int
    """The line of its key, 1-based."""
    text: str

    def has(self, problem: Problem) -> bool:
        """Return whether a problem is in these lines."""
        return self.line <= problem.line <= self.line + self.text.count("\n")

    def clamp(self, problem: Problem) -> Problem:
        """Return a problem after the last line at the end of the text."""
        if self.has(problem):
            return problem
        *above, last = self.text.rstrip().split("\n")
        return replace(problem, line=self.line + len(above), column=len(last) + 1)


def _fragments(lines: list[str]) -> Iterator[_Fragment]:
    """Yield the fragments of a file in order; the lines before the first key are in none."""
    starts = [*_keys(lines, 0, len(lines), 0), ("", len(lines))]
    for (key, start), (_, stop) in pairwise(starts):
        indent = _indent_of_first_key(lines, start + 1, stop) if key == _DATASETS else 0
        if indent == 0:
            yield _Fragment((key,), start + 1, "\n".join(lines[start:stop]))
            continue
        inner = [*_keys(lines, start + 1, stop, indent), ("", stop)]
        yield _Fragment((key,), start + 1, "\n".join(lines[start : inner[0][1]]))
        for (name, first), (_, last) in pairwise(inner):
            yield _Fragment((key, name), first + 1, "\n".join(lines[first:last]))


def _keys(lines: list[str], start: int, stop: int, indent: int) -> Iterator[tuple[str, int]]:
    """Yield the keys that start at an indentation, with their lines."""
    for number in range(start, stop):
        found = re.match(_KEY, lines[number])
        if found and len(found["indent"]) == indent:
            yield found["key"], number


def _indent_of_first_key(lines: list[str], start: int, stop: int) -> int:
    """Return the indentation of the first line that has content; 0 if that is not a key."""
    for line in lines[start:stop]:
        if line.strip() and not line.lstrip().startswith("#"):
            found = re.match(_KEY, line)
            return len(found["indent"]) if found else 0
    return 0


class _Recovery:
    """Combines the fragments of a file that can be parsed to one document."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._value: dict[str, Any] = {}
        self._positions = [1, 1]
        self._problems: list[Problem] = []
        self._incomplete: dict[DataPath, None] = {(): None}

    def combined(self, fragments: list[_Fragment], stopped: ParsedText) -> ParsedText:
        """Return the parsed fragments; `stopped` is the result of parsing all of the text."""
        from registry.yamldoc.parser import MAX_NODES, compose_partially

        fatal, is_located = stopped.problems[-1], False
        for fragment in fragments:
            if len(self._positions) > 2 * MAX_NODES:  # aliases of many fragments could multiply
                break
            line = fragment.line
            parsed = compose_partially(fragment.text, file=self._file, first_line=line)
            found = list(parsed.problems)
            if parsed.document is None or not self._add(fragment, parsed.document):
                self._incomplete[fragment.path[:-1]] = None
            if parsed.document is None and found and not is_located:
                is_located = True  # all of the text stopped the parser at this fragment too
                found[-1] = fatal if fragment.has(fatal) else found[-1]
            self._report(fragment, map(fragment.clamp, found))
        if not is_located:
            self._problems.append(fatal)
        document = Document(self._value, self._file, Positions(self._value, self._positions))
        return ParsedText(document, tuple(self._problems), tuple(self._incomplete))

    def _add(self, fragment: _Fragment, document: Document) -> bool:
        """Add the value of a fragment; return whether that is possible."""
        *parents, key = fragment.path
        target: Any = self._value
        if parents:
            if self._value.get(_DATASETS, 0) is None:
                self._value[_DATASETS] = {}
            target = self._value.get(_DATASETS)
        if not isinstance(target, dict) or document.value.keys() != {key}:
            return False
        if key in target:
            message, hint = f"the key '{key}' is repeated", "this value is not checked"
            problem = document.problem((key,), message, hint, rule="duplicate-key")
            self._report(fragment, [problem])
            return True
        target[key] = document.value[key]
        self._positions += document.positions.numbers[2:]
        return True

    def _report(self, fragment: _Fragment, problems: Iterable[Problem]) -> None:
        """Add problems of a fragment, with their paths in the whole file."""
        parent = json_path(fragment.path[:-1])
        for one in problems:
            path = json_path(fragment.path) if one.path == "$" else parent + one.path[1:]
            self._problems.append(replace(one, path=path))
