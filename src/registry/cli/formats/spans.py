"""Where the keys and values of a YAML text end, for carets below them."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Sequence
from typing import Any

import yaml

__all__ = ["end_of", "lines_of"]

_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_MOST, _DEEPEST = 1 << 18, 100
"""Characters of a text, and levels in it, that are parsed for the sake of carets."""
_Place = tuple[int, int]
"""Line and column, both from 0."""
_STARTS = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
_ENDS = (yaml.MappingEndEvent, yaml.SequenceEndEvent)


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
    # Parsing takes time with the square of the depth.
    with contextlib.suppress(yaml.YAMLError):
        for event in yaml.parse(text if len(text) <= _MOST else "", Loader=yaml.CSafeLoader):
            if len(open_nodes) > _DEEPEST:
                break
            if isinstance(event, _STARTS):
                open_nodes.append(_Open(event))
            elif isinstance(event, (*_ENDS, yaml.ScalarEvent, yaml.AliasEvent)):
                is_end = isinstance(event, _ENDS)
                start = open_nodes.pop().start if is_end else _place(event.start_mark)
                end = _place(event.end_mark)
                # A mapping in block style begins where its first key does.
                nodes.setdefault(start, end)
                if open_nodes:
                    open_nodes[-1].add(start, end, values)
    return nodes, values


class _Open:
    """A mapping or list that has not ended."""

    def __init__(self, event: Any) -> None:
        self.start = _place(event.start_mark)
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


def _place(mark: Any) -> _Place:
    return mark.line, mark.column
