"""Find everything that is wrong with manifests, without making a request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from registry.catalog import Catalog
from registry.errors import ManifestError, Problem, did_you_mean
from registry.expressions import (
    expression_columns,
    is_expression,
    parse_condition,
    parse_expression,
)
from registry.mapping import map_fields
from registry.mapping.condition import compile_condition
from registry.mapping.expression import compile_expression
from registry.spec import CsvSource, DatasetSpec
from registry.yamlfile import DataPath

__all__ = ["check", "count_checked"]


def check(catalog: Catalog, paths: Iterable[Path] = ()) -> list[Problem]:
    """Return the problems of a catalog, or only those of some of its files, sorted by place.

    A file that does not belong to the catalog is checked as if it did.
    """
    wanted = [file for path in paths for file in _files(path)]
    places = {file.resolve() for file in wanted}
    whole = catalog.including(wanted)
    problems = [*whole.problems, *_meaning(whole)]
    kept = [one for one in problems if not wanted or Path(one.file).resolve() in places]
    return sorted(dict.fromkeys(kept), key=lambda one: (one.file, one.line, one.column))


def count_checked(catalog: Catalog, paths: Iterable[Path] = ()) -> int:
    """Return how many datasets `check` looks at."""
    wanted = [file for path in paths for file in _files(path)]
    places = {file.resolve() for file in wanted}
    files = [entry.document.file for entry in catalog.including(wanted).entries.values()]
    return len([file for file in files if not wanted or Path(file).resolve() in places])


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
        except ManifestError as error:
            yield from error.problems
            continue
        yield from (entry.problem(path, message) for path, message in _compile_faults(spec))


def _compile_faults(spec: DatasetSpec) -> Iterator[tuple[DataPath, str]]:
    """Yield what in a dataset's fields and condition does not compile, and where."""
    fields = {name: getattr(spec.fields, name) for name in type(spec.fields).model_fields}
    known = _known_columns(spec)
    for name, expression in fields.items():
        try:
            map_fields({**dict.fromkeys(fields), "input": "input", name: expression})
        except ValueError as error:
            yield ("fields", name), str(error).removeprefix(f"field {name}: ")
        else:
            yield from (
                (("fields", name), message) for message in _unknown_columns(expression, known)
            )
    if spec.where is not None:
        try:
            compile_condition(parse_condition(spec.where), compile_expression)
        except ValueError as error:
            yield ("where",), str(error)


def _known_columns(spec: DatasetSpec) -> set[str]:
    """Return the columns of a dataset where its manifest names them all, else nothing."""
    names: set[str] = set()
    for source in spec.sources:
        if not isinstance(source, CsvSource) or source.fieldnames is None:
            return set()
        names.update(source.fieldnames, source.columns)
    if spec.join is not None:
        names.add(spec.join.into)
    if spec.explode is not None:
        names.update((spec.explode.item, spec.explode.index))
    return names


def _unknown_columns(expression: Any, known: set[str]) -> Iterator[str]:
    """Yield what is wrong with the columns that an expression of the manifest reads."""
    if not known or expression is None or isinstance(expression, str):
        return  # a column on its own may be missing, as with the loaders
    listed = expression if isinstance(expression, list) else [expression]
    is_map = isinstance(expression, dict) and not is_expression(expression)
    parts = list(expression.values()) if is_map else listed
    for part in (part for part in parts if part is not None):
        for name in expression_columns(parse_expression(part)):
            if name not in known and name.partition(".")[0] not in known and name != "*":
                hint = did_you_mean(name, known) or f"columns: {', '.join(sorted(known))}"
                yield f"no column '{name}' ({hint})"
