"""The file, line and layer that each value of a dataset, or an error about one, comes from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from registry.base.digest import digest_of
from registry.base.locations import Location
from registry.errors import (
    DigestMismatchError,
    ManifestError,
    MappingError,
    RegistryError,
    SourceError,
)
from registry.manifest.merge import DEEP, Entry, Layer, Merged
from registry.manifest.models import DatasetSpec
from registry.manifest.paths import sources_in
from registry.manifest.resolve import merged_entry
from registry.manifest.serialize import data_of
from registry.yamldoc.reader import DataPath, json_path

__all__ = ["Origin", "located", "origins_by_path", "origins_of"]

# Mappings whose keys each have an origin; any other mapping, such as an expression, has one.
_SPLIT = DEEP | {("join",), ("join", "source"), ("explode",), ("sample",)}
_LOCATIONS = ("path", "data_files")
_MISSING = object()
_ORIGIN = "{file}:{line}:{column}"


@dataclass(frozen=True, kw_only=True)
class Origin:
    """One resolved value and where it is written."""

    key: str
    """Dotted path in a manifest: `source.path`, `fields.metadata.topic`."""
    value: Any
    """JSON data."""
    layer: str
    """default, parent, own, override, lock or bytes."""
    file: str = ""
    """Empty if it is not from a file."""
    line: int = 0
    """1-based; 0 if it is not from a file."""
    dataset: str = ""
    """The dataset whose entry has it; empty if it is not from an entry."""

    @property
    def place(self) -> str:
        """`file:line`, or `built in` for a default of the program."""
        if not self.file:
            return "built in" if self.layer == "default" else self.layer
        return f"{self.file}:{self.line}" if self.line else self.file


def origins_of(spec: DatasetSpec, entries: Mapping[str, Entry]) -> tuple[Origin, ...]:
    """Return the origin of every value of a spec that was resolved without overrides."""
    return tuple(origins_by_path(spec, entries).values())


def origins_by_path(spec: DatasetSpec, entries: Mapping[str, Entry]) -> Mapping[DataPath, Origin]:
    """Return what `origins_of` does, by the path of each value in the entry of a dataset."""
    merged = merged_entry(spec.name, entries)
    return {path: _origin(path, value, merged) for path, value in _values(spec, merged)}


def _values(spec: DatasetSpec, merged: Merged) -> Iterator[tuple[DataPath, Any]]:
    """Yield the values that determine a dataset, with their paths in a manifest."""
    hidden = {"name", "folder", "view", "split", "companion", "is_original"}
    data = data_of(spec, without=hidden)
    if spec.mapper is not None:
        del data["fields"]  # not read
    parts = data.pop("concat")
    if spec.corrections is not None:
        data["corrections"] = spec.corrections.path[0]
    for key, value in {**data, **data_of(spec.view)}.items():
        yield from _split((key,), value)
    for number, part in enumerate(merged.value.get("concat", ())):
        for key in part:  # all other keys of a part are those of the source
            value = parts[number].get(key)
            yield ("concat", number, key), _public(value) if key in _LOCATIONS else value


def _public(value: Any) -> Any:
    """Return locations without secrets; with another secret they are another value."""
    match value:
        case str():
            shown = Location(value).public
            # Else a review would not show that only the secret part changed.
            return shown if shown == value else f"{shown} ({digest_of(value)[:15]}…)"
        case list():
            return [_public(item) for item in value]
        case dict():
            return {key: _public(item) for key, item in value.items()}
        case _:
            return value


def _split(path: DataPath, value: Any) -> Iterator[tuple[DataPath, Any]]:
    if path not in _SPLIT or not isinstance(value, dict) or not value:
        # Shown as the str that manifests use in place of a list of one path.
        is_path = path[-1] == "path" and isinstance(value, list) and len(value) == 1
        shown = value[0] if is_path else value
        yield path, _public(shown) if path[-1] in _LOCATIONS else shown
        return
    for key, item in value.items():
        yield from _split((*path, key), item)


def _origin(path: DataPath, value: Any, merged: Merged) -> Origin:
    key = json_path(path).removeprefix("$.")
    layer: Layer | None
    if _at(merged.value, path) is not _MISSING:
        layer = merged.layer(path)
    else:  # a built-in default, unless a layer removes an inherited value with null
        layer = merged.layers.get(path)
        if layer is None or _at(layer.value, path) is not None:
            return Origin(key=key, value=value, layer="default")
    dataset = str(layer.base[1]) if layer.kind in ("parent", "own") else ""
    if layer.document is None:
        return Origin(key=key, value=value, layer=layer.kind, dataset=dataset)
    if layer.kind == "default" and path[0] == "source":  # an index has these by type of source
        path = ("source", merged.value["source"]["type"], *path[1:])
    line = layer.document.position(layer.place(path)).line
    file = layer.document.file
    return Origin(key=key, value=value, layer=layer.kind, file=file, line=line, dataset=dataset)


def _at(value: Any, path: DataPath) -> Any:
    """Return the value at `path`, or the short form, as in `explode: column`, that contains it."""
    for step in path:
        if isinstance(value, list) and isinstance(step, int):
            value = value[step]
        elif isinstance(value, dict):
            value = value.get(step, _MISSING)
        if value is _MISSING:
            return _MISSING
    return value


def located(error: RegistryError, name: str, entries: Mapping[str, Entry]) -> RegistryError:
    """Return an error about the data of a dataset with what its manifest says about the place.

    Positions are looked up only now that there is an error: neither a spec nor a build has them.
    """
    if isinstance(error, ManifestError) and error.paths:
        merged = merged_entry(name, entries)
        problems = [
            replace(problem, **_written_at(path, merged))
            for problem, path in zip(error.problems, error.paths, strict=True)
        ]
        return ManifestError(sorted(problems, key=lambda one: (one.file, one.line, one.column)))
    if isinstance(error, ManifestError):  # it has positions, and its dataset may not be readable
        return error
    entry = entries[name]
    if isinstance(error, SourceError) and Path(error.missing_path).is_relative_to(entry.folder):
        hint = _beside_manifest(error.missing_path, entry)
        return SourceError(f"{error} (a relative path starts at the folder of datasets.yaml{hint})")
    if isinstance(error, MappingError) and not error.origin:
        merged = merged_entry(name, entries)
        place = _written_at(_path_of_field(error.field, merged), merged)
        return error.at(origin=_ORIGIN.format(**place)) if place else error
    if isinstance(error, DigestMismatchError) and error.is_stated:
        merged = merged_entry(name, entries)
        stated = (path for path, own, _ in sources_in(merged.value) if "sha256" in own)
        place = _written_at((*next(stated, ()), "sha256"), merged)
        return error.at(_ORIGIN.format(**place)) if place else error
    return error


def _beside_manifest(path: str, entry: Entry) -> str:
    """Return the end of a hint for a missing file that is at the same path from its manifest."""
    beside = Path(entry.document.file).absolute().parent / os.path.relpath(path, entry.folder)
    if not beside.is_relative_to(entry.folder) or not beside.exists():
        return ""
    return f"; this file is at '{beside.relative_to(entry.folder).as_posix()}'"


def _written_at(path: DataPath, merged: Merged) -> dict[str, Any]:
    """Return the file, line, column and JSON path of a key of a dataset; empty if it has none."""
    layer = merged.layer(path)
    if layer.document is None or not path:
        return {}
    path = layer.place(path)
    # A key that is left out, or a short form such as `explode: column`, has no position.
    while path not in layer.document.positions:
        path = path[:-1]
    line, column = layer.document.position(path)
    file = layer.document.file
    return {"file": file, "line": line, "column": column, "path": json_path(path)}


def _path_of_field(field: str, merged: Merged) -> DataPath:
    """Return the key of the expression that computes a field, as errors name it."""
    if not field:
        return ("mapper",) if "mapper" in merged.value else ()
    name, _, key = field.partition(".")
    if name in ("where", "explode", "join", "sample", "fewshot"):
        return (name, key) if key else (name,)
    if name == "metadata" and key:
        return ("fields", name, key)
    return ("fields", name.partition("[")[0])  # `input[0]` is a message of the input
