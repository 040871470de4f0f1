"""Make the relative paths of sources absolute: they are relative to the folder of the index."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from registry.base.locations import is_local
from registry.manifest.models import GENERIC_BUILDERS

__all__ = ["with_absolute_paths", "without_nulls"]


def with_absolute_paths(
    value: dict[str, Any], inherited: Mapping[str, Any], folder: Path
) -> dict[str, Any]:
    """Return a dataset's keys with the paths of its sources made absolute.

    Args:
        value: The keys as a file gives them.
        inherited: The keys of the source that the dataset starts with.
        folder: The folder of the index.
    """
    changed = dict(value)
    if isinstance(value.get("source"), dict):
        changed["source"] = _absolute_source(value["source"], inherited, folder)
    if isinstance(value.get("concat"), list):
        around = {**inherited, **changed.get("source", {})}
        changed["concat"] = [_absolute_source(part, around, folder) for part in value["concat"]]
    if isinstance(value.get("join"), dict):
        side = _absolute_source(value["join"].get("source", {}), {}, folder)
        changed["join"] = without_nulls({**value["join"], "source": without_nulls(side)})
    return changed


def without_nulls(source: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of a source that have a value; null takes an inherited one away."""
    return {key: item for key, item in source.items() if item is not None}


def _absolute_source(
    source: dict[str, Any], inherited: Mapping[str, Any], folder: Path
) -> dict[str, Any]:
    kind = source.get("type", inherited.get("type"))
    path = source.get("path")
    changed = dict(source)
    if kind != "hf":
        if isinstance(path, str | list):
            changed["path"] = _map_texts(path, folder)
        return changed
    if isinstance(path, str) and path.startswith(("./", "../", "/", "~")):
        changed["path"] = _absolute(path, folder)
    if source.get("path", inherited.get("path")) in GENERIC_BUILDERS and "data_files" in source:
        changed["data_files"] = _map_texts(source["data_files"], folder)
    return changed


def _map_texts(value: Any, folder: Path) -> Any:
    match value:
        case str():
            return _absolute(value, folder)
        case list():
            return [_map_texts(item, folder) for item in value]
        case dict():
            return {key: _map_texts(item, folder) for key, item in value.items()}
        case _:
            return value


def _absolute(path: str, folder: Path) -> str:
    if not is_local(path):
        return path
    return os.path.normpath(folder / os.path.expanduser(path))
