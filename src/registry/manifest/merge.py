"""Merge the layers of a dataset (defaults, parents, own keys, overrides), keeping positions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from registry.boundary.boundary import UNBOUNDED, Boundary
from registry.errors import Problem
from registry.manifest.source import OF_BYTES
from registry.rules import RULES
from registry.yamldoc.reader import DataPath, Document

__all__ = [
    "DEEP",
    "RETIRED",
    "Entry",
    "Layer",
    "Merged",
    "Place",
    "current_name",
    "home_of",
    "index_defaults",
    "merge",
    "parent_of",
    "present_names",
]

RETIRED = ("renamed_to", "removed")
"""Keys of what is no dataset any more: its name says what became of it."""

DEEP: frozenset[DataPath] = frozenset(
    {
        (),
        ("source",),
        ("source", "fs_options"),
        ("source", "columns"),
        ("fields",),
        ("fields", "metadata"),
        ("fewshot",),
        ("expect",),
        ("eval",),
        ("splits",),
    }
)
"""Mappings that are merged key by key; other values of a later layer replace the earlier ones."""


class Place(Struct, frozen=True):
    """Where a dataset is defined."""

    folder: Path
    """The folder of its index."""
    file: str
    line: int


class Entry(Struct, frozen=True):
    """One dataset as written in a file, or a split of one, which is named `NAME:SPLIT`."""

    name: str
    document: Document
    folder: Path
    """The folder of the index, to which its paths are relative."""
    defaults: Layer
    """The defaults of the index that includes the file."""
    overridden: tuple[Place, ...] = ()
    """The datasets of included packages whose place it takes."""

    @property
    def written(self) -> str:
        """The name in the file: for a split, that of the dataset."""
        # An invalid manifest may have any name, one with a colon too.
        is_written = self.name in self.document.value["datasets"]
        return self.name if is_written else self.name.partition(":")[0]

    @property
    def split(self) -> str:
        """The split that it is; empty for a dataset as written."""
        return self.name[len(self.written) + 1 :]

    @property
    def value(self) -> dict[str, Any]:
        """The dataset's keys in the file."""
        value: dict[str, Any] = self.document.value["datasets"][self.written]
        return value

    @property
    def is_retired(self) -> bool:
        """Whether it only says that its dataset was renamed or removed."""
        return any(key in self.value for key in RETIRED)

    @property
    def overrides(self) -> bool:
        """Whether it is to take the place of a dataset of that name in an included package."""
        return self.value.get("override") is True

    @property
    def place(self) -> Place:
        """Where it is written."""
        line = self.document.position(("datasets", self.written)).line
        return Place(self.folder, self.document.file, line)

    def problem(self, path: DataPath, message: str, hint: str = "", *, rule: str) -> Problem:
        """Return a problem at `path`, which is relative to this entry."""
        return self.document.problem(("datasets", self.written, *path), message, hint, rule=rule)


def current_name(name: str, entries: Mapping[str, Entry]) -> str:
    """Return the name that a dataset has now: where `renamed_to` leads from the given one.

    The last name of the chain if that is in no manifest, was removed, or leads back.
    """
    seen: set[str] = set()
    while name in entries and name not in seen:
        seen.add(name)
        new = entries[name].value.get("renamed_to")
        if not isinstance(new, str):
            break
        name = new
    return name


def present_names(entries: Mapping[str, Entry]) -> list[str]:
    """Return the names of datasets that were neither renamed nor removed."""
    return [name for name, entry in entries.items() if not entry.is_retired]


def parent_of(entry: Entry, entries: Mapping[str, Entry]) -> Entry | None:
    """Return what a dataset extends, by the name that it has now; None if that is no dataset."""
    named = entry.value.get("extends")
    found = entries.get(current_name(named, entries)) if isinstance(named, str) else None
    return None if found is None or found.is_retired else found


def home_of(lineage: Iterable[Entry]) -> Path:
    """Return the folder of the index that a dataset belongs to, and whose lockfile pins it.

    That is the index that includes its file; but for a dataset of a package that extends one that
    was overridden, it is the index that overrides: the package knows nothing of these samples.

    Args:
        lineage: The dataset and its ancestors, in this order.
    """
    entry, *ancestors = lineage
    home = entry.folder
    for one in ancestors:
        home = one.folder if any(home == place.folder for place in one.overridden) else home
    return home


