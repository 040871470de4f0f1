"""Check the layout of manifests, which needs the text of the files."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from registry.catalog.catalog import Catalog
from registry.catalog.reader import may_hide_datasets
from registry.lint.fixes.key_order import misplaced_keys
from registry.lint.fixes.schema_comment import has_schema_line
from registry.lint.fixes.source_file import ManifestFile, read_manifest_file
from registry.rules import Finding
from registry.yamldoc.reader import Document

__all__ = ["key_order", "layout_files", "schema_line"]


def schema_line(file: ManifestFile) -> Iterator[Finding]:
    """Report a file without a comment at the top that names the schema."""
    if not has_schema_line(file.text):
        yield Finding((), "no comment names the schema for editors", "`validate --fix` adds it")


def key_order(document: Document) -> Iterator[Finding]:
    """Report the first key that is out of order in each mapping."""
    for path, before in misplaced_keys(document):
        message = f"'{path[-1]}' belongs before '{before}'"
        yield Finding(path, message, "`validate --fix` moves it")


def layout_files(
    catalog: Catalog, index: Document, named: Collection[Path] = ()
) -> Iterator[ManifestFile]:
    """Yield the files of an index that are in its folder, including the index.

    Others, and those of a package (`package:`), which may be installed below that folder, have
    other owners, so they are skipped unless they are `named`.
    """
    root = catalog.index.parent
    places = {path.resolve() for path in named}
    documents = {entry.document.file: entry.document for entry in catalog.entries.values()}
    own = {entry.document.file for entry in catalog.entries.values() if entry.folder == root}
    malformed = {
        problem.file
        for problem in catalog.problems
        if may_hide_datasets(problem) or problem.path in ("$", "$.datasets")
    }
    for name, document in sorted({**documents, index.file: index}.items()):
        if name in malformed:
            continue
        path = Path(os.path.abspath(name))  # resolves `..`, so that `../m.yaml` is not below `root`
        is_own = name == index.file or name in own
        if (is_own and path.is_relative_to(root)) or (places and path.resolve() in places):
            yield read_manifest_file(path, document, root, is_index="version" in document.value)
