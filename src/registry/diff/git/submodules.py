"""Submodules whose files are not on this machine."""

from __future__ import annotations

import os
import re
from pathlib import Path

from registry.diff.git.process import repository_of
from registry.errors import RevisionError

__all__ = ["may_contain", "missing_submodules"]

_ENTRY = re.compile(r"160000 (?P<commit>[0-9a-f]+) \d\t(?P<path>.*)", re.DOTALL)


def missing_submodules(top: Path) -> dict[str, str]:
    """Return path → commit of the submodules of a working tree that are not checked out."""
    if not (top / ".gitmodules").is_file():  # most repositories: saves a process
        return {}
    try:
        listing = repository_of(top).git("ls-files", "--stage", "-z")
    except RevisionError:  # a folder like any other
        return {}
    found = [row for text in listing.split("\0") if (row := _ENTRY.fullmatch(text))]
    return {
        row["path"]: row["commit"]
        for row in found
        if not os.path.lexists(top / row["path"] / ".git")
    }


def may_contain(folder: str, pattern: str) -> bool:
    """Return whether a path, folder or glob from the top may name files below a folder."""
    steps = os.path.normpath(pattern).split("/")
    for part, step in zip(folder.split("/"), steps, strict=False):
        if step in ("**", "."):
            return True
        if step != part and not re.search(r"[*?\[]", step):
            return False
    return True
