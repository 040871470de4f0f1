"""Check each dataset of a catalog: what merging, resolving and compiling it reveals.

Its pin is compared with its manifest by digests, without reading any data.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from msgspec import structs

from registry.base.local_files import display_path
from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED, Boundary, Limits
from registry.catalog.catalog import Catalog
from registry.catalog.reader import conflicts, may_hide_datasets
from registry.corrections.file import read_problems
from registry.errors import LockError, ManifestError, Problem, count_text
from registry.lint.data_files import data_patterns
from registry.lockfile.models import CommitPin, Lock, Pin, lock_of, read_documents
from registry.lockfile.pinned import staleness
from registry.lockfile.spec_digest import location_in
from registry.manifest.merge import Entry, Layer, Merged, parent_of
from registry.manifest.models import DatasetSpec
from registry.manifest.resolve import merged_entry, notice_of, retirement_problem, spec_of
from registry.manifest.schema import read_schema
from registry.rules import RULES, Finding, run_checks
from registry.yamldoc.reader import Document, json_path

__all__ = [
    "CheckableEntries",
    "DatasetChecks",
    "LockContent",
    "PinnedDataset",
    "checkable_entries",
    "orphaned_pins",
    "outside_path",
    "read_lock_content",
    "stale_lock",
]

_MOST_PROBLEMS = 10_000
# If a key is invalid, the keys whose meaning depends on it can't be checked either.
_DEPENDENT_KEYS = {"shuffle": ("seed",), "seed": ("shuffle",), "source": ("concat",)}
_STEP = re.compile(r"[.\[]")


class DatasetChecks:
    """The checks of the datasets of one catalog."""

    def __init__(self, catalog: Catalog, lock: LockContent, data: set[tuple[str, str]]) -> None:
        """Start without any checks.

        Args:
            catalog: The catalog.
            lock: Its lockfile.
            data: The local data files that the checks depend on are added to it.
        """
        self._catalog = catalog
        self._lock = lock
        self._data = data
        self._checkable = checkable_entries(catalog)
        self._corrections: set[Path] = set()
        """The corrections files that were checked."""
        self._is_partial = any(map(may_hide_datasets, catalog.problems))

    def problems(self, deadline: float) -> Iterator[Problem]:
        """Yield the problems of all datasets, up to a number.

        Args:
            deadline: The processor time of this process at which no further dataset is checked.
        """
        found, entries = len(self._catalog.problems), self._checkable.entries
        for number, (name, entry) in enumerate(entries.items()):
            stopped = time.process_time() > deadline
            if stopped or found > _MOST_PROBLEMS:
                datasets = len(entries) - number
                message = f"{count_text(datasets, 'dataset')} not checked"
                if stopped:
                    message = f"{message}, because it takes too long"
                    hint = "set REGISTRY_VALIDATE_SECONDS if the catalog is your own"
                else:
                    message = f"{message}, because there are more than {_MOST_PROBLEMS:,} problems"
                    hint = "fix these first"
                yield self._catalog.index_document().problem((), message, hint, rule="check-limit")
                return
            for problem in self._problems_of(name, entry):
                found += 1
                yield problem

    def _problems_of(self, name: str, entry: Entry) -> Iterator[Problem]:
        entries = self._checkable.entries
        if not self._is_partial and (problem := retirement_problem(entry, entries)):
            yield problem
        if entry.is_retired:
            return
        unchecked_keys = self._checkable.unchecked_keys(name)
        if unchecked_keys is not None and "extends" in unchecked_keys:
            return
        try:
            boundary = self._catalog.boundary
            merged = merged_entry(name, entries, boundary=boundary)
        except ManifestError as error:  # its ancestors form a cycle, or one is missing
            for problem in error.problems:
                if not (self._is_partial and problem.rule == "unknown-parent"):
                    yield problem
            return
        parent = entry.value.get("extends")
        if parent is not None and (notice := notice_of(parent, entries)):
            yield entry.problem(("extends",), notice, rule="deprecated-parent")
        defaults = self._checkable.unchecked_defaults(entry)
        skipped = (unchecked_keys or frozenset()) | defaults if defaults else unchecked_keys
        problems = list(run_checks("merged", merged, merged, unchecked_keys=skipped))
        yield from problems
        if unchecked_keys is None and "source" in merged.value and "source" not in defaults:
            # Resolving reports a violation that a check found again, at the same path or above.
            blocked = [one.path for one in problems if RULES[one.rule].blocking]
            for problem in self._spec_problems(entry, merged):
                if not any(path.startswith(problem.path) for path in blocked):
                    yield problem

    def _correction_problems(self, spec: DatasetSpec) -> Iterator[Problem]:
        """Yield the problems in the corrections file of a dataset, once for each file."""
        path = Path(spec.corrections.path[0]) if spec.corrections is not None else None
        if path is None or path in self._corrections:
            return
        self._corrections.add(path)
        # Only files in the folder of the index: a message shows what is in the file.
        if path.is_file() and not Boundary().allowing([str(spec.folder)]).refusal(str(path)):
            yield from read_problems(path, shown_as=display_path(path))

    def _spec_problems(self, entry: Entry, merged: Merged) -> Iterator[Problem]:
        """Yield the problems that only the resolved dataset reveals."""
        try:
            spec = spec_of(entry, merged, self._checkable.entries)
            self._data.update(data_patterns(spec))
            yield from run_checks("spec", spec, merged)
            yield from self._correction_problems(spec)
            if pin := self._lock.lock.row_of(spec.name):
                pinned = PinnedDataset(spec.name, pin, spec, self._catalog.boundary)
                yield from run_checks("lock", pinned, merged)
            self._catalog.check_trust(spec)
        except ManifestError as error:
            yield from error.problems


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
            parent = parent_of(self.entries[name], self.entries)
            name = "" if parent is None else parent.name
        return found

    def unchecked_defaults(self, entry: Entry) -> frozenset[str]:
        """Return the keys of a dataset whose defaults are invalid."""
        index = entry.defaults.document
        return self.defaults.get(index.file, frozenset()) if index else frozenset()


def checkable_entries(catalog: Catalog) -> CheckableEntries:
    """Return the entries of a catalog without the keys that have problems."""
    invalid_paths = _invalid_paths(catalog)
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
        if is_contested:
            unchecked[name] = frozenset({"extends"})
        elif json_path(place := ("datasets", entry.written)) in paths:
            invalid = {key for key in entry.value if json_path((*place, key)) in paths}
            valid = {key: item for key, item in entry.value.items() if key not in invalid}
            document = replace(entry.document, value={"datasets": {entry.written: valid}})
            entries[name] = structs.replace(entries[name], document=document)
            dependent = {other for key in invalid for other in _DEPENDENT_KEYS.get(key, ())}
            unchecked[name] = frozenset(invalid | dependent)
    kept = {file: keys for file, (_, keys) in defaults.items()}
    return CheckableEntries(entries, unchecked, kept, catalog.boundary.limits.extends)


def _valid_defaults(layer: Layer, paths: Iterable[str]) -> tuple[Layer, frozenset[str]]:
    """Return the defaults without the keys that have problems, and the keys that may lack one."""
    known = read_schema("index")["$defs"]["defaults"]["properties"]
    invalid = frozenset(key for key in known if json_path(("defaults", key)) in paths)
    if "$.defaults" in paths and not invalid:  # a key is misspelt, or all of it is invalid
        invalid = frozenset(key for key in known if key != "source" or not layer.value)
    valid = {key: layer.value[key] for key in known if key in layer.value.keys() - invalid}
    return structs.replace(layer, value=valid), invalid


def _invalid_paths(catalog: Catalog) -> dict[str, set[str]]:
    """Return the paths of problems, and of the values that contain them, by file."""
    found: dict[str, set[str]] = {}
    for problem in catalog.problems:
        ends = [step.start() for step in _STEP.finditer(problem.path)]
        paths = {problem.path[:end] for end in ends} | {problem.path}
        found.setdefault(problem.file, set()).update(paths)
    return found


# --- pins ---


@dataclass(frozen=True, kw_only=True)
class LockContent:
    """The content of a catalog's lockfile; empty if the lockfile has problems."""

    lock: Lock = field(default_factory=Lock)
    documents: Sequence[Document] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class PinnedDataset:
    """A pin and its dataset."""

    name: str
    pin: Pin | CommitPin
    spec: DatasetSpec | None
    """None if no manifest defines the dataset."""
    boundary: Boundary = UNBOUNDED
    """What the catalog may read."""


