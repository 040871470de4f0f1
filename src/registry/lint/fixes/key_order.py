"""The order of a dataset's keys: what stands out of it, and putting it right line by line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    text = reordered(file.text, path, _DATASET_RANKS if len(path) == 2 else _SOURCE_RANKS)
    changed = None if text is None else file.with_text(text)
    # Only if the mapping is in order now is it done; else it would be tried for ever.
    still = changed is None or any(one[:-1] == path for one, _ in misplaced_keys(changed.document))
    return None if still else changed
