"""Find all problems in a catalog, without making requests or importing the code of mappers.

The result for a whole catalog is cached until anything that determines it changes.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from registry.base.digest import digest_of
from registry.base.fs import best_effort_path, read_best_effort, write_best_effort
from registry.base.local_files import FileState, display_path
from registry.base.process_state import gc_paused
from registry.catalog.cached_files import compact_json
from registry.catalog.catalog import Catalog, valid_index
from registry.catalog.reader import conflicts, may_hide_datasets
from registry.corrections.file import is_corrections, read_problems
from registry.errors import LockError, ManifestError, Problem
from registry.lint.data_files import data_states
from registry.lint.dataset_checks import DatasetChecks, orphaned_pins, read_lock_content
from registry.lint.layout import layout_files
from registry.lint.selection import Selection, apply_ignores, configured, read_ignores, selected
from registry.lint.stray_files import (
    code_files,
    code_problems,
    files_below,
    manifest_folders,
    nested_index_problems,
    nested_indexes,
)
from registry.lockfile.text import read_bytes
from registry.rules import RULES, run_checks
from registry.settings import INDEX_NAME, lock_file_of
from registry.yamldoc.reader import is_within, json_path, read_partially

__all__ = [
    "CheckResult",
    "check",
    "check_catalog",
    "count_checked",
    "files_under",
    "split_packages",
]

_LAYOUT_RULES = tuple(
    rule.id
    for rule in RULES.values()
    if any(check.stage in ("text", "document") for check in rule.checks)
)
_OF_THE_CATALOG = ("duplicate-name", "stale-lock")
# Besides our own code, which is part of the digest of the catalog's content, these libraries
# determine which manifests are valid.
_VALIDATORS = ("jsonschema-rs", "msgspec", "pyyaml")


@gc_paused()  # it creates thousands of documents and specs, which have no cycles
def check(
    catalog: Catalog,
    paths: Iterable[Path] = (),
    *,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    locked: bool = False,
    data: set[tuple[str, str]] | None = None,
    deadline: float = math.inf,
) -> list[Problem]:
    """Return the problems of a catalog, or of some of its files, sorted by position.

    Args:
        catalog: The catalog; the `validate` key of its index configures the check, and that of an
            included package's index the check of the package's files.
        paths: Files and folders; a file outside the catalog is checked as if it were part of it.
        select: Rules or families, in place of those that the index selects and ignores.
        ignore: Rules or families not to report.
        locked: Report `stale-lock` as an error, because `--locked` fails on such a dataset.
        data: The paths and globs of local data files that the result depends on are added to it.
        deadline: The processor time of this process at which no further dataset is checked.
    """
    wanted = files_under(paths)
    corrections = [
        one
        for one in wanted
        if one.name != INDEX_NAME and is_corrections(read_partially(one).document)
    ]
    catalog = catalog.including(one for one in wanted if one not in corrections)
    index = catalog.index_document()
    invalid = [one.path for one in catalog.problems if one.file == index.file]
    base, config_problems = configured(index, invalid=invalid)
    if catalog.rules_from is not None:
        base = configured(valid_index(catalog.rules_from))[0]
    select, ignore = tuple(select), tuple(ignore)
    selections = {
        index: selected(one, select=select, ignore=ignore)
        for index, one in [(catalog.index, base), *_selections_of_packages(catalog, wanted)]
    }
    if locked:
        selections = {key: one.with_error("stale-lock") for key, one in selections.items()}
    found = _found(catalog, set() if data is None else data, deadline)
    for path in corrections:
        found += read_problems(path, shown_as=display_path(path))
    if any(
        rule in selections[catalog.index] for rule in _LAYOUT_RULES
    ):  # else no file is read again
        for layout in layout_files(catalog, index, wanted):
            found += run_checks("text", layout, layout.document)
            found += run_checks("document", layout.document, layout.document)
    entry_files = {entry.document.file for entry in catalog.written}
    files = _chosen({problem.file for problem in found} | {index.file} | entry_files, wanted)
    # An invalid configuration affects every result, so it is reported even if only other files are
    # checked.
    reported = [] if index.file in files else list(config_problems)
    owner = _owner(catalog)
    by_file = {file: selections[owner(file)] for file in files}
    if index.file in by_file:  # a comment in it is about it as part of another catalog's folder
        by_file[index.file] = by_file[index.file].without(["nested-index"])
    reported += _reported(found, config_problems, by_file, _unfinished(catalog, found))
    return sorted(reported, key=lambda one: (one.file, one.line, one.column, one.rule))


def _found(catalog: Catalog, data: set[tuple[str, str]], deadline: float) -> list[Problem]:
    """Return the problems of the datasets, their pins and their code."""
    lock = read_lock_content(lock_file_of(catalog.index))
    found = [*catalog.problems, *lock.problems, *code_problems(catalog)]
    found += nested_index_problems(catalog)
    found += DatasetChecks(catalog, lock, data).problems(deadline)
    # A member that seems to be missing may be in a file, or a part of one, that can't be read.
    partial = any(map(may_hide_datasets, catalog.problems))
    found += (
        one for one in catalog.group_problems() if not (partial and one.rule == "unknown-member")
    )
    if not catalog.problems:  # a broken file may contain the dataset of a pin
        found += orphaned_pins(lock, catalog)
    return found


def _reported(
    found: Sequence[Problem],
    config_problems: Sequence[Problem],
    files: Mapping[str, Selection],
    unfinished: Container[str],
) -> Iterator[Problem]:
    """Yield the problems of files that are selected there and that no comment of theirs hides."""
    by_file: dict[str, list[Problem]] = defaultdict(list)
    # A dataset and its dependents report the same inherited problem: dict.fromkeys keeps one.
    for problem in dict.fromkeys([*config_problems, *found]):
        by_file[problem.file].append(problem)
    for file, selection in files.items():
        problems = list(selection.apply(by_file[file]))
        # It may be a link that leads out of the catalog.
        unread = any(problem.rule == "unreadable-file" for problem in problems)
        comments, complete = [] if unread else read_ignores(file), file not in unfinished
        yield from selection.apply(
            apply_ignores(problems, comments, selection=selection, complete=complete)
        )


def _unfinished(catalog: Catalog, found: Iterable[Problem]) -> set[str]:
    """Return the files for which not all checks ran."""
    # A problem of the configuration hides no other: all rules of the default are checked then.
    # Of a nested index, only that it exists is checked.
    files = {
        problem.file
        for problem in found
        if RULES[problem.rule].blocking or problem.rule == "nested-index"
    }
    root = catalog.index.parent
    entries = catalog.entries.values() if catalog.problems else ()
    return files | {one.document.file for one in entries if conflicts(one, catalog.problems, root)}


def _selections_of_packages(
    catalog: Catalog, named: Collection[Path]
) -> Iterator[tuple[Path, Selection]]:
    """Yield the index of each included package, and what it selects for its own files."""
    for index in catalog.indexes:
        if index != catalog.index:
            try:
                selection = configured(valid_index(index))[0]
            except ManifestError:
                selection = Selection()
            # The layout of its files is checked only if they are named.
            yield index, selection if named else selection.without(_LAYOUT_RULES)


def _owner(catalog: Catalog) -> Callable[[str], Path]:
    """Return the function that says which index a file is checked by."""
    indexes = {index.parent: index for index in (*catalog.indexes, catalog.index)}
    if len(indexes) == 1:
        return lambda _: catalog.index
    folders = {entry.document.file: entry.folder for entry in catalog.written}

    def owner(file: str) -> Path:
        # A file without a dataset: the environment of a project is often in the project's folder.
        above = (folders.get(file), *Path(file).absolute().parents)
        return next((indexes[one] for one in above if one in indexes), catalog.index)

    return owner


def split_packages(
    catalog: Catalog, problems: Sequence[Problem]
) -> tuple[list[Problem], dict[Path, list[Problem]]]:
    """Return the problems that are the catalog's own, and those of each included package by index.

    A package's are in files that only its authors can change. That its name, or its pin, does not
    fit the rest of the catalog is a problem of the catalog, and so is what is wrong in a dataset
    that extends one that the catalog overrides.
    """
    own: list[Problem] = []
    of_packages: dict[Path, list[Problem]] = {}
    owner = _owner(catalog) if problems else lambda _: catalog.index
    changed: list[str] = []
    if problems and len(catalog.indexes) > 1:
        overridden = [name for name in catalog if catalog.entries[name].overridden]
        places = (one for name in overridden for one in catalog.dependents(name))
        changed = [json_path(("datasets", one)) for one in places]
    for problem in problems:
        index = owner(problem.file)
        is_own = problem.rule in _OF_THE_CATALOG or any(
            is_within(problem.path, place) for place in changed
        )
        if index == catalog.index or is_own:
            own.append(problem)
        else:
            of_packages.setdefault(index, []).append(problem)
    return own, of_packages


def count_checked(catalog: Catalog, paths: Iterable[Path] = ()) -> int:
    """Return how many datasets `check` checks."""
    wanted = files_under(paths)
    known = catalog.including(wanted)
    files = [known.entries[name].document.file for name in known]
    chosen = _chosen(set(files), wanted)
    return sum(file in chosen for file in files)


def files_under(paths: Iterable[Path]) -> list[Path]:
    """Return the given files, and all YAML files in the given folders that are no other program's.

    Raises:
        ManifestError: a path does not exist.
    """
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            below = (one for one in files_below(str(path)) if one.endswith((".yaml", ".yml")))
            files += sorted(map(Path, below))
        elif path.exists():
            files.append(path)
        else:
            # Most likely the name of a dataset.
            hint = "" if path.suffix else "name files or folders of manifests, not datasets"
            problem = Problem(
                message="no such file",
                file=str(path),
                path="",
                hint=hint,
                rule="unreadable-file",
            )
            raise ManifestError([problem])
    return files


def _chosen(files: set[str], wanted: list[Path]) -> set[str]:
    """Return the files that are in `wanted`, or all files if it is empty."""
    places = {file.resolve() for file in wanted}
    return {file for file in files if not wanted or Path(file).resolve() in places}


@dataclass(frozen=True)
class CheckResult:
    """The problems of a catalog, or of some of its files."""

    problems: list[Problem]
    datasets: int
    """Number of checked datasets."""


def check_catalog(
    catalog: Catalog,
    cache_dir: Path,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    locked: bool = False,
    deadline: float = math.inf,
) -> CheckResult:
    """Check a catalog as `check` does, or return the cached result of the same check."""
    # It has secrets, or files that its index does not include, or the rules of another index.
    if catalog.content is None or catalog.rules_from is not None:
        problems = check(catalog, select=select, ignore=ignore, locked=locked, deadline=deadline)
        return CheckResult(problems, count_checked(catalog))
    place = best_effort_path(catalog.index, cache_dir, "check")
    key = _key(catalog, select, ignore, locked)
    known = _recall(place, key, str(catalog.index.parent))
    if known is not None:
        return known
    patterns: set[tuple[str, str]] = set()
    problems = check(
        catalog, select=select, ignore=ignore, locked=locked, data=patterns, deadline=deadline
    )
    result = CheckResult(problems, count_checked(catalog))
    if all(problem.rule != "check-limit" for problem in problems):
        _remember(place, key, result, catalog, patterns)
    return result


def _recall(place: Path, key: str, root: str) -> CheckResult | None:
    """Return the cached result of the same check, if the files beside the catalog are the same."""
    cached = read_best_effort(place)
    data = None if cached is None else json.loads(cached.splitlines()[0])
    if (
        data is None
        or data["key"] != key
        or any(
            data_states(folder, pattern) != [(file, FileState(*state)) for file, state in found]
            for folder, pattern, found in data["data"]
        )
        or data["code"] != code_files(root, data["folders"])
        or [(file, FileState(*state)) for file, state in data["indexes"]] != nested_indexes(root)
    ):
        return None
    return CheckResult([Problem(**one) for one in data["problems"]], data["datasets"])


def _remember(
    place: Path, key: str, result: CheckResult, catalog: Catalog, patterns: set[tuple[str, str]]
) -> None:
    """Cache a result, with the states of the files that `patterns` match."""
    states = [(*where, data_states(*where)) for where in sorted(patterns)]
    indexes = nested_indexes(str(catalog.index.parent))
    # A file may be edited again without a change of its state, if this happens right now.
    found = [*indexes, *(one for *_, files in states for one in files)]
    if any(state.is_racy() for _, state in found):
        return
    rows = [problem.to_dict() for problem in result.problems]
    folders = manifest_folders(catalog)
    code = {"folders": folders, "code": code_files(str(catalog.index.parent), folders)}
    body = {"key": key, "problems": rows, "datasets": result.datasets, "data": states, **code}
    body["indexes"] = indexes
    write_best_effort(place, compact_json(body))


def _key(catalog: Catalog, select: Sequence[str], ignore: Sequence[str], locked: bool) -> str:
    """Return the digest of everything that determines what `check` finds."""
    try:
        data = read_bytes(lock_file_of(catalog.index))
        lock = "" if data is None else hashlib.sha256(data).hexdigest()
    except LockError as error:
        lock = str(error)
    # Messages have paths relative to the working directory, and `~` expands to the home folder.
    folders = [str(Path.cwd()), os.path.expanduser("~")]
    versions = {name: version(name) for name in _VALIDATORS}
    options = [list(select), list(ignore), locked]
    return digest_of(
        [catalog.content, catalog.boundary.folders, lock, *folders, versions, *options]
    )
