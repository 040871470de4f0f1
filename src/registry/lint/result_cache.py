"""Cache the result of checking a whole catalog until anything that determines it changes."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from registry.base.digest import digest_of
from registry.base.file_state import FileState
from registry.base.fs import best_effort_path, read_best_effort, write_best_effort
from registry.catalog.cached_files import compact_json
from registry.catalog.catalog import Catalog
from registry.errors import LockError, Problem
from registry.lint.data_files import data_states
from registry.lint.runner import check, count_checked
from registry.lint.stray_files import code_files, manifest_folders, nested_indexes
from registry.lockfile.text import read_bytes
from registry.settings import lock_file_of

__all__ = ["CheckResult", "check_catalog"]

# Besides our own code, which is part of the digest of the catalog's content, these libraries
# determine which manifests are valid.
_VALIDATORS = ("jsonschema-rs", "msgspec", "pyyaml")


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
        or not _are_unchanged(data["data"])
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


def _are_unchanged(
    states: Iterable[tuple[str, str, Sequence[tuple[str, Sequence[int]]]]],
) -> bool:
    """Return whether each path and glob still matches the same files, with the same states."""
    return all(
        data_states(folder, pattern) == [(file, FileState(*state)) for file, state in found]
        for folder, pattern, found in states
    )


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