def read_lock_content(path: Path) -> LockContent:
    """Read a lockfile; a missing file has no pins."""
    try:
        documents = read_documents(path, shown_as=display_path(path))
    except LockError as error:
        rule = RULES["bad-lock"]
        repair = "fix it, or delete the file and run `registry lock`"
        return LockContent(
            problems=tuple(
                structs.replace(
                    problem, rule=rule.id, severity=rule.severity, hint=problem.hint or repair
                )
                for problem in error.problems
            )
        )
    return LockContent(lock=lock_of(documents), documents=documents)


def stale_lock(pinned: PinnedDataset) -> Iterator[Finding]:
    """Report a pin that was made for an older manifest, or whose dataset was removed.

    A dataset without a pin is valid: the author of the lockfile may have no access to its sources.
    """
    if pinned.spec is None:
        message = f"'{pinned.name}' is pinned and in no manifest"
        yield Finding((), message, "`registry lock` drops it")
    elif not pinned.pin.agrees(pinned.spec):
        reason, hint = staleness(pinned.spec, pinned.pin)
        yield Finding((), f"pinned {reason}", hint)


def outside_path(pinned: PinnedDataset) -> Iterator[Finding]:
    """Report pinned files that the catalog may not read: a lockfile is reviewed least of all."""
    if pinned.spec is None:
        return
    for source in pinned.pin.sources:
        path = Location(source.location).file
        # Of files inside the catalog, the check of the manifest has followed the links.
        if path.is_path and os.path.normpath(path).startswith(("/", "..")):
            refused = pinned.boundary.refusal(location_in(pinned.spec.folder, path))
            if refused is not None:
                message = f"datasets.lock pins '{source.location}', which {refused[0]}"
                hint = f"restore it, or run `registry lock --upgrade {pinned.name}`"
                yield Finding((), message, hint)


def orphaned_pins(content: LockContent, names: Container[str]) -> Iterator[Problem]:
    """Yield a problem for each pin whose dataset is not among `names`."""
    rows: dict[str, Pin | CommitPin] = {**content.lock.pins, **content.lock.commits}
    for document in content.documents:
        for name in document.value["datasets"]:
            if name not in names:
                pinned = PinnedDataset(name, rows[name], None)
                layer = Layer("lock", {}, document, ("datasets", name))
                yield from run_checks("lock", pinned, layer)
