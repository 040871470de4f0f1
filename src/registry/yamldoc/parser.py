"""YAML text → a document with positions, composed from the parser's events.

YAML 1.2 scalars, no tags, no duplicate keys, few aliases: every value keeps its place, `no` stays
text, `010` is ten, and nothing of the file is ever executed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import yaml

from registry.errors import ManifestError, Problem
from registry.yamldoc.document import DataPath, Document, Position, Positions, unparsed
from registry.yamldoc.scalars import INT64, plain_scalar

__all__ = ["EVENTS", "MAX_DEPTH", "MAX_NODES", "MAX_TEXT", "compose"]

MAX_TEXT = 1 << 22
MAX_ALIASES = 32
MAX_DEPTH = 64
MAX_NODES = 200_000

EVENTS = getattr(getattr(yaml, "cyaml", None), "CParser", yaml.SafeLoader)
"""Makes events of a text."""


def compose(text: str, *, file: str) -> Document:
    """Return the document of a text; a ManifestError says what is wrong with it, and where."""
    return _Composer(text, file).compose()


class _Node(NamedTuple):
    """A value with its place; mappings and lists hold nodes."""

    value: Any
    position: Position
    key_positions: dict[str, Position]


_NO_KEYS: dict[str, Position] = {}


def _place(event: Any) -> Position:
    mark = event.start_mark
    return Position(mark.line + 1, mark.column + 1)


class _Composer:
    """Builds nodes from events, keeps anchors, and counts what a hostile file could multiply."""

    def __init__(self, text: str, file: str) -> None:
        self._file = file
        self._text = text
        self._events: Iterator[Any] = iter(())
        self._anchors: dict[str, _Node] = {}
        self._aliases = 0
        self._nodes = 0
        self._characters = 0
        self._positions: dict[DataPath, Position] = {}
        self._problems: list[Problem] = []

    def compose(self) -> Document:
        try:
            node = self._compose_stream()
        except yaml.MarkedYAMLError as error:
            raise self._syntax_error(error) from error
        except yaml.reader.ReaderError as error:
            raise self._unreadable(error) from error
        except UnicodeEncodeError as error:
            message = "not YAML text: half of a surrogate pair"
            raise unparsed(self._file, message) from error
        value = self._unfold(node, ())
        if self._problems:
            raise ManifestError(self._problems)
        places = list(chain.from_iterable(self._positions.values()))
        return Document(value, self._file, Positions(value, places))

    def _compose_stream(self) -> _Node:
        documents: list[_Node] = []
        self._events = iter(EVENTS(self._text).get_event, None)
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent) and documents:
                raise self._error(_place(event), "a second document", "keep one document a file")
            if isinstance(event, yaml.NodeEvent):
                documents.append(self._compose_node(event, depth=0))
        return documents[0] if documents else _Node(None, Position(1, 1), {})

    def _unreadable(self, error: yaml.reader.ReaderError) -> ManifestError:
        """Return the error of a character that YAML does not allow, with its place."""
        *above, before = self._text[: self._text_place(error)].split("\n")
        position = Position(len(above) + 1, len(before) + 1)
        return self._error(position, f"not YAML text: {error.reason}")

    def _text_place(self, error: yaml.reader.ReaderError) -> int:
        """Return the index of the character in the text; libyaml counts bytes."""
        if isinstance(error.position, int):
            return len(self._text.encode()[: error.position].decode(errors="ignore"))
        return 0

    def _syntax_error(self, error: yaml.MarkedYAMLError) -> ManifestError:
        mark = error.problem_mark or error.context_mark
        position = Position(mark.line + 1, mark.column + 1) if mark else Position(1, 1)
        message = ", ".join(part for part in (error.context, error.problem) if part)
        return self._error(position, f"not YAML: {message}")

    def _error(
        self, position: Position, message: str, hint: str = "", *, rule: str = "yaml-syntax"
    ) -> ManifestError:
        return unparsed(self._file, message, hint, position, rule=rule)

    def _note(self, position: Position, message: str, hint: str, *, rule: str) -> None:
        """Keep a problem that does not stop the parsing, so that all are reported at once."""
        error = self._error(position, message, hint, rule=rule)
        self._problems.extend(error.problems)

    def _compose_node(self, event: Any, depth: int) -> _Node:
        position = _place(event)
        if depth > MAX_DEPTH:
            message = f"nested deeper than {MAX_DEPTH} levels"
            raise self._error(position, message, rule="yaml-limit")
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, position)
        tag = event.tag
        if tag is not None and tag != "!":
            message = f"the tag {tag} is not allowed"
            self._note(position, message, "write plain values", rule="yaml-tag")
        node = self._compose_value(event, position, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _alias(self, event: Any, position: Position) -> _Node:
        self._aliases += 1
        if self._aliases > MAX_ALIASES:
            message = f"more than {MAX_ALIASES} aliases"
            raise self._error(position, message, "use `extends`", rule="yaml-limit")
        if event.anchor not in self._anchors:
            raise self._error(position, f"the anchor '{event.anchor}' is not defined above")
        return self._anchors[event.anchor]

    def _compose_value(self, event: Any, position: Position, depth: int) -> _Node:
        if isinstance(event, yaml.ScalarEvent):
            return _Node(self._scalar(event, position), position, _NO_KEYS)
        if isinstance(event, yaml.SequenceStartEvent):
            items = []
            while not isinstance(following := next(self._events), yaml.SequenceEndEvent):
                items.append(self._compose_node(following, depth + 1))
            return _Node(items, position, _NO_KEYS)
        return self._mapping(position, depth)

    def _scalar(self, event: Any, position: Position) -> Any:
        if not event.implicit[0] or event.tag == "!":  # quoted or block text
            return event.value
        return self._bounded(plain_scalar(event.value), event.value, position)

    def _bounded(self, value: Any, text: str, position: Position) -> Any:
        if isinstance(value, float) and not math.isfinite(value):
            message = f"{text} is no finite number"
            self._note(position, message, f"quote it: '{text}'", rule="yaml-number")
        if isinstance(value, int) and not -INT64 <= value < INT64:
            message = "the number needs more than 64 bits"
            self._note(position, message, "quote it", rule="yaml-number")
        return value

    def _mapping(self, position: Position, depth: int) -> _Node:
        items: dict[str, _Node] = {}
        merged: list[_Node] = []
        keys: dict[str, Position] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._compose_node(event, depth + 1)
            value = self._compose_node(next(self._events), depth + 1)
            name = self._key(key)
            if name == "<<" and getattr(event, "implicit", (False,))[0]:
                merged.append(value)
            elif name in items:
                line = keys[name].line
                message = f"the key '{name}' stands here a second time"
                hint = f"the first is on line {line}"
                self._note(key.position, message, hint, rule="duplicate-key")
            else:
                items[name], keys[name] = value, key.position
        for node in merged:
            self._merge(node, items, keys)
        return _Node(items, position, keys)

    def _key(self, node: _Node) -> str:
        if isinstance(node.value, str):
            return node.value
        shown = "a list or mapping" if isinstance(node.value, list | dict) else repr(node.value)
        message = f"a key must be text, this is {shown}"
        self._note(node.position, message, "quote it", rule="yaml-key")
        return str(node.value)

    def _merge(self, node: _Node, items: dict[str, _Node], keys: dict[str, Position]) -> None:
        """Add what `<<` brings: keys that are not there yet, the first mapping's first."""
        sources = node.value if isinstance(node.value, list) else [node]
        for source in sources:
            if not isinstance(source.value, dict):
                raise self._error(node.position, "`<<` merges mappings only")
            for name, value in source.value.items():
                if name not in items:
                    items[name], keys[name] = value, source.key_positions[name]

    def _unfold(self, node: _Node, path: DataPath) -> Any:
        """Turn nodes into plain data and note the place of each."""
        self._nodes += 1
        if len(path) > MAX_DEPTH:
            message = f"nested deeper than {MAX_DEPTH} levels"
            raise self._error(node.position, message, rule="yaml-limit")
        if self._nodes > MAX_NODES:
            message = f"more than {MAX_NODES:,} values"
            raise self._error(node.position, message, rule="yaml-limit")
        self._positions.setdefault(path, node.position)
        if isinstance(node.value, str):
            return self._counted(node.value, node.position)
        if isinstance(node.value, list):
            return [self._unfold(item, (*path, index)) for index, item in enumerate(node.value)]
        if not isinstance(node.value, dict):
            return node.value
        value = {}
        for name, item in node.value.items():
            here, position = (*path, name), node.key_positions[name]
            self._positions[here] = position
            value[self._counted(name, position)] = self._unfold(item, here)
        return value

    def _counted(self, text: str, position: Position) -> str:
        """Bound the text that aliases make of one value when the document is written out."""
        self._characters += len(text)
        if self._characters > MAX_TEXT:
            raise self._error(position, f"more than {MAX_TEXT:,} characters", "use fewer aliases")
        return text
