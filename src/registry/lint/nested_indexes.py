"""Find indexes below the folder of a catalog: each takes over for whoever works in its folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from registry.base.file_state import FileState
from registry.catalog.catalog import Catalog, display_path
from registry.errors import Problem
from registry.rules import RULES
from registry.settings import INDEX_NAME
from registry.yamldoc.reader import read_partially

__all__ = ["nested_index_problems", "nested_indexes"]

_NOT_OURS = ("__pycache__", "node_modules")


def nested_indexes(root: str) -> list[tuple[str, FileState]]:
    """Return the indexes below a folder with their states, those of other programs left out."""
    found = []
    for folder, folders, names in os.walk(root):
        # Environments of Python have the index of this package, and of others.
        is_ours = folder == root or "pyvenv.cfg" not in names
        folders[:] = sorted(filter(_may_be_ours, folders)) if is_ours else []
        if is_ours and folder != root:
            paths = [os.path.join(folder, one) for one in names if one.lower() == INDEX_NAME]
            found += [(path, FileState.or_absent(path)) for path in paths]
    return found


def _may_be_ours(folder: str) -> bool:
    return folder not in _NOT_OURS and not folder.startswith(".")


def nested_index_problems(catalog: Catalog) -> Iterator[Problem]:
    """Yield a problem for each index below the catalog's folder that is not part of the catalog."""
    rule, part = RULES["nested-index"], set(map(str, catalog.indexes))
    for path, _ in nested_indexes(os.path.abspath(catalog.index.parent)):
        if path in part:
            continue
        shown = display_path(Path(path))
        document = read_partially(Path(path), shown_as=shown, is_index=True).document
        # Not the first line: a comment that ignores it says which line it is about.
        place = None if document is None else document.position(("version",))
        message = "whoever works in this folder gets its datasets and permissions, not those of"
        yield Problem(
            message=f"{message} {display_path(catalog.index)}",
            file=shown,
            line=1 if place is None else place.line,
            column=1 if place is None else place.column,
            path="",
            hint="move it, or ignore it with a comment",
            rule=rule.id,
            severity=rule.severity,
        )
