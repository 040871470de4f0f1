"""Resolve a dataset: parent, defaults and overrides applied, nothing left open."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from registry.errors import ManifestError, Problem, did_you_mean, near_names
from registry.expressions import parse_condition, parse_expression
from registry.locations import is_local, local_path, public_location, unpacked_suffix
from registry.spec import DatasetSpec, Source, View
from registry.yamlfile import DataPath, Document, json_path

__all__ = ["Entry", "Layer", "resolve", "source_type", "spec_of_source"]

# Mappings that a later layer adds to; everything else it replaces.
_DEEP: frozenset[DataPath] = frozenset(
    {
        (),
        ("source",),
        ("source", "fs_options"),
        ("source", "columns"),
        ("fields",),
        ("fields", "metadata"),
        ("expect",),
    }
)
_VIEW_KEYS = tuple(View.model_fields)
_SOURCE_KEYS = ("split", "revision")
_SECRET = re.compile(r"^key$|secret|password|passwd|token|credential|sas", re.IGNORECASE)
_GENERIC_BUILDERS = frozenset({"csv", "json", "parquet", "text", "arrow", "xml"})
_SUFFIX_TYPES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
}


@dataclass(frozen=True)
class Entry:
    """One dataset as it stands in a file."""

    name: str
    document: Document
    folder: Path
    """What its relative paths are relative to: the folder of the index."""
    defaults: Layer
    """The defaults of the index that brought it."""

    @property
    def value(self) -> dict[str, Any]:
        """The keys that the file gives."""
        value: dict[str, Any] = self.document.value["datasets"][self.name]
        return value

    def problem(self, path: DataPath, message: str, hint: str = "") -> Problem:
        """Return a problem of this entry; `path` is relative to it."""
        return self.document.problem(("datasets", self.name, *path), message, hint)


@dataclass(frozen=True)
class Layer:
    """Some of a dataset's keys, and where they come from."""

    kind: str
    """default, parent, own or override."""
    value: dict[str, Any]
    document: Document | None = None
    base: DataPath = ()
    """Where in the document the keys stand."""

    def problem(self, path: DataPath, message: str, hint: str = "") -> Problem:
        """Return a problem of the key at `path`."""
        if self.document is None:
            return Problem(message=message, path=json_path(path), file=self.kind, hint=hint)
        return self.document.problem((*self.base, *path), message, hint)


@dataclass(frozen=True)
class _Merged:
    value: dict[str, Any]
    layers: dict[DataPath, Layer]
    """Which layer each value comes from."""

    def problem(self, path: DataPath, message: str, hint: str = "") -> Problem:
        around = path
        while around and around not in self.layers:
            around = around[:-1]
        return self.layers[around].problem(path, message, hint)


def resolve(
    name: str,
    entries: Mapping[str, Entry],
    *,
    overrides: Mapping[str, Any] | None = None,
    source: str | None = None,
) -> DatasetSpec:
    """Return the dataset `name` with nothing left open.

    Args:
        name: A name in `entries`.
        entries: All entries of the catalog.
        overrides: View arguments, and `split` and `revision` of the source.
        source: A path or URL with the same data, in place of the source's location.

    Raises:
        ManifestError: with all problems, each at the place it comes from.
    """
    chain = _chain(entries[name], entries)
    layers = [_defaults_for(chain), *_own_layers(chain)]
    if overrides:
        layers.append(_override_layer(overrides))
    merged = _merge(layers)
    if source is not None:
        merged = _with_source(merged, source)
    problems = list(_problems(merged))
    if problems:
        raise ManifestError(problems)
    return _spec(name, merged, chain[-1].folder)


def _chain(entry: Entry, entries: Mapping[str, Entry]) -> list[Entry]:
    """Return the entry and its ancestors, the root first."""
    chain = [entry]
    while (parent := chain[0].value.get("extends")) is not None:
        if parent not in entries:
            near = near_names(parent, entries)
            hint = f"near names: {', '.join(near)}" if near else ""
            raise ManifestError([chain[0].problem(("extends",), f"no dataset '{parent}'", hint)])
        if any(known.name == parent for known in chain):
            names = " → ".join([known.name for known in reversed(chain)] + [parent])
            raise ManifestError([chain[0].problem(("extends",), f"a cycle: {names}")])
        chain.insert(0, entries[parent])
    return chain


def _own_layers(chain: list[Entry]) -> Iterator[Layer]:
    for entry in chain:
        kind = "own" if entry is chain[-1] else "parent"
        value = {key: item for key, item in entry.value.items() if key != "extends"}
        yield Layer(kind, value, entry.document, ("datasets", entry.name))


