"""Make the relative paths of sources absolute: they are relative to the folder of the index."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from registry.manifest.source_models import source_model

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
    model = source_model({"type": source.get("type", inherited.get("type"))})
    return {**source, **model.absolute_paths(source, inherited, folder)}
