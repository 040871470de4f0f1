"""Find everything that is wrong with manifests, without making a request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from registry.catalog import Catalog, shown
from registry.errors import ManifestError, Problem
from registry.mapping.compiled import FieldMapper

__all__ = ["check"]


def check(catalog: Catalog, paths: Iterable[Path] = ()) -> list[Problem]:
    """Return the problems of a catalog, or only those of some of its files, sorted by place.

    A file that does not belong to the catalog is checked as if it did.
    """
    wanted = [file for path in paths for file in _files(path)]
    whole = catalog.including(wanted)
    names = {shown(file) for file in wanted}
    problems = [*whole.problems, *_meaning(whole)]
    kept = [problem for problem in problems if not wanted or problem.file in names]
    return sorted(dict.fromkeys(kept), key=lambda one: (one.file, one.line, one.column))


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted([*path.rglob("*.yaml"), *path.rglob("*.yml")])
    if not path.exists():
        raise ManifestError([Problem(message="no such file", file=str(path), path="")])
    return [path]


def _meaning(catalog: Catalog) -> Iterator[Problem]:
    """Yield what only resolving and compiling shows, of files whose form is right."""
    broken = {problem.file for problem in catalog.problems}
    for name, entry in catalog.entries.items():
        if entry.document.file in broken:
            continue
        try:
            spec = catalog.resolve(name)
            FieldMapper(spec.fields)
        except ManifestError as error:
            yield from error.problems
        except ValueError as error:
            yield entry.problem(("fields",), str(error))
