"""YAML text → a document in one pass, where nothing in it is odd: thousands of files are read.

Anchors, aliases, tags, merged keys and whatever is not allowed are left to `yaml_composer`, which
says what is wrong; it takes twice as long. A test holds both to the same documents.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from yaml import YAMLError
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)

from registry.yamldoc.document import Document, Positions
from registry.yamldoc.parser import EVENTS, MAX_DEPTH, MAX_NODES, MAX_TEXT
from registry.yamldoc.scalars import INT64, plain_scalar

__all__ = ["compose_plain"]

_Following = Callable[[], Any]
"""Return the next event, None after the last one."""


class _NotPlainError(Exception):
    """The text has what only `yaml_composer` knows."""


def compose_plain(text: str, *, file: str) -> Document | None:
    """Return the document of a text, None where it is not plain or not valid."""
    places: list[int] = []
    try:
        value = _whole(EVENTS(text).get_event, places)
    except (_NotPlainError, YAMLError, UnicodeEncodeError):
        return None
    # Without aliases, values have no more text than the file.
    if len(text) > MAX_TEXT or len(places) // 2 > MAX_NODES:
        return None
    return Document(value, file, Positions(value, places))


def _whole(following: _Following, places: list[int]) -> Any:
    following()  # the start of the stream, and of the document
    if not isinstance(following(), DocumentStartEvent):
        raise _NotPlainError
    root = following()
    _note(root, places)
    value = _value(root, following, places, 0)
    following()  # the end of the document
    if not isinstance(following(), StreamEndEvent):
        raise _NotPlainError
    return value


def _note(event: Any, places: list[int]) -> None:
    mark = event.start_mark
    places += (mark.line + 1, mark.column + 1)


def _value(event: Any, following: _Following, places: list[int], depth: int) -> Any:
    # Types of events have no subtypes, and `is` takes half the time of `isinstance`.
    kind = type(event)
    if kind is AliasEvent or event.anchor or event.tag or depth > MAX_DEPTH:
        raise _NotPlainError
    if kind is ScalarEvent:  # quoted and block text is what it is
        return _scalar(event.value) if event.implicit[0] else event.value
    if kind is MappingStartEvent:
        return _mapping(following, places, depth)
    return _sequence(following, places, depth)


def _scalar(text: str) -> Any:
    value = plain_scalar(text)
    if type(value) is str:
        return value
    if type(value) is float and not math.isfinite(value):
        raise _NotPlainError
    if type(value) is int and not -INT64 <= value < INT64:
        raise _NotPlainError
    return value


def _sequence(following: _Following, places: list[int], depth: int) -> list[Any]:
    items = []
    while type(event := following()) is not SequenceEndEvent:
        _note(event, places)
        items.append(_value(event, following, places, depth + 1))
    return items


def _mapping(following: _Following, places: list[int], depth: int) -> dict[str, Any]:
    """Return a mapping; the place of a value is that of its key."""
    items: dict[str, Any] = {}
    while type(event := following()) is not MappingEndEvent:
        key = _value(event, following, places, depth + 1)
        if type(key) is not str or key == "<<" or key in items:
            raise _NotPlainError
        mark = event.start_mark
        places += (mark.line + 1, mark.column + 1)
        items[key] = _value(following(), following, places, depth + 1)
    return items
