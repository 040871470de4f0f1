"""Problems for people, above the lines that they are about, and in the formats of other tools."""

from __future__ import annotations

import contextlib
import functools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote

import yaml

from registry.base.cells import cell_len
from registry.base.escape import escape_control, escape_lines, escaped_characters
from registry.base.local_files import open_beside
from registry.base.locations import Location
from registry.cli.output import json_text
from registry.cli.terminal import columns_of, paint, wrap
from registry.errors import Problem
from registry.installation import installed_release
from registry.manifest.source_checks import may_be_secret
from registry.rules import RULES
from registry.yamldoc.reader import MAX_BYTES

__all__ = ["FORMATS", "end_of", "full_lines", "lines_of", "sarif_log"]

_COLORS = {"error": "red", "warning": "yellow"}
_HIDDEN = "(this line may have a secret, so it is not shown)"
_NAME = re.compile(r"([\w-]+)['\"]?\s*[:=]\s*[^\s{]")
"""The name of a value that is written behind it."""
_LEAST = 20
"""Columns for a line of a file that even the narrowest terminal has."""

_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_MOST_PARSED = 1 << 18
"""Characters of a text that are parsed for the sake of carets."""
_Place = tuple[int, int]
"""Line and column, both from 0."""
_STARTS = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
_ENDS = (yaml.MappingEndEvent, yaml.SequenceEndEvent)
_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_RULE_INDEX = {rule: index for index, rule in enumerate(RULES)}


def full_lines(problems: Iterable[Problem], stream: TextIO) -> Iterator[str]:
    """Yield lines for people; those of one line of a file share an excerpt.

    All text is escaped, so that only the styles control the terminal.
    """
    sources: dict[str, _Source | None] = {}
    for (file, line), group in groupby(problems, key=lambda one: (one.file, one.line)):
        if file not in sources:
            sources[file] = _Source.read(file)
        yield from _group(list(group), sources[file] if line else None, stream)
        yield ""


@dataclass(frozen=True)
class _Source:
    text: str
    lines: Sequence[str]

    @classmethod
    def read(cls, file: str) -> _Source | None:
        """Return the text of a file; None if it can't be quoted."""
        try:
            # A change under review may have replaced a file by a link to another one.
            with open_beside(Path(file)) as opened:
                data = opened.read(MAX_BYTES + 1)
            text = data.decode("utf-8-sig")
        except (OSError, ValueError):
            return None
        return None if len(data) > MAX_BYTES else cls(text, lines_of(text))


def _group(problems: Sequence[Problem], source: _Source | None, stream: TextIO) -> Iterator[str]:
    for problem in problems:
        yield from _title(problem, stream)
    first, gutter = problems[0], len(str(problems[0].line)) + 1
    arrow = paint(f"{'':{gutter - 1}}-->", stream, fg="blue")
    place = first.place if len(problems) == 1 else f"{first.file}:{first.line}"
    yield f"{arrow} {escape_control(place)}"
    if source is not None and first.line <= len(source.lines):
        yield from _excerpt(problems, source, gutter, stream)
    for hint in dict.fromkeys(problem.hint for problem in problems if problem.hint):
        yield from _wrapped(f"{'':{gutter}}= ", escape_control(hint), "help: ", stream)


def _title(problem: Problem, stream: TextIO) -> Iterator[str]:
    rule = f"[{problem.rule}]" if problem.rule else ""
    word = paint(f"{problem.severity}{rule}", stream, fg=_COLORS[problem.severity], bold=True)
    start = f"{problem.severity}{rule}: "
    first, *more = wrap(start + escape_control(problem.message), columns_of(stream))
    yield word + first[len(start) - 2 :] if first.startswith(start.rstrip()) else first
    yield from more


def _wrapped(indent: str, text: str, label: str, stream: TextIO) -> Iterator[str]:
    width = max(columns_of(stream) - len(indent), _LEAST)
    first, *more = wrap(label + text, width)
    yield indent + paint(label.rstrip(), stream, bold=True) + first[len(label) - 1 :]
    yield from (f"{'':{len(indent)}}{line}" for line in more)


