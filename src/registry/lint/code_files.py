"""Find files beside manifests that Python would import or run, as in a hostile checkout.

`python -m registry` in the folder of `datasets.yaml` runs `registry/__init__.py` of that folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from registry.catalog.catalog import Catalog, display_path
from registry.errors import Problem
from registry.rules import RULES

__all__ = ["code_files", "code_problems", "manifest_folders"]

_CODE = re.compile(r"\.(?:py[cdw]?|pth|so|pyz)$")
# In the index's own folder, which is often that of a project, only these names are about us.
_SHADOWING = re.compile(r"(?:registry|sitecustomize|usercustomize)\.|.*\.pth$")
_MOST = 100


def manifest_folders(catalog: Catalog) -> list[str]:
    """Return the folders below that of the index which have manifests, and `registry` beside it."""
    root = os.path.abspath(catalog.index.parent)
    files = {entry.document.file for entry in catalog.entries.values()}
    files |= {problem.file for problem in catalog.problems}
    folders = {os.path.dirname(os.path.abspath(file)) for file in files}
    below = {folder for folder in folders if folder.startswith(os.path.join(root, ""))}
    # One of them may be a link to any folder of this machine.
    return sorted(filter(catalog.boundary.contains, below | {os.path.join(root, "registry")}))


def code_files(root: str, folders: Iterable[str]) -> list[str]:
    """Return the first files of code in the folders of manifests, and in that of the index."""
    return list(islice(_code_files(root, folders), _MOST))


def _code_files(root: str, folders: Iterable[str]) -> Iterator[str]:
    for name in _names(root):
        if _CODE.search(name) and _SHADOWING.match(name):
            yield os.path.join(root, name)
    for folder in folders:
        for name in _names(folder):
            if _CODE.search(name):
                yield os.path.join(folder, name)


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
