"""The order of a dataset's keys: find keys that are out of order, and move their lines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from registry.lint.fixes.source_file import ManifestFile
from registry.yamldoc.edit import reordered
from registry.yamldoc.reader import DataPath, Document, json_path

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
    "accept",
    "eval",
    "auto_id",
    "shuffle",
    "seed",
    "shuffle_choices",
    "limit",
)
"""In the order that records are processed: what it is, sources, transforms, fields, view."""
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
    "lines",
    "records",
    "item",
    "columns",
)
"""What is read, which part of it, and how."""

_DATASET_RANKS = {key: rank for rank, key in enumerate(DATASET_KEYS)}
_SOURCE_RANKS = {key: rank for rank, key in enumerate(SOURCE_KEYS)}


def misplaced_keys(document: Document) -> Iterator[tuple[DataPath, str]]:
    """Yield the first key of each mapping that is out of order, and the key it belongs before."""
    mappings: dict[DataPath, Any] = {}
    for name, dataset in ((document.value or {}).get("datasets") or {}).items():
        path: DataPath = ("datasets", name)
        mappings[path] = dataset
        mappings[*path, "source"] = dataset.get("source")
        for index, part in enumerate(dataset.get("concat") or ()):
            mappings[*path, "concat", index] = part
        mappings[*path, "join", "source"] = (dataset.get("join") or {}).get("source")
    for path, mapping in mappings.items():
        ranks = _ranks(path)
        start = document.position(path)
        places = {key: document.position((*path, key)) for key in mapping or ()}
        # A key that `<<` merges has the position of its anchor, which is above.
        own = sorted((key for key in places if places[key] >= start), key=lambda key: places[key])
        for before, key in pairwise(own):
            if ranks.get(key, -1) < ranks.get(before, -1):
                yield (*path, key), before
                break


def _ranks(path: DataPath) -> dict[str, int]:
    """Return the order of the keys of a mapping: `datasets.NAME`, or a source below that."""
    return _DATASET_RANKS if len(path) == 2 else _SOURCE_RANKS


def order_keys(file: ManifestFile) -> tuple[ManifestFile, list[str], list[str]]:
    """Put keys in order by moving full lines, together with the comments above them.

    Skips a mapping that shares lines with another, or whose value would change because an alias
    would be above its anchor.
    """
    done: list[str] = []
    left: list[str] = []
    refused: set[DataPath] = set()
    while True:
        paths = (key[:-1] for key, _ in misplaced_keys(file.document))
        path = next((path for path in paths if path not in refused), None)
        if path is None:
            return file, done, left
        text = None if file.has_odd_breaks else reordered(file.text, path, _ranks(path))
        changed = None if text is None else file.with_text(text)
        where = json_path(path)
        # A mapping that is still out of order after moving would be tried forever.
        if changed is None or any(key[:-1] == path for key, _ in misplaced_keys(changed.document)):
            refused.add(path)
            left.append(f"the keys of {where} can't be moved as lines; put them in order by hand")
        else:
            file = changed
            done.append(f"put the keys of {where} in order")
