"""Problems of a catalog's files, with the paths of the files, and those of `include`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from registry.boundary.boundary import Boundary
from registry.catalog.discovery import package_of
from registry.catalog.groups import GroupEntry
from registry.errors import Problem, count_text
from registry.manifest.merge import Entry
from registry.yamldoc.reader import Document, json_path

__all__ = [
    "LocatedProblem",
    "conflicts",
    "duplicate_name",
    "include_limit",
    "include_nothing",
    "include_outside",
    "overrides_nothing",
    "unread",
]


class LocatedProblem(Struct, frozen=True):
    """A problem whose files are paths, which `displayed` replaces by their names in messages."""

    problem: Problem
    first_file: str = ""
    """For a duplicate name: the file of the dataset that has it; the hint ends with its place."""
    first_line: int = 0

    def displayed(self, display: Callable[[str], str]) -> Problem:
        """Return the problem with its files named by `display`."""
        problem = replace(self.problem, file=display(self.problem.file))
        if not self.first_file:
            return problem
        place = f"{display(self.first_file)}:{self.first_line}"
        return replace(problem, hint=f"{problem.hint} {place}")


def include_nothing(document: Document, number: int) -> LocatedProblem:
    """Return the problem for a pattern in `include` that matches nothing."""
    message = f"'{document.value['include'][number]}' matches nothing"
    return _of_include(document, number, message, "check the spelling", "include-nothing")


def include_limit(document: Document, number: int, limit: str) -> LocatedProblem:
    """Return the problem for a pattern in `include` that takes too much work."""
    message = f"'{document.value['include'][number]}' is not read to the end: {limit}"
    hint = "write a narrower pattern, or set REGISTRY_MAX_MANIFESTS if the catalog is your own"
    return _of_include(document, number, message, hint, "include-limit")


def unread(document: Document, number: int, *, after: int) -> LocatedProblem:
    """Return the problem for manifests that there is no time to read."""
    read = f"only {count_text(after, 'manifest')} of '{document.value['include'][number]}' read"
    hint = "the others are checked; set REGISTRY_VALIDATE_SECONDS if the catalog is your own"
    message = f"{read}, because it takes too long"
    return _of_include(document, number, message, hint, "include-limit")


def include_outside(
    document: Document, number: int, refused: str, boundary: Boundary
) -> LocatedProblem:
    """Return the problem for a pattern in `include` that leads out of the catalog."""
    message, hint = boundary.refusal(refused) or ("changed while it was read", "try again")
    return _of_include(document, number, f"'{refused}' {message}", hint, "outside-path")


def _of_include(
    document: Document, number: int, message: str, hint: str, rule: str
) -> LocatedProblem:
    return LocatedProblem(document.problem(("include", number), message, hint, rule=rule))


def duplicate_name(entry: Entry | GroupEntry, first: Entry | GroupEntry) -> LocatedProblem:
    """Return the problem for a dataset, or a group, whose name is already in use."""
    message, hint = f"the name '{entry.name}' is already in use", "by"
    package = "" if first.folder == entry.folder else package_of(first.folder)
    if package:
        message = f"the name '{entry.name}' is already defined by package {package}"
        hint = "choose another; that one is at"
        if isinstance(entry, Entry):
            hint = "choose another, or write `override: true` to take its place; that one is at"
    problem = entry.problem((), message, hint, rule="duplicate-name")
    table = "groups" if isinstance(first, GroupEntry) else "datasets"
    line = first.document.position((table, entry.name)).line
    return LocatedProblem(problem, first.document.file, line)


def overrides_nothing(entry: Entry) -> LocatedProblem:
    """Return the problem for `override` in a dataset whose name no package has."""
    message = f"no included package has a dataset '{entry.name}'"
    hint = "check the spelling and `include`, or remove `override`"
    return LocatedProblem(entry.problem(("override",), message, hint, rule="override-nothing"))


def conflicts(entry: Entry, problems: Iterable[Problem], root: Path) -> list[Problem]:
    """Return the problems of other datasets that have the name of a package's dataset."""
    if entry.folder == root:
        return []
    path = json_path(("datasets", entry.written))
    return [one for one in problems if (one.rule, one.path) == ("duplicate-name", path)]
