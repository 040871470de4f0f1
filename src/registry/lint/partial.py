"""Remove invalid keys from the entries of a catalog, so that the valid keys can be checked.

So one run reports all problems: a misspelled key does not hide a shuffle without a seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from msgspec import structs

from registry.catalog.catalog import Catalog
from registry.manifest.merge import Entry
from registry.yamldoc.reader import json_path

__all__ = ["CheckableEntries", "checkable_entries"]

# If a key is invalid, the keys whose meaning depends on it can't be checked either.
_DEPENDENT_KEYS = {"shuffle": ("seed",), "seed": ("shuffle",), "source": ("concat",)}


@dataclass(frozen=True)
class CheckableEntries:
    """Entries without their invalid keys, and the names of those keys."""

    entries: Mapping[str, Entry]
    unchecked: Mapping[str, frozenset[str]]
    """The keys that can't be checked, by dataset; without datasets that have no problems."""
    most: int
    """Ancestors that a dataset may have."""

    def unchecked_keys(self, name: str) -> frozenset[str] | None:
        """Return the keys of a dataset and its ancestors that can't be checked.

        None if neither the dataset nor an ancestor has problems.
        """
        found: frozenset[str] | None = None
        seen: set[str] = set()
        while name in self.entries and name not in seen and len(seen) <= self.most:
            seen.add(name)
            if name in self.unchecked:
                found = (found or frozenset()) | self.unchecked[name]
            name = self.entries[name].value.get("extends", "")
        return found


def checkable_entries(catalog: Catalog) -> CheckableEntries:
    """Return the entries of a catalog without the keys that have problems."""
    paths_by_file: dict[str, list[str]] = {}
    for problem in catalog.problems:
        paths_by_file.setdefault(problem.file, []).append(problem.path)
    entries, unchecked = dict(catalog.entries), dict[str, frozenset[str]]()
    for name, entry in catalog.entries.items():
        paths = paths_by_file.get(entry.document.file, [])
        if "$" in paths:  # the whole document is invalid, so even `extends` can't be followed
            unchecked[name] = frozenset({"extends"})
        elif _any_within(paths, json_path(("datasets", name))):
            invalid = {
                key for key in entry.value if _any_within(paths, json_path(("datasets", name, key)))
            }
            valid = {key: item for key, item in entry.value.items() if key not in invalid}
            document = replace(entry.document, value={"datasets": {name: valid}})
            entries[name] = structs.replace(entry, document=document)
            dependent = {other for key in invalid for other in _DEPENDENT_KEYS.get(key, ())}
            unchecked[name] = frozenset(invalid | dependent)
    return CheckableEntries(entries, unchecked, catalog.boundary.limits.extends)


def _any_within(paths: list[str], around: str) -> bool:
    return any(path == around or path.startswith((f"{around}.", f"{around}[")) for path in paths)
