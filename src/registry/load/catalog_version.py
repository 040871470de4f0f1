"""Which commit of which repository a catalog is, as git tells."""

from __future__ import annotations

import re
from pathlib import Path

from registry.base.locations import Location
from registry.base.processes.git import repository_of
from registry.errors import RevisionError
from registry.samples.provenance import CatalogVersion
from registry.settings import INDEX_NAME, builtin_root

__all__ = ["catalog_version"]

_CHANGEABLE = ("*.yaml", "*.yml", "datasets.lock")
_SCP = re.compile(r"(?:[^@/:]+@)?([\w.-]+:(?!//).+)")
"""`git@host:owner/name.git`"""


def catalog_version(folder: Path) -> CatalogVersion:
    """Return the commit and the repository of the catalog whose index is in a folder."""
    try:
        repository = repository_of(folder)
        # What is installed below a working tree, as in `.venv`, is not a part of it.
        index = folder / INDEX_NAME
        if repository.run("ls-files", "--error-unmatch", "--", str(index)).returncode:
            raise RevisionError(f"{index} is in no commit")
        commit = repository.git("rev-parse", "--verify", "HEAD").strip()
    except RevisionError:
        is_ours = folder == builtin_root().parent
        return CatalogVersion(package="eval-registry" if is_ours else None)
    inside = folder.relative_to(repository.top).as_posix()
    paths = [f":(glob){inside}/**/{one}" for one in _CHANGEABLE]
    changed = repository.git("status", "--porcelain", "--", *paths)
    url = repository.run("config", "--get", "remote.origin.url").stdout.strip()
    return CatalogVersion(repository=_public_url(url), commit=commit, changed=bool(changed))


def _public_url(url: str) -> str | None:
    """Return the URL of a remote repository without its user; None for a folder of this machine."""
    if "://" in url and not url.startswith("file:"):
        return Location(url).public
    found = _SCP.fullmatch(url)
    return found[1] if found else None