class Layer(Struct, frozen=True):
    """Some keys of a dataset from one place: a file or the arguments of a call."""

    kind: str
    """default, parent, own or override."""
    value: dict[str, Any]
    document: Document | None = None
    base: DataPath = ()
    """Where the keys are in the document."""
    inside: str = ""
    """A key whose own keys the document has in its place: those of a split are keys of `source`."""

    def place(self, path: DataPath) -> DataPath:
        """Return where the document has the value at `path`."""
        return (*self.base, *(path[1:] if self.inside and path[:1] == (self.inside,) else path))

    def problem(self, path: DataPath, message: str, hint: str = "", *, rule: str) -> Problem:
        """Return a problem at `path`, which is relative to this layer."""
        if self.document is not None:
            return self.document.problem(self.place(path), message, hint, rule=rule)
        # In a manifest, `split` and `revision` are keys of the source.
        is_inner = path[:1] == ("source",) and path[1:] not in ((), ("path",))
        name = ".".join(map(str, path[1:])) if is_inner else str((*path, "")[0])
        if is_inner and rule == "unknown-key":
            message, hint = _NO_SUCH_PART.get(name, (message, hint))
        if path[:1] != ("fewshot",):  # whose own keys are as in a manifest
            message, hint = _as_python(message), _as_python(hint)
        return Problem(
            message=message,
            file=f"argument `{name}`" if name else "",
            path="",
            hint=hint,
            rule=rule,
            severity=RULES[rule].severity,
        )


_NO_SUCH_PART = {
    "split": ("the dataset has no splits", "declare them in its manifest, under `splits`"),
    "revision": (
        "files have no revisions, as a repository of the Hub has",
        "name them by `source`",
    ),
}
_AS_PYTHON = (
    (r"`(\w+): true`", r"`\1=True`"),
    (r"`(\w+): (\d+)`", r"`\1=\2`"),
    ("true or false", "True or False"),
    ("must be a mapping", "must be a dict"),
)


def _as_python(text: str) -> str:
    """Return a message about a manifest in the words of a call."""
    for pattern, words in _AS_PYTHON:
        text = re.sub(pattern, words, text)
    return text


def index_defaults(index: Document) -> Layer:
    """Return the defaults of an index, as far as its structure allows if it is invalid."""
    given = index.value.get("defaults") if isinstance(index.value, dict) else None
    value = given if isinstance(given, dict) else {}
    source = value.get("source", {})
    if not isinstance(source, dict) or not all(isinstance(one, dict) for one in source.values()):
        value = {key: item for key, item in value.items() if key != "source"}
    return Layer("default", value, index, ("defaults",))


class Merged(Struct, frozen=True):
    """All layers of a dataset as one mapping that knows the layer of each value."""

    value: dict[str, Any]
    layers: dict[DataPath, Layer]
    """The layer that each value comes from."""
    has_parent: bool = False
    """Whether the dataset extends another."""
    boundary: Boundary = UNBOUNDED
    """What the dataset may reach."""
    is_original: bool = False
    """Whether a call asks for samples as their sources have them, without corrections."""

    def layer(self, path: DataPath) -> Layer:
        """Return the layer of the value at `path`, or of the nearest value that contains it."""
        while path and path not in self.layers:
            path = path[:-1]
        return self.layers[path]

    def problem(self, path: DataPath, message: str, hint: str = "", *, rule: str) -> Problem:
        """Return a problem at `path`, located where the value was written."""
        return self.layer(path).problem(path, message, hint, rule=rule)


def merge(layers: Sequence[Layer], defaults: Layer) -> Merged:
    """Merge layers, lowest precedence first; `defaults` has the source defaults by type."""
    has_parent = any(layer.kind == "parent" for layer in layers)
    # What the dataset as a whole lacks is not a problem of a call, nor of one of its splits.
    whole = [layer for layer in layers if layer.kind != "override" and not layer.inside]
    written = (whole or layers)[-1]
    merged = Merged({}, {(): written}, has_parent)
    for layer in layers:
        _drop_overridden(merged, layer.value, defaults)
        _merge_into(merged, merged.value, layer.value, layer, ())
    return merged


def _drop_overridden(merged: Merged, later: dict[str, Any], defaults: Layer) -> None:
    """Drop values that a later layer invalidates: a source of another type, an unused seed."""
    value = merged.value
    if "shuffle" in later and not later["shuffle"] and "seed" not in later:
        value.pop("seed", None)
    # Keys of a CSV source are invalid in a Hub source, so a source of another type starts from the
    # defaults of its own type.
    own = later.get("source") or {}
    if "path" in own:  # its bytes are others
        for key in OF_BYTES:
            value.get("source", {}).pop(key, None)
    kind = own.get("type")
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
    merged: Merged, value: dict[str, Any], later: dict[str, Any], layer: Layer, path: DataPath
) -> None:
    for key, item in later.items():
        here = (*path, key)
        merged.layers[here] = layer
        if here in DEEP and isinstance(item, dict):
            inner = value.get(key)
            value[key] = dict(inner) if isinstance(inner, dict) else {}
            _merge_into(merged, value[key], item, layer, here)
        elif item is None and path != ("fields",):  # a null field is not read: not its default
            value.pop(key, None)
        else:
            value[key] = item