def _excerpt(
    problems: Sequence[Problem], source: _Source, gutter: int, stream: TextIO
) -> Iterator[str]:
    """Yield a line of a file, and below it a line of carets for each problem."""
    number = problems[0].line
    text = source.lines[number - 1]
    bar = paint(f"{'':{gutter}}|", stream, fg="blue")
    yield bar
    start_of_line = paint(f"{number:>{gutter - 1}} |", stream, fg="blue")
    if _may_have_secret(text, problems):
        yield f"{start_of_line} {_HIDDEN}"
        yield bar
        return
    width = max(columns_of(stream) - gutter - 3, _LEAST)
    ranges = [_range(problem, text, source) for problem in problems]
    shown = _Window.around(text, ranges, width)
    yield f"{start_of_line} {shown.text}".rstrip()
    for problem, (start, end) in zip(problems, ranges, strict=True):
        before, carets = shown.columns(start, end)
        label = f" {problem.rule}" if len(problems) > 1 and problem.rule else ""
        marks = "^" * carets + (label if before + carets + len(label) <= width else "")
        yield f"{bar} {'':{before}}{paint(marks, stream, fg=_COLORS[problem.severity], bold=True)}"
    yield bar


def _may_have_secret(text: str, problems: Sequence[Problem]) -> bool:
    if any(problem.rule and RULES[problem.rule].family == "secrets" for problem in problems):
        return True
    words = re.split(r"[\s,'\"\[\]{}]+", text)
    has_url = any("://" in word and Location(word).has_secret for word in words)
    # `key` alone is a column of `join`.
    names = (name for name in _NAME.findall(text) if name.lower() != "key")
    return has_url or any(may_be_secret(name) or re.search("(?i).key", name) for name in names)


def _range(problem: Problem, text: str, source: _Source) -> tuple[int, int]:
    """Return the characters of a line that a problem is about, from 0."""
    start = min(max(problem.column - 1, 0), len(text))
    end = end_of(source.text, problem.line, start, key_only=problem.rule in _ABOUT_KEYS)
    if end is None:
        word = re.compile(r"[^\s,\[\]{}]+").match(text, start)
        end = word.end() if word else start + 1
    return start, max(end, start + 1)


_ABOUT_KEYS = frozenset(
    {"unknown-key", "duplicate-key", "yaml-key", "missing-key", "duplicate-name", "bad-name"}
)


@dataclass(frozen=True)
class _Window:
    """The part of a line that fits, as it is shown."""

    shown: Sequence[str]
    """Each character of the line, as it is shown."""
    start: int
    end: int

    @classmethod
    def around(cls, text: str, ranges: Sequence[tuple[int, int]], width: int) -> _Window:
        """Return the part of a line around the first range."""
        shown = escaped_characters(text)
        sizes = [cell_len(one) for one in shown]
        if sum(sizes) <= width:
            return cls(shown, 0, len(shown))
        start = end = min(ranges[0][0], len(shown) - 1)
        room = width - 2  # for `…` at both sides
        left = room // 3  # most of what explains a value is behind its start
        while start > 0 and sum(sizes[start - 1 : ranges[0][0]]) <= left:
            start -= 1
        while end < len(shown) and sum(sizes[start : end + 1]) <= room:
            end += 1
        while start > 0 and sum(sizes[start - 1 : end]) <= room:
            start -= 1
        return cls(shown, start, end)

    @property
    def text(self) -> str:
        before = "…" if self.start else ""
        after = "…" if self.end < len(self.shown) else ""
        return before + "".join(self.shown[self.start : self.end]) + after

    def columns(self, start: int, end: int) -> tuple[int, int]:
        """Return how many columns are before a range, and how many it takes; at least one."""
        first, last = (min(max(one, self.start), self.end) for one in (start, end))
        before = cell_len("".join(self.shown[self.start : first])) + bool(self.start)
        return before, max(1, cell_len("".join(self.shown[first:last])))


def lines_of(text: str) -> Sequence[str]:
    """Return the lines of a text, as YAML counts them."""
    return _BREAK.split(text)


def end_of(text: str, line: int, start: int, *, key_only: bool) -> int | None:
    """Return the column behind what begins at a place, if it ends on the same line, else None.

    Args:
        text: A YAML text; of an invalid one, the part before the mistake is known.
        line: A line, from 1.
        start: A column, from 0.
        key_only: Whether a key is meant without its value.
    """
    nodes, values = _ends(text)
    place = (line - 1, start)
    value = None if key_only else values.get(place)
    for end in (value, nodes.get(place)):
        if end is not None and end[0] == place[0]:
            return end[1]
    return None


