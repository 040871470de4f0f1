"""Find what one side of a diff may contain although it could not be read."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from registry.base.locations import PACKAGE
from registry.catalog.reader import may_hide_datasets
from registry.diff.git_tree import may_contain
from registry.diff.local_files import local_patterns
from registry.diff.snapshots.contents import Contents
from registry.errors import Problem
from registry.yamldoc.reader import read_yaml

__all__ = ["Unread", "find_unread"]

_SHOWN_DIGITS = 12


@dataclass(frozen=True)
class Unread:
    """What can't be compared because one side could not be read."""

    problems: tuple[Problem, ...] = ()
    """Those that are not in a file."""
    datasets: frozenset[str] = frozenset()
    """Datasets that this side may have as they were, without them or changed: nobody knows."""


def find_unread(side: Contents, other: Contents) -> Unread:
    """Return what of one side can't be compared with the other side."""
    if side.catalog is None or other.catalog is None:
        return Unread()
    includes = list(_includes(side))
    data = {
        name: [_from_top(side, pattern) for pattern in local_patterns(spec)]
        for name, spec in side.specs.items()
    }
    # A submodule that is missing at the same commit on both sides has not changed.
    missing = side.checkout.missing.items() - other.checkout.missing.items()
    # A glob that matches nothing is a problem, but everything that is there was read.
    hides = any(may_hide_datasets(p) and p.rule != "include-nothing" for p in side.problems)
    problems, datasets = [], set[str]()
    for path, commit in sorted(missing):
        reading = {
            name for name, patterns in data.items() if any(may_contain(path, p) for p in patterns)
        }
        is_included = any(may_contain(path, pattern) for pattern in includes)
        if is_included or reading:
            problems.append(_missing_submodule(path, commit))
        hides = hides or is_included
        datasets |= reading
    if hides:  # neither removed from this side nor added to the other one
        datasets |= set(other.catalog) - set(side.catalog)
    return Unread(tuple(problems), frozenset(datasets))


def _includes(side: Contents) -> Iterator[str]:
    """Yield the globs of the index, relative to the top."""
    index = side.checkout.index
    for pattern in read_yaml(index, is_index=True).value.get("include", ()):
        if not pattern.startswith(PACKAGE):
            yield _from_top(side, os.path.join(index.parent, pattern))


def _from_top(side: Contents, path: str) -> str:
    return os.path.relpath(path, side.checkout.top)


def _missing_submodule(path: str, commit: str) -> Problem:
    short, quoted = commit[:_SHOWN_DIGITS], shlex.quote(path)
    return Problem(
        message=f"not compared: the submodule {path} is not fetched at {short}",
        file=path,
        hint=f"git submodule update --init {quoted}; git -C {quoted} fetch origin {short}",
    )
