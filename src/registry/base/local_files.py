"""List the files of a local path; one definition for both pinning and `diff`."""

from __future__ import annotations

import glob
import os
from pathlib import Path

__all__ = ["local_files"]


def local_files(path: str) -> list[str]:
    """Return the file at a path, all files in a folder, or those that a glob matches, sorted.

    Files and folders directly in a folder whose names start with a dot are skipped, as by a glob:
    `.git` and `.DS_Store` change even if the data does not.
    """
    if os.path.isfile(path):
        return [path]
    if not os.path.isdir(path):
        return sorted(found for found in glob.glob(path, recursive=True) if os.path.isfile(found))
    files = sorted(file for file in Path(path).rglob("*") if file.is_file())
    return [str(file) for file in files if not file.relative_to(path).parts[0].startswith(".")]
