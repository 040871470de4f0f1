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
from registry.spec import GENERIC_BUILDERS, DatasetSpec, Source, View
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
_SECRET = re.compile(
    r"(^|_)key(_|$)|secret|passw|token|credential|(^|_)sas(_|$)|connection_string", re.IGNORECASE
)
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
        source: A path or URL with the same data, in place of the source's location. With it, or
            with another split or revision, `expect` does not hold any more and is left out.

    Raises:
        ManifestError: with all problems, each at the place it comes from.
    """
    chain = _chain(entries[name], entries)
    defaults = chain[-1].defaults
    layers = [_without_sources(defaults), *_own_layers(chain)]
    if overrides:
        layers.append(_override_layer(overrides))
    merged = _merge(layers, defaults)
    if source is not None:
        merged = _with_source(merged, source)
    if source is not None or any(key in _SOURCE_KEYS for key in overrides or ()):
        merged.value.pop("expect", None)  # it was said of other data
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
    """Yield the entries' keys, the root's first; paths are relative to each one's own index."""
    inherited: dict[str, Any] = {}
    for entry in chain:
        kind = "own" if entry is chain[-1] else "parent"
        value = {key: item for key, item in entry.value.items() if key != "extends"}
        value = _with_absolute_paths(value, inherited, entry.folder)
        inherited = {**inherited, **value.get("source", {})}
        yield Layer(kind, value, entry.document, ("datasets", entry.name))


def _without_sources(defaults: Layer) -> Layer:
    """Return defaults without those of sources, which depend on the source's type."""
    value = {key: item for key, item in defaults.value.items() if key != "source"}
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


def _merge(layers: list[Layer], defaults: Layer) -> _Merged:
    merged = _Merged({}, {(): layers[-1]})
    for layer in layers:
        _make_room(merged, layer.value, defaults)
        _merge_into(merged, merged.value, layer.value, layer, ())
    return merged


def _make_room(merged: _Merged, later: dict[str, Any], defaults: Layer) -> None:
    """Drop what a later layer makes void: a source of another type, the seed of no shuffle."""
    value = merged.value
    if "shuffle" in later and not later["shuffle"] and "seed" not in later:
        value.pop("seed", None)
    kind = (later.get("source") or {}).get("type")
    if kind is None or value.get("source", {}).get("type") == kind:
        return
    value.pop("source", None)
    for path in [path for path in merged.layers if path[:1] == ("source",)]:
        del merged.layers[path]
    typed = defaults.value.get("source", {}).get(kind, {})
    layer = Layer("default", {}, defaults.document, defaults.base)
    if typed:
        _merge_into(merged, value, {"source": typed}, layer, ())


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
    value = {key: item for key, item in merged.value.items() if key != "concat"}
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
    entry = _with_absolute_paths(entry, {}, folder)
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
    for path, item in _options(merged.value):
        inside = path[path.index("fs_options") + 1 :]
        named = next((str(key) for key in reversed(inside) if _SECRET.search(str(key))), None)
        if named is not None and isinstance(item, str | int | float) and not isinstance(item, bool):
            message = f"a literal secret in '{named}'"
            yield merged.problem(path, message, "name an environment variable: `{env: NAME}`")


def _options(value: dict[str, Any]) -> Iterator[tuple[DataPath, Any]]:
    """Yield what stands in the fs_options of every source."""
    sources: dict[DataPath, Any] = {("source",): value.get("source")}
    sources |= {("concat", index): part for index, part in enumerate(value.get("concat") or ())}
    sources[("join", "source")] = (value.get("join") or {}).get("source")
    for path, source in sources.items():
        yield from _leaves((source or {}).get("fs_options", {}), (*path, "fs_options"))


def _leaves(value: Any, path: DataPath) -> Iterator[tuple[DataPath, Any]]:
    """Yield what stands in options, except references to the environment."""
    if isinstance(value, dict):
        if set(value) == {"env"} and isinstance(value["env"], str):
            return
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, index))
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
    value: dict[str, Any] = {**merged.value, "name": name, "folder": folder}
    view = {key: value.pop(key) for key in _VIEW_KEYS if key in value}
    if view.get("shuffle_choices") is False:
        del view["shuffle_choices"]
    value["view"] = view
    value["concat"] = tuple(_part_of(value["source"], part) for part in value.get("concat", ()))
    if isinstance(value.get("explode"), str):
        value["explode"] = {"column": value["explode"]}
    value["tags"] = tuple(value.get("tags", ()))
    try:
        return DatasetSpec(**value)
    except ValidationError as error:
        raise ManifestError(_worded(merged, item) for item in error.errors()) from error


def _worded(merged: _Merged, item: Any) -> Problem:
    """Return a problem of the model in the words of the schema's."""
    path = _path_of(item["loc"])
    if item["type"] == "missing":
        return merged.problem(path[:-1], f"the key '{path[-1]}' is missing")
    if item["type"] == "extra_forbidden":
        kind = merged.value.get("source", {}).get("type")
        return merged.problem(path, f"unknown key '{path[-1]}'", f"not a key of the type {kind}")
    return merged.problem(path, item["msg"])


def _part_of(source: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """Return a part of `concat`: the source with the part's keys in it."""
    merged = {**source, **part}
    if source.get("columns") and part.get("columns"):
        merged["columns"] = {**source["columns"], **part["columns"]}
    return _without_nulls(merged)


def _without_nulls(source: dict[str, Any]) -> dict[str, Any]:
    return {key: item for key, item in source.items() if item is not None}


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


def _with_absolute_paths(
    value: dict[str, Any], inherited: Mapping[str, Any], folder: Path
) -> dict[str, Any]:
    """Return a dataset's keys with the paths of its sources made absolute."""
    changed = dict(value)
    if isinstance(value.get("source"), dict):
        changed["source"] = _absolute_source(value["source"], inherited, folder)
    if isinstance(value.get("concat"), list):
        around = {**inherited, **changed.get("source", {})}
        changed["concat"] = [_absolute_source(part, around, folder) for part in value["concat"]]
    if isinstance(value.get("join"), dict):
        side = _absolute_source(value["join"].get("source", {}), {}, folder)
        changed["join"] = _without_nulls({**value["join"], "source": _without_nulls(side)})
    return changed


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
