"""Make the paths of sources absolute; in a manifest they are relative to the index's folder."""

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
        value: The keys as written in a file.
        inherited: The source keys that the dataset inherits.
        folder: The folder of the index.
    """
    changed = dict(value)
    if isinstance(value.get("source"), dict):
        changed["source"] = _absolute_source(value["source"], inherited, folder)
    if isinstance(value.get("concat"), list):
        # Each part of `concat` changes some keys of `source`, such as the type.
        source = {**inherited, **changed.get("source", {})}
        changed["concat"] = [_absolute_source(part, source, folder) for part in value["concat"]]
    if isinstance(value.get("join"), dict):
        lookup = _absolute_source(value["join"].get("source", {}), {}, folder)
        changed["join"] = without_nulls({**value["join"], "source": without_nulls(lookup)})
    return changed


def without_nulls(source: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of a source that are not null; null removes an inherited value."""
    return {key: item for key, item in source.items() if item is not None}


def _absolute_source(
    source: dict[str, Any], inherited: Mapping[str, Any], folder: Path
) -> dict[str, Any]:
    model = source_model({"type": source.get("type", inherited.get("type"))})
    return {**source, **model.absolute_paths(source, inherited, folder)}
