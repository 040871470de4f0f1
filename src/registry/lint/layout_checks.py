"""Rules of layout, which need the text of a file: a table of checks, one a rule."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from registry.catalog.catalog import Catalog
from registry.errors import Problem
from registry.lint.fixes.key_order import misplaced_keys
from registry.lint.fixes.schema_comment import has_schema_line
from registry.lint.fixes.source_file import ManifestFile, read_manifest_file
from registry.yamldoc.reader import DataPath, Document

__all__ = ["LAYOUT_CHECKS", "layout_files", "layout_problems"]

_HINT = "`validate --fix` does it"


def layout_problems(files: Iterable[ManifestFile]) -> Iterator[Problem]:
    """Yield what is wrong with the layout of files."""
    for file in files:
        for rule, find in LAYOUT_CHECKS.items():
            for path, message in find(file):
                yield file.document.problem(path, message, _HINT, rule=rule)


def layout_files(
    catalog: Catalog, index: Document, named: Collection[Path] = ()
) -> Iterator[ManifestFile]:
    """Yield the files of a catalog below its index's folder, the index among them.

    What lies elsewhere (`package:`) is laid out by others, unless it was `named`.
    """
    root = catalog.index.parent
    places = {path.resolve() for path in named}
    documents = {entry.document.file: entry.document for entry in catalog.entries.values()}
    for name, document in sorted({**documents, index.file: index}.items()):
        path = Path(name).absolute()
        if path.is_relative_to(root) or (places and path.resolve() in places):
            yield read_manifest_file(path, document, root, is_index="version" in document.value)


def _no_schema_line(file: ManifestFile) -> Iterator[tuple[DataPath, str]]:
    if not has_schema_line(file.text):
        yield (), "no comment names the schema for editors"


LAYOUT_CHECKS: dict[str, Callable[[ManifestFile], Iterator[tuple[DataPath, str]]]] = {
    "schema-line": _no_schema_line,
    "key-order": lambda file: misplaced_keys(file.document),
}
"""What finds the problems of a rule."""
