"""The repository that a file of a dataset repository belongs to."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from registry.scaffold.importers.models import ImportOptions, problem_at

__all__ = ["source_of_repository"]

# The Hub's cache: …/datasets--owner--name/snapshots/COMMIT/file
_CACHED = re.compile(r".*/datasets--(?P<path>[^/]+)/snapshots/(?P<commit>[0-9a-f]{40})/[^/]+")


def source_of_repository(file: Path, options: ImportOptions) -> dict[str, Any]:
    """Return the keys of a source: those that the user names, or those of the Hub's cache.

    Raises:
        ManifestError: neither says which repository it is.
    """
    if options.repository is not None:
        given = {"path": options.repository, "revision": options.revision}
    elif (found := _CACHED.fullmatch(file.absolute().as_posix())) is not None:
        path = found["path"].replace("--", "/")
        given = {"path": path, "revision": options.revision or found["commit"]}
    else:
        hint = "add --repository OWNER/NAME, or --repository ./FOLDER for a local copy"
        raise problem_at(file, "the file does not say which repository it belongs to", hint)
    return {"type": "hf", **{key: value for key, value in given.items() if value is not None}}