def _defaults_for(chain: list[Entry]) -> Layer:
    """Return the index's defaults, of its sources those for the dataset's type."""
    defaults = chain[-1].defaults
    types = [entry.value.get("source", {}).get("type") for entry in chain]
    kind = next((kind for kind in reversed(types) if kind), None)
    value = {key: item for key, item in defaults.value.items() if key != "source"}
    sources = defaults.value.get("source", {})
    if kind in sources:
        value["source"] = {"type": kind, **sources[kind]}
    return Layer("default", value, defaults.document, defaults.base)


def _override_layer(overrides: Mapping[str, Any]) -> Layer:
    known = (*_VIEW_KEYS, *_SOURCE_KEYS)
    for key in overrides:
        if key not in known:
            hint = did_you_mean(key, known) or f"known: {', '.join(known)}"
            raise TypeError(f"get_dataset() has no argument '{key}' ({hint})")
    value = {key: item for key, item in overrides.items() if key in _VIEW_KEYS}
    source = {key: item for key, item in overrides.items() if key in _SOURCE_KEYS}
    return Layer("override", {**value, "source": source} if source else value)


def _merge(layers: list[Layer]) -> _Merged:
    merged = _Merged({}, {(): layers[-1]})
    for layer in layers:
        _drop_replaced(merged.value, layer.value)
        _merge_into(merged, merged.value, layer.value, layer, ())
    return merged


def _drop_replaced(value: dict[str, Any], later: dict[str, Any]) -> None:
    """Drop what a later layer makes void: a source of another type, the seed of no shuffle."""
    kind = later.get("source", {}).get("type")
    if kind is not None and value.get("source", {}).get("type", kind) != kind:
        del value["source"]
    if later.get("shuffle") is False and "seed" not in later:
        value.pop("seed", None)


def _merge_into(
    merged: _Merged, value: dict[str, Any], later: dict[str, Any], layer: Layer, path: DataPath
) -> None:
    for key, item in later.items():
        here = (*path, key)
        merged.layers[here] = layer
        if here in _DEEP and isinstance(item, dict):
            inner = value.get(key)
            value[key] = dict(inner) if isinstance(inner, dict) else {}
            _merge_into(merged, value[key], item, layer, here)
        elif item is None and path != ("fields",):
            value.pop(key, None)
        else:
            value[key] = item


def _with_source(merged: _Merged, location: str) -> _Merged:
    """Replace the location; a file decides its type by its suffix."""
    path = local_path(location) if is_local(location) else location
    old = merged.value.get("source", {})
    kind = source_type(location)
    if kind is None and os.path.isdir(path):
        kind = "hf"
    if kind is None:
        known = ", ".join(_SUFFIX_TYPES)
        message = f"can't tell the type of {public_location(location)}"
        raise ManifestError(
            [Problem(message=message, file="source", hint=f"known suffixes: {known}")]
        )
    kept = old if old.get("type") == kind else {}
    source = {key: item for key, item in kept.items() if key not in ("path", "revision")}
    value = {key: item for key, item in merged.value.items() if key not in ("expect", "concat")}
    layer = Layer("override", {})
    tab = {"delimiter": "\t"} if unpacked_suffix(location) in (".tsv", ".tab") else {}
    value["source"] = {**tab, **source, "type": kind, "path": path}
    return _Merged(value, {**merged.layers, ("source",): layer, ("source", "path"): layer})


def source_type(location: str) -> str | None:
    """Return the type of source that a file's suffix stands for, or None."""
    return _SUFFIX_TYPES.get(unpacked_suffix(location))


def spec_of_source(source: Mapping[str, Any], folder: Path) -> Source:
    """Return a source as a manifest in `folder` would have it.

    Raises:
        ManifestError: a key is missing or not valid.
    """
    entry: dict[str, Any] = {"source": dict(source)}
    return _spec("source", _Merged(entry, {(): Layer("source", entry)}), folder).source


def _problems(merged: _Merged) -> Iterator[Problem]:
    yield from _view_problems(merged)
    yield from _secret_problems(merged)
    yield from _field_problems(merged)
    yield from _step_problems(merged)
    if "source" not in merged.value:
        yield merged.problem((), "the dataset has no source", "add `source: {type: …, path: …}`")


