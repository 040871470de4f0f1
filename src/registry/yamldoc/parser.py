"""Parse YAML text to a document with positions, composed from the events of PyYAML's parser.

Strict YAML 1.2: `no` is a string and `010` is ten; tags, which could run code, and duplicate keys
are problems; aliases and sizes are limited.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import yaml
from msgspec.structs import replace
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)

from registry.errors import ManifestError, Problem
from registry.yamldoc.document import (
    DataPath,
    Document,
    ParsedText,
    Position,
    Positions,
    conflict_line,
    json_path,
    unparsed,
)

__all__ = ["INT64", "compose", "compose_partially", "plain_scalar"]


MAX_TEXT = 1 << 22
MAX_ALIASES = 32
MAX_DEPTH = 64
MAX_NODES = 200_000
_TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"

# Events, not PyYAML's own composer: its C version overflows the stack, which crashes the process,
# at 200,000 nested brackets.
_PARSER = getattr(getattr(yaml, "cyaml", None), "CParser", yaml.SafeLoader)

INT64 = 1 << 63

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(["", "~", "null", "Null", "NULL"]),
    **dict.fromkeys(["true", "True", "TRUE"], True),
    **dict.fromkeys(["false", "False", "FALSE"], False),
}
_NUMBER_STARTS = frozenset("0123456789+-.")
_NUMBERS: tuple[tuple[re.Pattern[str], Callable[[str], Any]], ...] = (
    (re.compile(r"[-+]?[0-9]+"), lambda text: _integer(text, 10)),
    (re.compile(r"0o[0-7]+"), lambda text: _integer(text[2:], 8)),
    (re.compile(r"0x[0-9a-fA-F]+"), lambda text: _integer(text[2:], 16)),
    (re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"), float),
    (re.compile(r"[-+]?\.(inf|Inf|INF)"), lambda text: float(text.replace(".", ""))),
    (re.compile(r"\.(nan|NaN|NAN)"), lambda _: math.nan),
)


def compose(text: str, *, file: str) -> Document:
    """Parse YAML text.

    Raises:
        ManifestError: with all problems up to the first that stops the parser.
    """
    return compose_partially(text, file=file).complete()


def compose_partially(text: str, *, file: str, first_line: int = 0) -> ParsedText:
    """Parse YAML text; a problem that does not stop the parser leaves a document too.

    Of a key that is repeated the document has the first value.

    Args:
        text: The text.
        file: Its file's name in messages.
        first_line: For a fragment of a file: the number of its first line. A fragment may have an
            alias of an anchor that is not in it: then it has neither a document nor a problem.
    """
    try:
        return _Composer(text, file, first_line).compose()
    except _ForeignAnchorError:
        return ParsedText(None)


class _ForeignAnchorError(Exception):
    """A fragment of a file has an alias of an anchor that is not in it."""


class _Anchor(NamedTuple):
    """A value that aliases repeat, and the slice of a list with its positions."""

    value: Any
    positions: list[int]
    start: int
    stop: int


class _Spot(NamedTuple):
    """A value in the document, whose path is known once the document is complete."""

    number: int
    """Its number in document order."""
    inner: DataPath = ()
    """A path in it."""

    def at(self, key: str) -> _Spot:
        """Return the place of a key of this mapping."""
        return self if self.inner else _Spot(self.number, (key,))


class _Composer:
    """Builds plain data from events, and limits what a hostile file could multiply.

    Positions are a flat list with the line and column of each value in document order; a value in
    a mapping has the position of its key. So no value needs an object for its position, and an
    alias copies a slice. The list only grows, so the slices of anchors remain valid.
    """

    def __init__(self, text: str, file: str, first_line: int) -> None:
        self._text = text
        self._file = file
        self._is_fragment = first_line > 0
        self._first_line = first_line or 1
        self._next: Any = None
        self._positions: list[int] = []
        self._anchors: dict[str, _Anchor] = {}
        self._aliases = 0
        self._repeated = 0
        self._characters = len(text)  # an upper bound for the characters of its strings
        self._problems: list[tuple[Problem, _Spot]] = []
        self._outer: _Spot | None = None  # set while positions are collected apart

    def compose(self) -> ParsedText:
        try:
            value = self._compose_text()
        except ManifestError as error:
            found = (problem for problem, _ in self._problems)
            return ParsedText(None, (*found, *error.problems))
        document = Document(value, self._file, Positions(value, self._positions))
        return ParsedText(document, tuple(self._located(document)))

    def _compose_text(self) -> Any:
        try:
            self._next = _PARSER(self._text).get_event
            value = self._compose_stream()
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            position = self._position(mark) if mark else Position(self._first_line, 1)
            message = ", ".join(part for part in (error.context, error.problem) if part)
            # libyaml 0.2.6 reads ahead, and has a limit of its own, of 1,000.
            if "maximum nesting depth" in message:
                raise self._limit(position, _TOO_DEEP) from error
            hint = ""
            if mark and self._text[mark.index : mark.index + 1] == "\t":
                hint = "this is a tab: indent with spaces"
            if marker := conflict_line(self._text):
                position = Position(self._first_line + marker - 1, 1)
                message, hint = "a conflict marker of a merge", "keep what is right of its sides"
            raise self._error(position, f"not YAML: {message}", hint) from error
        except yaml.reader.ReaderError as error:
            index = error.position if isinstance(error.position, int) else 0
            # libyaml reports the offset in bytes.
            *above, before = self._text.encode()[:index].decode(errors="ignore").split("\n")
            position = Position(len(above) + self._first_line, len(before) + 1)
            raise self._error(position, f"not YAML text: {error.reason}") from error
        except UnicodeEncodeError as error:
            position = Position(self._first_line, 1)
            raise self._error(position, "not YAML text: half of a surrogate pair") from error
        if len(self._positions) > 2 * MAX_NODES:
            line, column = self._positions[2 * MAX_NODES : 2 * MAX_NODES + 2]
            raise self._limit(Position(line, column), f"more than {MAX_NODES:,} values")
        return value

    def _located(self, document: Document) -> Iterator[Problem]:
        """Yield the problems with the paths of the values that they are about."""
        paths = list(document.positions) if self._problems else []
        for problem, spot in self._problems:
            yield replace(problem, path=json_path((*paths[spot.number], *spot.inner)))

    def _compose_stream(self) -> Any:
        self._next()  # the start of the stream
        if type(self._next()) is StreamEndEvent:
            self._positions += (self._first_line, 1)
            return None
        root = self._next()
        self._note(root)
        value = self._compose_value(root, 0)
        self._next()  # the end of the document
        event = self._next()
        if type(event) is not StreamEndEvent:
            hint = "keep one document per file; this one is not checked"
            self._report(event, "a second document", hint, rule="yaml-syntax", spot=_Spot(0))
        return value

    def _spot(self) -> _Spot:
        """Return the place of the value whose position was noted last."""
        return self._outer or _Spot(len(self._positions) // 2 - 1)

    def _compose_apart(self, event: Any, depth: int, spot: _Spot) -> tuple[Any, list[int]]:
        """Return a value with the positions in it, which don't count as those of the document.

        Problems in it are located at `spot`.
        """
        outer, self._positions = self._positions, []
        outermost, self._outer = self._outer, self._outer or spot
        value = self._compose_value(event, depth)
        positions, self._positions = self._positions, outer
        self._outer = outermost
        return value, positions

    def _note(self, event: Any) -> None:
        mark = event.start_mark
        self._positions += (mark.line + self._first_line, mark.column + 1)

    def _compose_value(self, event: Any, depth: int) -> Any:
        """Return the value that an event starts, and note the positions of nested values."""
        if depth > MAX_DEPTH:
            raise self._limit(self._start(event), _TOO_DEEP)
        # Event types have no subtypes, and `is` takes half the time of `isinstance`.
        kind = type(event)
        if kind is AliasEvent:
            return self._repeat(event, depth)
        if event.tag is not None and event.tag != "!":
            message = f"the tag {event.tag} is not allowed"
            self._report(event, message, "write plain values", rule="yaml-tag")
        start = len(self._positions)
        value: Any
        if kind is ScalarEvent:
            value = event.value
            # Quoted and block scalars are strings, and so is `! 12` (YAML 1.2.2, example 6.28).
            if event.implicit[0] and event.tag is None:
                value = plain_scalar(value)
                if type(value) is float and not math.isfinite(value):
                    message = f"{event.value} is not a finite number"
                    self._report(event, message, f"quote it: '{event.value}'", rule="yaml-number")
                    value = None
                elif type(value) is int and not -INT64 <= value < INT64:
                    message = "the number needs more than 64 bits"
                    self._report(event, message, "quote it", rule="yaml-number")
                    value = None
        elif kind is MappingStartEvent:
            value = self._compose_mapping(depth)
        else:
            value = []
            while type(item := self._next()) is not SequenceEndEvent:
                self._note(item)
                value.append(self._compose_value(item, depth + 1))
        if event.anchor is not None:
            stop = len(self._positions)
            self._anchors[event.anchor] = _Anchor(value, self._positions, start, stop)
        return value

    def _compose_mapping(self, depth: int) -> dict[str, Any]:
        items: dict[str, Any] = {}
        lines: dict[str, int] = {}
        spot = self._spot()
        merges: list[tuple[Any, Any, list[int]]] = []
        while type(event := self._next()) is not MappingEndEvent:
            if type(event) is ScalarEvent:
                key = self._compose_value(event, depth + 1)
                if key == "<<" and event.implicit[0]:
                    if merges:
                        message, hint = "the key '<<' is repeated", "merge a list: `<<: [*a, *b]`"
                        self._report(event, message, hint, rule="duplicate-key", spot=spot)
                    # Collect the merged positions apart: only those of added keys are used.
                    merge = self._next()
                    merges.append((merge, *self._compose_apart(merge, depth + 1, spot)))
                    continue
            else:
                key, _ = self._compose_apart(event, depth + 1, spot)
            if type(key) is not str:
                self._report_key(event, key, spot)
                if isinstance(key, list | dict):
                    self._compose_apart(self._next(), depth + 1, spot)
                    continue
                key = str(key)
            if key in items:
                message = f"the key '{key}' is repeated"
                hint = f"the first is on line {lines[key]}; this value is not checked"
                self._report(event, message, hint, rule="duplicate-key", spot=spot.at(key))
                self._compose_apart(self._next(), depth + 1, spot.at(key))
                continue
            self._note(event)
            items[key] = self._compose_value(self._next(), depth + 1)
            lines[key] = self._start(event).line
        for event, value, positions in merges:
            self._merge(event, value, positions, items, spot)
        return items

    def _report_key(self, event: Any, key: Any, spot: _Spot) -> None:
        nested = isinstance(key, list | dict)
        message = f"a key must be a string, is {'a list or mapping' if nested else repr(key)}"
        spot = spot if nested else spot.at(str(key))
        self._report(event, message, "quote it", rule="yaml-key", spot=spot)

    def _merge(
        self, event: Any, value: Any, positions: list[int], items: dict[str, Any], spot: _Spot
    ) -> None:
        """Add the keys of `<<` that are not in `items` yet; the first mapping takes precedence."""
        start = 0
        for source in value if isinstance(value, list) else [value]:
            if not isinstance(source, dict):
                self._report(event, "`<<` merges mappings only", "", rule="yaml-syntax", spot=spot)
                return
            start += 2 if isinstance(value, list) else 0  # the position of the mapping itself
            for key, item in source.items():
                stop = start + 2 * _count(item)
                if key not in items:
                    items[key] = item
                    self._positions += positions[start:stop]
                start = stop

    def _repeat(self, event: Any, depth: int) -> Any:
        """Return a copy of an alias's value, within limits on the size of the whole document."""
        self._aliases += 1
        if self._aliases > MAX_ALIASES:
            raise self._limit(
                self._start(event), f"more than {MAX_ALIASES} aliases", "use `extends`"
            )
        if event.anchor not in self._anchors:
            message = f"the anchor '{event.anchor}' is not defined above"
            if self._is_fragment:
                raise _ForeignAnchorError
            self._report(event, message, "", rule="yaml-syntax")
            return None
        value, positions, start, stop = self._anchors[event.anchor]
        self._repeated += (stop - start) // 2
        if self._repeated > MAX_NODES:
            raise self._limit(self._start(event), f"more than {MAX_NODES:,} values")
        levels, characters = _size(value)
        if depth + levels > MAX_DEPTH:
            raise self._limit(self._start(event), _TOO_DEEP)
        self._characters += characters
        if self._characters > MAX_TEXT:
            message = f"more than {MAX_TEXT:,} characters"
            raise self._error(self._start(event), message, "use fewer aliases")
        self._positions += positions[start:stop]
        return copy.deepcopy(value)  # a caller may change one without the other

    def _report(
        self, event: Any, message: str, hint: str, *, rule: str, spot: _Spot | None = None
    ) -> None:
        """Add a problem that does not stop the parser, so that all are reported at once."""
        error = self._error(self._start(event), message, hint, rule=rule)
        self._problems += [(problem, spot or self._spot()) for problem in error.problems]

    def _start(self, event: Any) -> Position:
        return self._position(event.start_mark)

    def _position(self, mark: Any) -> Position:
        return Position(mark.line + self._first_line, mark.column + 1)

    def _limit(self, position: Position, message: str, hint: str = "") -> ManifestError:
        return self._error(position, message, hint, rule="yaml-limit")

    def _error(
        self, position: Position, message: str, hint: str = "", *, rule: str = "yaml-syntax"
    ) -> ManifestError:
        return unparsed(self._file, message, hint, position, rule=rule)


def _count(value: Any) -> int:
    """Return the number of values, including nested values."""
    items = value.values() if isinstance(value, dict) else value
    return 1 + sum(map(_count, items)) if isinstance(value, dict | list) else 1


def _size(value: Any) -> tuple[int, int]:
    """Return a value's depth of nesting, and the number of characters in its keys and strings."""
    if not isinstance(value, dict | list) or not value:
        return 0, len(value) if isinstance(value, str) else 0
    levels, characters = zip(
        *map(_size, value.values() if isinstance(value, dict) else value), strict=True
    )
    keys = sum(map(len, value)) if isinstance(value, dict) else 0
    return 1 + max(levels), keys + sum(characters)


def plain_scalar(text: str) -> Any:
    """Return the value of an unquoted scalar: None, a bool, an int, a float or a str."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in _NUMBER_STARTS:
        for pattern, convert in _NUMBERS:
            if pattern.fullmatch(text):
                return convert(text)
    return text


def _integer(digits: str, base: int) -> int:
    # `int` takes quadratic time for very long numbers, and raises for them. INT64 is too large for
    # the parser, which reports it.
    return int(digits, base) if len(digits) <= 64 else INT64
