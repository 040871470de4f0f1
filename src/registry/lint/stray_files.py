"""Find files below a catalog that act on whoever works there: code, and other indexes.

`python -m registry` in the folder of `datasets.yaml` runs `registry/__init__.py` of that folder,
and an index takes over for whoever works in its folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from registry.base.local_files import FileState, display_path
from registry.catalog.catalog import Catalog
from registry.errors import Problem
from registry.rules import RULES
from registry.settings import INDEX_NAME
from registry.yamldoc.reader import read_partially

__all__ = [
    "code_files",
    "code_problems",
    "files_below",
    "manifest_folders",
    "nested_index_problems",
    "nested_indexes",
]


_CODE = re.compile(r"\.(?:py[cdw]?|pth|so|pyz)$")
# In the index's own folder, which is often that of a project, only these names are about us.
_SHADOWING = re.compile(r"(?:registry|sitecustomize|usercustomize)\.|.*\.pth$")
_MOST_FILES = 100

_NOT_OURS = ("__pycache__", "node_modules")


def manifest_folders(catalog: Catalog) -> list[str]:
    """Return the folders below that of the index which have manifests, and `registry` beside it."""
    root = os.path.abspath(catalog.index.parent)
    files = {entry.document.file for entry in catalog.written}
    files |= {problem.file for problem in catalog.problems}
    folders = {os.path.dirname(os.path.abspath(file)) for file in files}
    below = {folder for folder in folders if folder.startswith(os.path.join(root, ""))}
    # One of them may be a link to any folder of this machine.
    return sorted(filter(catalog.boundary.contains, below | {os.path.join(root, "registry")}))


def code_files(root: str, folders: Iterable[str]) -> list[str]:
    """Return the first files of code in the folders of manifests, and in that of the index."""
    found = (
        os.path.join(folder, name)
        for folder in (root, *folders)
        for name in _names(folder)
        if _CODE.search(name) and (folder != root or _SHADOWING.match(name))
    )
    return list(islice(found, _MOST_FILES))


def _names(folder: str) -> Sequence[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return ()


def code_problems(catalog: Catalog) -> Iterator[Problem]:
    """Yield a problem for each file of code beside manifests."""
    rule = RULES["python-in-catalog"]
    for path in code_files(os.path.abspath(catalog.index.parent), manifest_folders(catalog)):
        yield Problem(
            message="Python would import or run this file",
            file=display_path(Path(path)),
            line=1,
            column=1,
            path="",
            hint="manifests are data: move code to another folder",
            rule=rule.id,
            severity=rule.severity,
        )


def nested_indexes(root: str) -> list[tuple[str, FileState]]:
    """Return the indexes below a folder with their states, those of other programs left out."""
    paths = (one for one in files_below(root) if os.path.basename(one).lower() == INDEX_NAME)
    return [(one, FileState.or_absent(one)) for one in paths if os.path.dirname(one) != root]


def files_below(root: str) -> Iterator[str]:
    """Yield the files below a folder, those of other programs left out."""
    for folder, folders, names in os.walk(root):
        if folder != root and "pyvenv.cfg" in names:
            folders[:] = []  # an environment of Python has the index of this package, and of others
            continue
        folders[:] = sorted(
            one for one in folders if one not in _NOT_OURS and not one.startswith(".")
        )
        yield from (os.path.join(folder, one) for one in names if not one.startswith("."))


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
