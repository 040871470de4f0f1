"""Remove invalid keys from the entries of a catalog, so that the valid keys can be checked.

So one run reports all problems: a misspelled key does not hide a shuffle without a seed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from msgspec import structs

from registry.boundary.limits import Limits
from registry.catalog.catalog import Catalog
from registry.catalog.located import conflicts
from registry.manifest.merge import Entry, Layer
from registry.yamldoc.reader import json_path

__all__ = ["CheckableEntries", "checkable_entries"]

# If a key is invalid, the keys whose meaning depends on it can't be checked either.
_DEPENDENT_KEYS = {"shuffle": ("seed",), "seed": ("shuffle",), "source": ("concat",)}
_DEFAULT_KEYS = ("homepage", "license", "tags", "auto_id", "on_duplicate", "source")
_STEP = re.compile(r"[.\[]")


@dataclass(frozen=True)
class CheckableEntries:
    """Entries without their invalid keys, and the names of those keys."""

    entries: Mapping[str, Entry]
    unchecked: Mapping[str, frozenset[str]]
    """The keys that can't be checked, by dataset; without datasets that have no problems."""
    defaults: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The keys whose defaults are invalid, by the file of the index; without valid indexes."""
    most: int = Limits().extends
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

    def unchecked_defaults(self, entry: Entry) -> frozenset[str]:
        """Return the keys of a dataset whose defaults are invalid."""
        index = entry.defaults.document
        return self.defaults.get(index.file, frozenset()) if index else frozenset()


def checkable_entries(catalog: Catalog) -> CheckableEntries:
    """Return the entries of a catalog without the keys that have problems."""
    invalid_paths = _invalid_paths(catalog)
    too_deep = {one.file for one in catalog.problems if (one.rule, one.path) == ("yaml-limit", "$")}
    entries, unchecked = dict(catalog.entries), dict[str, frozenset[str]]()
    defaults: dict[str, tuple[Layer, frozenset[str]]] = {}
    for name, entry in catalog.entries.items():
        index = entry.defaults.document
        if index is not None and index.file in invalid_paths:
            if index.file not in defaults:
                defaults[index.file] = _valid_defaults(entry.defaults, invalid_paths[index.file])
            entries[name] = structs.replace(entry, defaults=defaults[index.file][0])
        paths = invalid_paths.get(entry.document.file, ())
        is_contested = conflicts(entry, catalog.problems, catalog.index.parent)
        # Then even `extends` can't be followed: what has it as a parent may mean either dataset.
        if is_contested or entry.document.file in too_deep:
            unchecked[name] = frozenset({"extends"})
        elif json_path(("datasets", name)) in paths:
            invalid = {key for key in entry.value if json_path(("datasets", name, key)) in paths}
            valid = {key: item for key, item in entry.value.items() if key not in invalid}
            document = replace(entry.document, value={"datasets": {name: valid}})
            entries[name] = structs.replace(entries[name], document=document)
            dependent = {other for key in invalid for other in _DEPENDENT_KEYS.get(key, ())}
            unchecked[name] = frozenset(invalid | dependent)
    kept = {file: keys for file, (_, keys) in defaults.items()}
    return CheckableEntries(entries, unchecked, kept, catalog.boundary.limits.extends)


def _valid_defaults(layer: Layer, paths: Iterable[str]) -> tuple[Layer, frozenset[str]]:
    """Return the defaults without the keys that have problems, and the keys that may lack one."""
    invalid = frozenset(key for key in _DEFAULT_KEYS if json_path(("defaults", key)) in paths)
    if "$.defaults" in paths and not invalid:  # a key is misspelt, or all of it is invalid
        invalid = frozenset(key for key in _DEFAULT_KEYS if key != "source" or not layer.value)
    valid = {key: layer.value[key] for key in _DEFAULT_KEYS if key in layer.value.keys() - invalid}
    return structs.replace(layer, value=valid), invalid


def _invalid_paths(catalog: Catalog) -> dict[str, set[str]]:
    """Return the paths of problems, and of the values that contain them, by file."""
    found: dict[str, set[str]] = {}
    for problem in catalog.problems:
        ends = [step.start() for step in _STEP.finditer(problem.path)]
        paths = {problem.path[:end] for end in ends} | {problem.path}
        found.setdefault(problem.file, set()).update(paths)
    return found