def _view_problems(merged: _Merged) -> Iterator[Problem]:
    value = merged.value
    if value.get("shuffle") and "seed" not in value:
        message = "`shuffle` without `seed` gives another order on every machine"
        yield merged.problem(("shuffle",), message, "add `seed: 42`")
    if "seed" in value and not value.get("shuffle"):
        yield merged.problem(
            ("seed",), "`seed` without `shuffle` does nothing", "add `shuffle: true`"
        )
    if value.get("shuffle_choices") is True:
        message = "`shuffle_choices: true` gives another order on every machine"
        yield merged.problem(("shuffle_choices",), message, "give the seed: `shuffle_choices: 42`")


def _secret_problems(merged: _Merged) -> Iterator[Problem]:
    options = merged.value.get("source", {}).get("fs_options", {})
    for path, item in _leaves(options, ("source", "fs_options")):
        if isinstance(item, str) and _SECRET.search(str(path[-1])):
            message = f"a literal secret in '{path[-1]}'"
            hint = "name an environment variable: `{env: NAME}`"
            yield merged.problem(path, message, hint)


def _leaves(value: Any, path: DataPath) -> Iterator[tuple[DataPath, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, (*path, key)) if key != "env" else ()
    else:
        yield path, value


def _field_problems(merged: _Merged) -> Iterator[Problem]:
    fields = merged.value.get("fields", {})
    for key, raw in fields.items():
        expressions = {key: raw}
        if key == "metadata" and isinstance(raw, dict):
            expressions = {f"metadata.{name}": item for name, item in raw.items()}
        for name, expression in expressions.items():
            if expression is None:
                continue
            try:
                parse_expression(expression)
            except ValueError as error:
                yield merged.problem(("fields", *name.split(".", 1)), str(error))


def _step_problems(merged: _Merged) -> Iterator[Problem]:
    value = merged.value
    if "where" in value:
        try:
            parse_condition(value["where"])
        except ValueError as error:
            yield merged.problem(("where",), str(error))
    if "mapper" in value and "fields" in value:
        message = "`mapper` and `fields` exclude each other"
        yield merged.problem(("mapper",), message, "keep one; null takes an inherited one away")


def _spec(name: str, merged: _Merged, folder: Path) -> DatasetSpec:
    value = dict(merged.value)
    view = {key: value.pop(key) for key in _VIEW_KEYS if key in value}
    if view.get("shuffle_choices") is False:
        del view["shuffle_choices"]
    given = value.pop("source")
    source = _with_absolute_paths(given, folder)
    parts = [
        _with_absolute_paths(_part_of(given, part), folder) for part in value.pop("concat", ())
    ]
    if "join" in value:
        side = _with_absolute_paths(value["join"].get("source", {}), folder)
        value["join"] = {**value["join"], "source": side}
    if isinstance(value.get("explode"), str):
        value["explode"] = {"column": value["explode"]}
    tags = tuple(value.pop("tags", ()))
    try:
        return DatasetSpec(
            **value,
            name=name,
            tags=tags,
            concat=tuple(parts),  # type: ignore[arg-type]  # pydantic builds the models
            source=source,  # type: ignore[arg-type]
            view=view,  # type: ignore[arg-type]
            folder=folder,
        )
    except ValidationError as error:
        raise ManifestError(
            merged.problem(_path_of(item["loc"]), item["msg"], "") for item in error.errors()
        ) from error


def _part_of(source: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """Return a part of `concat`: the source with the part's keys in it."""
    columns = {**source.get("columns", {}), **part.get("columns", {})}
    return {**source, **part, **({"columns": columns} if columns else {})}


def _path_of(loc: tuple[str | int, ...]) -> DataPath:
    """Return the manifest's path of a pydantic location, which names the union's member too."""
    match loc:
        case ("source", _, *rest):
            return ("source", *rest)
        case ("concat", index, _, *rest):
            return ("concat", index, *rest)
        case ("join", "source", _, *rest):
            return ("join", "source", *rest)
        case ("view", *rest):
            return tuple(rest)
        case _:
            return loc


def _with_absolute_paths(source: dict[str, Any], folder: Path) -> dict[str, Any]:
    path = source.get("path")
    if source.get("type") == "hf":
        resolved = dict(source)
        if isinstance(path, str) and path.startswith(("./", "../", "/", "~")):
            resolved["path"] = _absolute(path, folder)
        if path in _GENERIC_BUILDERS and "data_files" in source:
            resolved["data_files"] = _map_texts(source["data_files"], folder)
        return resolved
    if isinstance(path, str | list):
        return {**source, "path": _map_texts(path, folder)}
    return source


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
