"""Check each dataset of a catalog: what merging, resolving and compiling it reveals."""

from __future__ import annotations

import time
from collections.abc import Iterator

from registry.catalog.catalog import Catalog
from registry.catalog.reader import may_hide_datasets
from registry.errors import ManifestError, Problem, count_text
from registry.lint.data_files import data_patterns
from registry.lint.lock_checks import LockContent, PinnedDataset
from registry.lint.partial import checkable_entries
from registry.manifest.merge import Entry, Merged
from registry.manifest.resolve import merged_entry, spec_of
from registry.rules import RULES, run_checks

__all__ = ["DatasetChecks"]

_MOST_PROBLEMS = 10_000


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
                yield self._unchecked(len(entries) - number, stopped=stopped)
                return
            for problem in self._problems_of(name, entry):
                found += 1
                yield problem

    def _unchecked(self, datasets: int, *, stopped: bool) -> Problem:
        """Return the problem for datasets that are not checked."""
        message = f"{count_text(datasets, 'dataset')} not checked"
        if stopped:
            message = f"{message}, because it takes too long"
            hint = "set REGISTRY_VALIDATE_SECONDS if the catalog is your own"
        else:
            message = f"{message}, because there are more than {_MOST_PROBLEMS:,} problems"
            hint = "fix these first"
        return self._catalog.index_document().problem((), message, hint, rule="check-limit")

    def _problems_of(self, name: str, entry: Entry) -> Iterator[Problem]:
        unchecked_keys = self._checkable.unchecked_keys(name)
        if unchecked_keys is not None and "extends" in unchecked_keys:
            return
        try:
            boundary = self._catalog.boundary
            merged = merged_entry(name, self._checkable.entries, boundary=boundary)
        except ManifestError as error:  # its ancestors form a cycle, or one is missing
            for problem in error.problems:
                if not (self._is_partial and problem.rule == "unknown-parent"):
                    yield problem
            return
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

    def _spec_problems(self, entry: Entry, merged: Merged) -> Iterator[Problem]:
        """Yield the problems that only the resolved dataset reveals."""
        try:
            spec = spec_of(entry, merged)
            self._data.update(data_patterns(spec))
            yield from run_checks("spec", spec, merged)
            if pin := self._lock.lock.pins.get(spec.name):
                pinned = PinnedDataset(spec.name, pin, spec, self._catalog.boundary)
                yield from run_checks("lock", pinned, merged)
            self._catalog.check_trust(spec)
        except ManifestError as error:
            yield from error.problems
