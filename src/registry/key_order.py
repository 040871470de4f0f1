"""The order of a dataset's keys: what stands out of it, and putting it right line by line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import yaml

from registry.manifest_file import ManifestFile
from registry.yamlfile import DataPath, Document, json_path

__all__ = ["DATASET_KEYS", "SOURCE_KEYS", "misplaced_keys", "order_keys"]

DATASET_KEYS = (
    "extends",
    "description",
    "homepage",
    "license",
    "tags",
    "source",
    "concat",
    "join",
    "explode",
    "where",
    "fields",
    "mapper",
    "on_duplicate",
    "sample",
    "expect",
    "auto_id",
    "shuffle",
    "seed",
    "shuffle_choices",
    "limit",
)
"""The road that records take: what it is, where from, what becomes of them, the view."""
SOURCE_KEYS = (
    "type",
    "path",
    "name",
    "data_dir",
    "data_files",
    "split",
    "revision",
    "trust",
    "cached",
    "fs_options",
    "encoding",
    "dialect",
    "delimiter",
    "fieldnames",
    "skip_rows",
    "records",
    "columns",
)
"""What is read, which part of it, how."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DATASET_RANKS = {key: rank for rank, key in enumerate(DATASET_KEYS)}
_SOURCE_RANKS = {key: rank for rank, key in enumerate(SOURCE_KEYS)}


def misplaced_keys(document: Document) -> Iterator[tuple[DataPath, str]]:
    """Yield the first key of each mapping that stands behind one which it belongs before."""
    for path, keys, ranks in _ordered_mappings(document.value):
        own = _own_keys(document, path, keys)
        for before, key in pairwise(own):
            if ranks.get(key, -1) < ranks.get(before, -1):
                yield (*path, key), f"'{key}' belongs before '{before}'"
                break


def _own_keys(document: Document, path: DataPath, keys: Sequence[str]) -> list[str]:
    """Return the keys that stand in the mapping itself, and are not brought by `<<`."""
    start = document.position(path)
    places = {key: document.position((*path, key)) for key in keys}
    return sorted((key for key in keys if places[key] >= start), key=lambda key: places[key])


def _ordered_mappings(value: Any) -> Iterator[tuple[DataPath, list[str], dict[str, int]]]:
    """Yield the mappings of a document whose keys have an order."""
    for name, dataset in ((value or {}).get("datasets") or {}).items():
        path: DataPath = ("datasets", name)
        yield path, list(dataset), _DATASET_RANKS
        for step, source in _sources_of(dataset):
            yield (*path, *step), list(source), _SOURCE_RANKS


def _sources_of(dataset: dict[str, Any]) -> Iterator[tuple[DataPath, dict[str, Any]]]:
    if dataset.get("source"):
        yield ("source",), dataset["source"]
    for index, part in enumerate(dataset.get("concat") or ()):
        yield ("concat", index), part
    if (dataset.get("join") or {}).get("source"):
        yield ("join", "source"), dataset["join"]["source"]


def order_keys(file: ManifestFile) -> tuple[ManifestFile, list[str], list[str]]:
    """Put keys in order; return the file, what was done and what was left.

    Lines move whole, with the comments above them, so nothing else changes. What would then say
    something else (an alias above its anchor) or has no lines of its own is left.
    """
    done: list[str] = []
    left: list[str] = []
    refused: set[DataPath] = set()
    while (path := _next_mapping(file, refused)) is not None:
        where = json_path(path)
        changed = None if file.has_odd_breaks else _ordered(file, path)
        if changed is None:
            refused.add(path)
            left.append(f"the keys of {where} can't be moved as lines; put them in order by hand")
        else:
            file = changed
            done.append(f"put the keys of {where} in order")
    return file, done, left


def _next_mapping(file: ManifestFile, refused: set[DataPath]) -> DataPath | None:
    found = (path[:-1] for path, _ in misplaced_keys(file.document))
    return next((path for path in found if path not in refused), None)


def _ordered(file: ManifestFile, path: DataPath) -> ManifestFile | None:
    """Return the file with one mapping in order; None where that can't be done."""
    node = _node_at(yaml.compose(file.text, Loader=_LOADER), path)
    ranks = _DATASET_RANKS if len(path) == 2 else _SOURCE_RANKS
    if node is None or len(node.value) < 2:
        return None
    order = sorted(
        range(len(node.value)), key=lambda place: ranks.get(node.value[place][0].value, -1)
    )
    lines = file.text.split("\n")
    text = _reordered_flow(lines, node, order) if node.flow_style else _moved(lines, node, order)
    changed = None if text is None else file.with_text(text)
    # Only if the mapping is in order now is it done; else it would be tried for ever.
    still = changed is None or any(one[:-1] == path for one, _ in misplaced_keys(changed.document))
    return None if still else changed


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