@functools.lru_cache(maxsize=4)
def _ends(text: str) -> tuple[dict[_Place, _Place], dict[_Place, _Place]]:
    """Return where each node ends, and the value of each key, by where the node or key begins."""
    nodes: dict[_Place, _Place] = {}
    values: dict[_Place, _Place] = {}
    open_nodes: list[_Open] = []
    with contextlib.suppress(yaml.YAMLError):
        for event in yaml.parse(text if len(text) <= _MOST_PARSED else "", Loader=yaml.CSafeLoader):
            if isinstance(event, _STARTS):
                open_nodes.append(_Open(event))
            elif isinstance(event, (*_ENDS, yaml.ScalarEvent, yaml.AliasEvent)):
                is_end = isinstance(event, _ENDS)
                start = open_nodes.pop().start if is_end else _mark_place(event.start_mark)
                end = _mark_place(event.end_mark)
                # A mapping in block style begins where its first key does.
                nodes.setdefault(start, end)
                if open_nodes:
                    open_nodes[-1].add(start, end, values)
    return nodes, values


class _Open:
    """A mapping or list that has not ended."""

    def __init__(self, event: Any) -> None:
        self.start = _mark_place(event.start_mark)
        self._is_mapping = isinstance(event, yaml.MappingStartEvent)
        self._key: _Place | None = None

    def add(self, start: _Place, end: _Place, values: dict[_Place, _Place]) -> None:
        """Note a node in it: in a mapping they are keys and values in turn."""
        if not self._is_mapping:
            return
        if self._key is None:
            self._key = start
        else:
            values[self._key] = end
            self._key = None


def _mark_place(mark: Any) -> _Place:
    return mark.line, mark.column


def _concise(problems: Iterable[Problem]) -> Iterator[str]:
    for problem in problems:
        severity = "warning: " if problem.severity == "warning" else ""
        rule = f" [{problem.rule}]" if problem.rule else ""
        yield escape_control(f"{problem.place}: {severity}{problem.text}{rule}")


def _github(problems: Iterable[Problem]) -> Iterator[str]:
    """Yield workflow commands, which GitHub Actions shows on the lines of a pull request."""
    for problem in problems:
        place = {"line": problem.line, "col": problem.column} if problem.line else {}
        given = {"file": problem.file, **place, "title": problem.rule}
        properties = ",".join(
            f"{key}={_escaped(str(value), _PROPERTY_ESCAPES)}"
            for key, value in given.items()
            if value
        )
        message = _escaped(f"{problem.path}: {problem.text}" if problem.path else problem.text)
        yield f"::{problem.severity} {properties}::{message}"


# The runner unescapes these in reverse, so `%` must be escaped first.
_ESCAPES = (("%", "%25"), ("\n", "%0A"))
_PROPERTY_ESCAPES = (*_ESCAPES, (":", "%3A"), (",", "%2C"))


def _escaped(text: str, escapes: Sequence[tuple[str, str]] = _ESCAPES) -> str:
    text = escape_lines(text, starts_line=False)
    for character, escape in escapes:
        text = text.replace(character, escape)
    return text


FORMATS: dict[str, Callable[[Iterable[Problem]], Iterable[str]]] = {
    "concise": _concise,
    "json": lambda problems: [json_text([problem.to_dict() for problem in problems])],
    "github": _github,
    "sarif": lambda problems: [json_text(sarif_log(problems))],
}
"""By the name that `--format` takes."""


def sarif_log(problems: Iterable[Problem]) -> dict[str, Any]:
    """Return a log with one run; files in the working directory have relative URIs."""
    rules = [
        {
            "id": rule.id,
            "shortDescription": {"text": rule.reason},
            "defaultConfiguration": {"level": rule.severity, "enabled": rule.default},
            "properties": {"tags": [rule.family]},
        }
        for rule in RULES.values()
    ]
    driver = {"name": "registry", "version": installed_release(), "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",  # the default, UTF-16 units, counts an emoji twice
        "results": [_result(problem) for problem in problems],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(problem: Problem) -> dict[str, Any]:
    path = Path(problem.file)
    uri = path.as_uri() if path.is_absolute() else quote(os.fsencode(path.as_posix()))
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if problem.line:
        physical["region"] = {"startLine": problem.line, "startColumn": problem.column}
    location: dict[str, Any] = {"physicalLocation": physical}
    if problem.path:
        location["logicalLocations"] = [{"fullyQualifiedName": problem.path}]
    rule = {"ruleId": problem.rule, "ruleIndex": _RULE_INDEX[problem.rule]} if problem.rule else {}
    return {
        **rule,
        "level": problem.severity,
        "message": {"text": problem.text},
        "locations": [location],
    }
