"""Datasets that a manifest does not write out: the splits of a dataset, `NAME:SPLIT`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from registry.errors import near_or_known
from registry.manifest.merge import Entry, Layer, Merged, current_name, parent_of
from registry.manifest.paths import with_absolute_paths
from registry.rules import Finding

__all__ = [
    "SPLIT_KEYS",
    "declared_splits",
    "default_layer",
    "derived_entries",
    "split_layer",
    "unknown_split",
]

SPLIT_KEYS = ("splits", "default_split")
_NOT_OF_SOURCE = ("description", "corrections", "expect")
"""The keys of a split that are those of a dataset; the others are those of `source`."""


def derived_entries(entries: Mapping[str, Entry]) -> Iterator[Entry]:
    """Yield an entry for each split that is declared or inherited, but for default ones."""
    for name, entry in entries.items():
        if entry.is_retired:
            continue
        splits, default = declared_splits(name, entries)
        for split in splits:
            if split != default:
                yield replace(entry, name=f"{name}:{split}")


def declared_splits(name: str, entries: Mapping[str, Entry]) -> tuple[tuple[str, ...], str | None]:
    """Return the splits that a dataset declares or inherits, and its default one.

    What is invalid in a manifest is left out: its own problem is reported.
    """
    layers: list[dict[str, Any]] = []
    seen: set[str] = set()
    written = entries[name].written if name in entries else name.partition(":")[0]
    entry = entries.get(current_name(written, entries))
    while entry is not None and entry.name not in seen:
        seen.add(entry.name)
        layers.insert(0, entry.value)
        entry = parent_of(entry, entries)
    splits: dict[str, Any] = {}
    default = None
    for layer in layers:
        given = layer.get("splits", {})
        splits = {} if given is None else splits | given if isinstance(given, dict) else splits
        default = layer.get("default_split", default)
    found = tuple(split for split, keys in splits.items() if isinstance(keys, dict))
    return found, default if isinstance(default, str) else None


def default_layer(chain: list[Entry], number: int, inherited: Mapping[str, Any]) -> Layer | None:
    """Return the keys of the default split, if it is this member of the chain that sets them.

    They follow that member's own keys, so a dataset that extends it can still name another split
    of the source.
    """
    if not set(SPLIT_KEYS) & chain[number].value.keys():
        return None
    defaults = [one.value["default_split"] for one in chain if "default_split" in one.value]
    split = defaults[-1] if defaults else None
    return split_layer(chain[: number + 1], split, inherited) if isinstance(split, str) else None


def split_layer(chain: list[Entry], split: str, inherited: Mapping[str, Any]) -> Layer | None:
    """Return the keys of a split, as the nearest of the entries that has it writes them."""
    for entry in reversed(chain):
        splits = entry.value.get("splits")
        if not isinstance(splits, dict) or split not in splits:
            continue
        keys = splits[split]
        if not isinstance(keys, dict):  # null removes an inherited split
            return None
        value = {key: keys[key] for key in _NOT_OF_SOURCE if key in keys}
        source = {key: item for key, item in keys.items() if key not in _NOT_OF_SOURCE}
        value["source"] = source
        value = with_absolute_paths(value, inherited, entry.folder)
        path = {**inherited, **value["source"]}.get("path")
        if "{split}" in str(path):
            value["source"]["path"] = _with_name(path, split)
        place = ("datasets", entry.written, "splits", split)
        return Layer("own", value, entry.document, place, inside="source")
    return None


def _with_name(path: Any, split: str) -> Any:
    """Return a path, or several, with the name of the split in place of `{split}`."""
    if isinstance(path, list):
        return [_with_name(one, split) for one in path]
    return path.replace("{split}", split) if isinstance(path, str) else path


def unknown_split(merged: Merged) -> Iterator[Finding]:
    """Report splits of which none is the default, and a default that is none of them."""
    given = (merged.value.get("splits") or {}).items()
    splits = [split for split, keys in given if keys is not None]
    default = merged.value.get("default_split")
    if default is None and splits:
        message = "`splits` without `default_split`: the name alone means none of them"
        yield Finding(("splits",), message, f"add `default_split: {splits[0]}`")
    elif default is not None and default not in splits:
        hint = near_or_known(default, splits, "splits")
        yield Finding(("default_split",), f"no split '{default}'", hint)
