"""Reorder the keys of a YAML mapping as text, preserving comments and layout."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import yaml

from registry.yamldoc.reader import DataPath

__all__ = ["reordered"]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def reordered(text: str, path: DataPath, ranks: Mapping[str, int]) -> str | None:
    """Return the text with the keys of the mapping at `path` sorted by rank, unranked keys first.

    None if the keys can't be moved as lines or within braces. The caller must parse the result: an
    alias may now be above its anchor.
    """
    node = _mapping_at(yaml.compose(text, Loader=_LOADER), path)
    if node is None:
        return None
    pairs = range(len(node.value))
    order = sorted(pairs, key=lambda pair: ranks.get(node.value[pair][0].value, -1))
    lines = text.split("\n")
    return _reordered_flow(lines, node, order) if node.flow_style else _moved(lines, node, order)


def _mapping_at(node: Any, path: DataPath) -> Any:
    """Return the mapping at `path`; None if it comes from an alias or `<<`."""
    for step in path:
        if isinstance(step, int):
            inner = node.value[step]
        else:
            inner = next((value for key, value in node.value if key.value == step), None)
        # PyYAML resolves an alias to the node of its anchor, which is further up.
        if inner is None or inner.start_mark.index < node.start_mark.index:
            return None
        node = inner
    return node if isinstance(node, yaml.MappingNode) else None


def _moved(lines: list[str], node: Any, order: list[int]) -> str | None:
    """Return the text with the lines of a block mapping's keys in another order."""
    column = node.value[0][0].start_mark.column
    rows = [key.start_mark.line for key, _ in node.value]
    if len(set(rows)) < len(rows) or any(lines[row][:column].strip() for row in rows):
        return None  # several keys on one line, or a key after the dash of a list item
    starts = []
    for row in rows:
        start = row
        while start > 0 and lines[start - 1].startswith(f"{' ' * column}#"):
            start -= 1  # comments directly above a key move with it
        starts.append(start)
    end = _end_of(lines, node, column)
    blocks = [lines[start:stop] for start, stop in pairwise((*starts, end))]
    moved = [line for pair in order for line in blocks[pair]]
    changed = [*lines[: starts[0]], *moved, *lines[end:]]
    if lines[0].endswith("\r"):  # CRLF: all lines but the new last one must have the "\r"
        bare = [line.removesuffix("\r") for line in changed]
        changed = [*(f"{line}\r" for line in bare[:-1]), bare[-1]]
    return "\n".join(changed)


def _end_of(lines: list[str], node: Any, column: int) -> int:
    """Return the line after a block mapping, without less indented comments, which follow it."""
    mark = node.end_mark
    # libyaml adds a missing line break at the end of a text, so the mark may be after all lines.
    last = "".join(lines[mark.line : mark.line + 1])
    end = int(mark.line) + bool(last[: mark.column].strip())
    while end > 0:
        line = lines[end - 1].strip()
        indent = len(lines[end - 1]) - len(lines[end - 1].lstrip())
        if line and not (line.startswith("#") and indent < column):
            break
        end -= 1
    return end


def _reordered_flow(lines: list[str], node: Any, order: list[int]) -> str | None:
    """Return the text with the pairs of `{…}` in another order, and the separators unchanged."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    text = "\n".join(lines)

    def index(mark: Any) -> int:
        return starts[int(mark.line)] + int(mark.column)

    spans = [(index(key.start_mark), index(value.end_mark)) for key, value in node.value]
    inside = (index(node.start_mark), index(node.end_mark))
    edges = [inside[0], *(edge for span in spans for edge in span), inside[1]]
    gaps = [text[edges[number] : edges[number + 1]] for number in range(0, len(edges), 2)]
    if edges != sorted(edges) or any("#" in gap for gap in gaps):
        return None  # an alias, whose node is that of its anchor, or a comment
    pairs = [text[slice(*spans[pair])] for pair in order]
    middle = "".join(part for both in zip(gaps, [*pairs, ""], strict=True) for part in both)
    return text[: inside[0]] + middle + text[inside[1] :]
