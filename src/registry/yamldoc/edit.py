"""Put the pairs of a YAML mapping in another order, as text: nothing is written anew."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import yaml

from registry.yamldoc.reader import DataPath

__all__ = ["reordered"]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def reordered(text: str, path: DataPath, ranks: Mapping[str, int]) -> str | None:
    """Return a text with the keys of the mapping at `path` by rank, others first.

    None is that they have no lines, or places in braces, that could be moved. What is returned
    may say something else, where an alias now stands above its anchor: parse it.
    """
    node = _node_at(yaml.compose(text, Loader=_LOADER), path)
    if node is None:
        return None
    places = range(len(node.value))
    order = sorted(places, key=lambda place: ranks.get(node.value[place][0].value, -1))
    lines = text.split("\n")
    return _reordered_flow(lines, node, order) if node.flow_style else _moved(lines, node, order)


def _node_at(node: Any, path: DataPath) -> Any:
    """Return the mapping at `path`; None where an alias or `<<` stands in its place."""
    for step in path:
        inner = _child(node, step)
        if inner is None or inner.start_mark.index < node.start_mark.index:
            return None
        node = inner
    return node if isinstance(node, yaml.MappingNode) else None


def _child(node: Any, step: str | int) -> Any:
    if isinstance(step, int):
        return node.value[step]
    return next((value for key, value in node.value if key.value == step), None)


def _moved(lines: list[str], node: Any, order: list[int]) -> str | None:
    """Return the text with the lines of a block mapping's keys in another order."""
    column = node.value[0][0].start_mark.column
    rows = [key.start_mark.line for key, _ in node.value]
    if len(set(rows)) < len(rows) or any(lines[row][:column].strip() for row in rows):
        return None  # keys on one line, or behind a dash
    starts = [_with_comments(lines, row, column) for row in rows]
    end = _end_of(lines, node, column)
    blocks = [lines[start:stop] for start, stop in pairwise((*starts, end))]
    moved = [line for place in order for line in blocks[place]]
    return "\n".join(_like(lines, [*lines[: starts[0]], *moved, *lines[end:]]))


def _with_comments(lines: list[str], row: int, column: int) -> int:
    """Return the first line of the comments that stand directly above a key."""
    while row > 0 and lines[row - 1].startswith(f"{' ' * column}#"):
        row -= 1
    return row


def _end_of(lines: list[str], node: Any, column: int) -> int:
    """Return the line behind a block mapping, without what belongs to that which follows."""
    mark = node.end_mark
    # libyaml ends the last line of a text that does not, so the mark may stand behind all lines.
    last = "".join(lines[mark.line : mark.line + 1])
    end = int(mark.line) + bool(last[: mark.column].strip())
    while end > 0 and _is_outside(lines[end - 1], column):
        end -= 1
    return end


def _is_outside(line: str, column: int) -> bool:
    text = line.strip()
    indent = len(line) - len(line.lstrip())
    return not text or (text.startswith("#") and indent < column)


def _like(old: list[str], new: list[str]) -> list[str]:
    r"""Return moved lines with `\r` where the old lines had it: at the end of all but the last."""
    if not old[0].endswith("\r"):
        return new
    bare = [line.removesuffix("\r") for line in new]
    return [*(f"{line}\r" for line in bare[:-1]), bare[-1]]


def _reordered_flow(lines: list[str], node: Any, order: list[int]) -> str | None:
    """Return the text with the pairs of `{…}` in another order, what is between them unmoved."""
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
