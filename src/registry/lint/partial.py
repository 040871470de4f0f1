"""What of a catalog can be judged in spite of problems of form: entries without the keys at fault.

So that one run shows all problems: a misspelt key does not hide a shuffle without a seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from msgspec import structs

from registry.catalog.catalog import Catalog
from registry.errors import Problem
from registry.manifest.merge import Entry
from registry.yamldoc.reader import json_path

__all__ = ["SoundEntries", "sound_entries"]

# Keys whose meaning another one decides: without it, nothing can be said of them.
_DECIDES = {"shuffle": ("seed",), "seed": ("shuffle",), "source": ("concat",)}


@dataclass(frozen=True)
class SoundEntries:
    """Entries without the keys that have problems of form, and which keys those are."""

    entries: Mapping[str, Entry]
    unsure: Mapping[str, frozenset[str]]
    """By dataset, the keys of which nothing can be said; datasets without problems are not in."""

    def unsure_of(self, name: str) -> frozenset[str] | None:
        """Return what can't be said of a dataset for its own or its ancestors' sake.

        None is that all of it is known.
        """
        found: frozenset[str] | None = None
        seen: set[str] = set()
        while name in self.entries and name not in seen:
            seen.add(name)
            if name in self.unsure:
                found = (found or frozenset()) | self.unsure[name]
            name = self.entries[name].value.get("extends", "")
        return found


def sound_entries(catalog: Catalog) -> SoundEntries:
    """Return what can be judged of a catalog."""
    by_file: dict[str, list[Problem]] = {}
    for problem in catalog.problems:
        by_file.setdefault(problem.file, []).append(problem)
    entries, unsure = dict(catalog.entries), dict[str, frozenset[str]]()
    for name, entry in catalog.entries.items():
        paths = [one.path for one in by_file.get(entry.document.file, ())]
        if "$" in paths:  # a form that could not even be checked
            unsure[name] = frozenset({"extends"})
        elif any(_is_within(path, json_path(("datasets", name))) for path in paths):
            bad = _bad_keys(entry, paths)
            entries[name] = _without(entry, bad)
            unsure[name] = frozenset(bad | {one for key in bad for one in _DECIDES.get(key, ())})
    return SoundEntries(entries, unsure)


def _bad_keys(entry: Entry, paths: list[str]) -> set[str]:
    """Return the keys of an entry that problems stand in."""
    places = {key: json_path(("datasets", entry.name, key)) for key in entry.value}
    return {key for key, place in places.items() if any(_is_within(path, place) for path in paths)}


def _is_within(path: str, around: str) -> bool:
    return path == around or path.startswith((f"{around}.", f"{around}["))


def _without(entry: Entry, keys: set[str]) -> Entry:
    value = {key: item for key, item in entry.value.items() if key not in keys}
    document = replace(entry.document, value={"datasets": {entry.name: value}})
    return structs.replace(entry, document=document)
