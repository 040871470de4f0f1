"""Find everything that is wrong with manifests, without making a request or importing code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import yaml

from registry.base.gc import gc_paused
from registry.catalog.catalog import Catalog, shown
from registry.errors import ManifestError, Problem
from registry.lint.field_checks import Fault, compile_faults, unknown_columns
from registry.lint.layout_checks import LAYOUT_CHECKS, layout_files, layout_problems
from registry.lint.lock_checks import CheckedLock, gone_pins, read_checked, stale_pin
from registry.lint.partial import SoundEntries, sound_entries
from registry.lint.selection import configured, selected
from registry.lint.suppressions import IgnoreComment, apply_ignores, read_ignores
from registry.manifest.checks import advice, faults
from registry.manifest.merge import Entry, Merged
from registry.manifest.models import DatasetSpec
from registry.manifest.resolve import merged_entry, spec_of
from registry.rules import RULES
from registry.settings import lock_file_of
from registry.yamldoc.reader import Document, read_yaml

__all__ = ["check", "count_checked", "files_under"]

_SPEC_CHECKS: dict[str, Callable[[DatasetSpec], Iterator[Fault]]] = {
    "bad-expression": compile_faults,
    "unknown-column": unknown_columns,
}
"""What finds the problems of a rule that needs the resolved dataset."""


@gc_paused()  # thousands of documents and specs have no cycles
def check(
    catalog: Catalog,
    paths: Iterable[Path] = (),
    *,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    locked: bool = False,
) -> list[Problem]:
    """Return the problems of a catalog, or only those of some of its files, sorted by place.

    Args:
        catalog: The catalog; what its index says under `validate` is heeded.
        paths: Files and folders; a file that does not belong to the catalog is checked as if
            it did.
        select: Rules or families, in place of what the index selects and ignores.
        ignore: Rules or families that are not reported.
        locked: The lockfile is held to, so `stale-lock` is an error.
    """
    wanted = files_under(paths)
    whole = catalog.including(wanted)
    index = read_yaml(catalog.index, shown_as=shown(catalog.index))
    base, misconfigured = configured(index)
    selection = selected(base, select=select, ignore=ignore)
    if locked:
        selection = selection.with_error("stale-lock")
    lock = read_checked(lock_file_of(catalog.index))
    found = [*whole.problems, *lock.problems, *_meaning(whole, lock)]
    if not whole.problems:  # else a dataset may only be out of sight
        found += gone_pins(lock, whole.entries)
    if any(rule in selection for rule in LAYOUT_CHECKS):
        found += layout_problems(layout_files(whole, index, wanted))
    files = _chosen({one.file for one in found} | _files_of(whole, index), wanted)
    problems = _by_file(selection.apply(dict.fromkeys([*misconfigured, *found])))
    broken = {one.file for one in found if RULES[one.rule].stops}
    kept = list(misconfigured) if index.file not in files else []
    for file in files:
        left = apply_ignores(
            problems[file],
            _comments_of(file),
            file=file,
            selection=selection,
            complete=file not in broken,
        )
        kept += selection.apply(left)
    return sorted(kept, key=lambda one: (one.file, one.line, one.column, one.rule))


def count_checked(catalog: Catalog, paths: Iterable[Path] = ()) -> int:
    """Return how many datasets `check` looks at."""
    wanted = files_under(paths)
    files = [entry.document.file for entry in catalog.including(wanted).entries.values()]
    chosen = _chosen(set(files), wanted)
    return sum(file in chosen for file in files)


def files_under(paths: Iterable[Path]) -> list[Path]:
    """Return the manifests that paths stand for: files themselves, and all below folders.

    Raises:
        ManifestError: there is no such file.
    """
    return [file for path in paths for file in _files(path)]


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted([*path.rglob("*.yaml"), *path.rglob("*.yml")])
    if not path.exists():
        problem = Problem(message="no such file", file=str(path), path="", rule="unreadable-file")
        raise ManifestError([problem])
    return [path]


def _chosen(files: set[str], wanted: list[Path]) -> set[str]:
    """Return those of the files that are wanted; all of them where nothing in particular is."""
    places = {file.resolve() for file in wanted}
    return {file for file in files if not wanted or Path(file).resolve() in places}


def _files_of(catalog: Catalog, index: Document) -> set[str]:
    return {index.file, *(entry.document.file for entry in catalog.entries.values())}


def _by_file(problems: Iterable[Problem]) -> dict[str, list[Problem]]:
    found: dict[str, list[Problem]] = defaultdict(list)
    for problem in problems:
        found[problem.file].append(problem)
    return found


def _comments_of(file: str) -> list[IgnoreComment]:
    """Return the ignore comments of a file; of one that is no YAML, none."""
    try:
        return read_ignores(Path(file).read_bytes().decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return []  # a problem of the file already


def _meaning(catalog: Catalog, lock: CheckedLock) -> Iterator[Problem]:
    """Yield what only resolving and compiling shows."""
    sound = sound_entries(catalog)
    for entry in sound.entries.values():
        try:
            yield from _judged(entry, sound, catalog, lock)
        except ManifestError as error:
            yield from error.problems


def _judged(
    entry: Entry, sound: SoundEntries, catalog: Catalog, lock: CheckedLock
) -> Iterator[Problem]:
    """Yield the problems of one dataset; that its parents are not there is raised."""
    unsure = sound.unsure_of(entry.name)
    if unsure is not None and "extends" in unsure:
        return
    merged = merged_entry(entry.name, sound.entries)
    yield from advice(merged, unsure=unsure)
    stopping = list(faults(merged, unsure=unsure))
    yield from stopping
    if unsure is None and "source" in merged.value:
        said = {problem.path for problem in stopping}
        for problem in _resolved_problems(entry, merged, catalog, lock):
            if not any(path.startswith(problem.path) for path in said):
                yield problem


def _resolved_problems(
    entry: Entry, merged: Merged, catalog: Catalog, lock: CheckedLock
) -> Iterator[Problem]:
    """Yield what only the resolved dataset shows."""
    try:
        spec = spec_of(entry, merged)
        for rule, find in _SPEC_CHECKS.items():
            for path, message in find(spec):
                yield merged.problem(path, message, rule=rule)
        yield from stale_pin(entry, spec, lock)
        catalog.check_trust(spec)
    except ManifestError as error:
        yield from error.problems
