"""The paths of sources: absolute ones for those in a manifest, and those that may not be read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

from registry.base.locations import Location
from registry.manifest.source import OF_BYTES
from registry.manifest.source_models import source_model
from registry.rules import Finding

if TYPE_CHECKING:
    from registry.manifest.merge import Layer, Merged
    from registry.yamldoc.reader import DataPath

__all__ = [
    "outside_path",
    "part_of",
    "sources_in",
    "strings_in",
    "with_absolute_paths",
    "without_nulls",
]

_NOT_REVIEWED = "is no local file", "keep the corrections beside the manifest, as reviewed text"


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
    if isinstance(value.get("corrections"), str):
        changed["corrections"] = _absolute_source({"path": value["corrections"]}, {}, folder)[
            "path"
        ]
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


def outside_path(merged: Merged) -> Iterator[Finding]:
    """Report paths of local files that the catalog may not read."""
    for path, own, keys in sources_in(merged.value):
        model = source_model(keys)
        for key in (*model.local_keys(keys), *model.inner_keys(keys)):
            place = (*(path if key in own else ("source",)), key)
            # An argument of a call is in no file, and the user's own word.
            if merged.layer(place).document is None:
                continue
            inner = key in model.inner_keys(keys)
            for where, text in strings_in(keys.get(key), place):
                refused = _leaving(Location(text)) if inner else _refusal(Location(text), merged)
                if refused is not None:
                    start = "" if inner else _start_hint(merged.layer(place), where)
                    yield Finding(where, f"'{text}' {refused[0]}", start + refused[1])
    if (corrections := merged.value.get("corrections")) is not None:
        place = ("corrections",)
        if merged.layer(place).document is not None:
            # Whoever reviews a change must see them: they are no data of somebody else's.
            refused = (
                _refusal(Location(corrections), merged)
                if Location(corrections).is_path
                else _NOT_REVIEWED
            )
            if refused is not None:
                start = _start_hint(merged.layer(place), place)
                yield Finding(place, f"'{corrections}' {refused[0]}", start + refused[1])
    for key in ("fields", "where"):
        for where, text in _opened_constants(merged.value.get(key), (key,)):
            if merged.layer(where).document is not None and (
                refused := _refusal(Location(text), merged)
            ):
                yield Finding(where, f"'{text}' {refused[0]}", refused[1])


def _opened_constants(
    value: Any, path: DataPath, *, opened: bool = False
) -> Iterator[tuple[DataPath, str]]:
    """Yield the constants in an expression that are paths for `data_uri`, which reads files."""
    if isinstance(value, dict):
        opened = opened or "data_uri" in repr(value.get("do"))
        for key, item in value.items():
            if key not in ("const", "default"):
                yield from _opened_constants(item, (*path, key), opened=opened)
            elif opened:
                found = strings_in(item, (*path, key))
                yield from ((where, text) for where, text in found if os.path.isabs(text))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _opened_constants(item, (*path, index), opened=opened)


def _refusal(location: Location, merged: Merged) -> tuple[str, str] | None:
    if not location.is_path:
        return None
    path = location.local_path()
    if has_magic(path):
        from registry.boundary.paths import fixed_folder  # few paths are globs

        path = fixed_folder(path)
    return merged.boundary.refusal(path)


def _start_hint(layer: Layer, path: DataPath) -> str:
    """Return the start of a hint for a path that was written with `..`."""
    written: Any = layer.document and layer.document.value
    try:
        for step in layer.place(path):
            written = written[step]
    except (LookupError, TypeError):  # a default of the index is at another place
        return ""
    # It is easy to think that paths are relative to the manifest.
    leads_up = isinstance(written, str) and "../" in written
    return "a relative path starts at the folder of datasets.yaml; " if leads_up else ""


def _leaving(path: Location) -> tuple[str, str] | None:
    """Return why a path may lead out of a folder or repository, as `datasets` reads it."""
    from registry.boundary.paths import leaves_folder  # few sources name inner files

    if not path.is_local:  # `refused-protocol` reports a URL
        return None
    if leaves_folder(path):
        return "leads out of the dataset's folder", "write a path relative to that folder"
    return None


def sources_in(
    value: Mapping[str, Any],
) -> Iterator[tuple[DataPath, Mapping[str, Any], Mapping[str, Any]]]:
    """Yield each source: its path, its own keys, and its keys with inherited ones."""
    source = value.get("source") or {}
    yield ("source",), source, source
    for index, part in enumerate(value.get("concat") or ()):
        yield ("concat", index), part, part_of(source, part)
    joined = (value.get("join") or {}).get("source") or {}
    yield ("join", "source"), joined, joined


def part_of(source: Mapping[str, Any], part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part of `concat`: the source updated with the keys of the part."""
    dropped = OF_BYTES if "path" in part else ()  # another path, other bytes
    merged = {key: item for key, item in source.items() if key not in dropped} | dict(part)
    if source.get("columns") and part.get("columns"):
        merged["columns"] = {**source["columns"], **part["columns"]}
    return without_nulls(merged)


def strings_in(value: Any, path: DataPath = ()) -> Iterator[tuple[DataPath, str]]:
    """Yield the strings in plain data, with their paths, but no keys."""
    items: Any = ()
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        items = value.items()
    elif isinstance(value, list | tuple):
        items = enumerate(value)
    for key, item in items:
        yield from strings_in(item, (*path, key))
