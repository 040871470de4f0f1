"""Reorder the pairs of a YAML mapping as text, so that comments and layout stay."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import yaml

from registry.yamldoc.reader import DataPath

__all__ = ["reordered"]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def reordered(text: str, path: DataPath, ranks: Mapping[str, int]) -> str | None:
    """Return a text with the keys of the mapping at `path` sorted by rank, others first.

    None means that they are not on lines, or between braces, that could be moved. The result may
    mean something else where an alias is now above its anchor: parse it.
    """
    node = _mapping_at(yaml.compose(text, Loader=_LOADER), path)
    if node is None:
        return None
    pairs = range(len(node.value))
    order = sorted(pairs, key=lambda pair: ranks.get(node.value[pair][0].value, -1))
    lines = text.split("\n")
    return _reordered_flow(lines, node, order) if node.flow_style else _moved(lines, node, order)


def _mapping_at(node: Any, path: DataPath) -> Any:
    """Return the mapping at `path`; None where an alias or `<<` is in its place."""
    for step in path:
        if isinstance(step, int):
            inner = node.value[step]
        else:
            inner = next((value for key, value in node.value if key.value == step), None)
        # An alias gives the node of its anchor, which is further up.
        if inner is None or inner.start_mark.index < node.start_mark.index:
            return None
        node = inner
    return node if isinstance(node, yaml.MappingNode) else None


def _moved(lines: list[str], node: Any, order: list[int]) -> str | None:
    """Return the text with the lines of a block mapping's keys in another order."""
    column = node.value[0][0].start_mark.column
    rows = [key.start_mark.line for key, _ in node.value]
    if len(set(rows)) < len(rows) or any(lines[row][:column].strip() for row in rows):
        return None  # keys on one line, or behind a dash
    starts = []
    for row in rows:  # comments directly above a key move with it
        while row > 0 and lines[row - 1].startswith(f"{' ' * column}#"):
            row -= 1  # noqa: PLW2901 (the first line of the comments is what is sought)
        starts.append(row)
    end = _end_of(lines, node, column)
    blocks = [lines[start:stop] for start, stop in pairwise((*starts, end))]
    moved = [line for pair in order for line in blocks[pair]]
    changed = [*lines[: starts[0]], *moved, *lines[end:]]
    if lines[0].endswith("\r"):  # every line but the last ends so, whichever that is now
        bare = [line.removesuffix("\r") for line in changed]
        changed = [*(f"{line}\r" for line in bare[:-1]), bare[-1]]
    return "\n".join(changed)


def _end_of(lines: list[str], node: Any, column: int) -> int:
    """Return the line after a block mapping, excluding comments that belong to what follows."""
    mark = node.end_mark
    # libyaml adds a line break at the end of a text without one, so the mark may be past all lines.
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
    """Return the text with the pairs of `{…}` in another order; the gaps between them stay."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    text = "\n".join(lines)

    def index(mark: Any) -> int:
        return starts[int(mark.line)] + int(mark.column)

    spans = [(index(key.start_mark), index(value.end_mark)) for key, value in node.value]
    inside = (index(node.start_mark), index(node.end_mark))
    edges = [inside[0], *(place for span in spans for place in span), inside[1]]
    gaps = [text[edges[number] : edges[number + 1]] for number in range(0, len(edges), 2)]
    if edges != sorted(edges) or any("#" in gap for gap in gaps):
        return None  # an alias, whose value stands elsewhere, or a comment
    pieces = [text[slice(*spans[place])] for place in order]
    middle = "".join(part for pair in zip(gaps, [*pieces, ""], strict=True) for part in pair)
    return text[: inside[0]] + middle + text[inside[1] :]
