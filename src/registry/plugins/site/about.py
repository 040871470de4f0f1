"""What a catalog says of itself, and which state of it the pages show."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from registry import Catalog
from registry.api import (
    Repository,
    RevisionError,
    installed_release,
    open_regular,
    repository_of,
)

__all__ = ["About", "about"]

_LOGO_TYPES = {
    ".gif": "gif",
    ".jpeg": "jpeg",
    ".jpg": "jpeg",
    ".png": "png",
    ".svg": "svg+xml",
    ".webp": "webp",
}
_LOGO_SIZE = 50_000
"""Bytes of a logo, which is in the page."""
_MOST_COMMITS = 5_000
"""Commits in which the last change of a manifest is looked for."""


@dataclass(frozen=True, kw_only=True)
class About:
    """A catalog as a whole."""

    title: str
    description: str = ""
    logo: str = ""
    """A data URI."""
    repository: str = ""
    """An HTTP or HTTPS URL."""
    release: str = ""
    """That of this package."""
    commit: str = ""
    date: str = ""
    """The day of the commit."""
    folder: str = ""
    """The folder of the index in the repository, empty or with a `/`."""
    changes: Mapping[str, str] = field(default_factory=dict)
    """File of a manifest, relative to the index → the day of the last commit that changed it."""

    def file_url(self, file: str, line: int) -> str:
        """Return where the repository shows a line of a file of the catalog, or nothing."""
        if not (self.repository and self.commit):
            return ""
        return (
            f"{self.repository}/blob/{self.commit}/{quote(os.fsencode(self.folder + file))}#L{line}"
        )


def about(catalog: Catalog) -> About:
    """Return what the index says under `catalog`, and what git does of its folder."""
    folder = catalog.index.parent
    written = catalog.index_document().value.get("catalog")
    said: Mapping[str, Any] = written if isinstance(written, dict) else {}
    texts = {key: text for key, text in said.items() if isinstance(text, str)}
    url = texts.get("repository", "").rstrip("/")
    return About(
        title=texts.get("title") or folder.name or "Datasets",
        description=texts.get("description", ""),
        logo=_logo(folder, texts.get("logo", "")),
        repository=url if url.startswith(("https://", "http://")) else "",
        release=installed_release(),
        **_history(folder),
    )


def _logo(folder: Path, name: str) -> str:
    """Return a picture as a data URI; nothing if it is none of a catalog, or too large."""
    try:
        path = (folder / name).resolve()
        kind = _LOGO_TYPES.get(path.suffix.lower())
        if not name or kind is None or not path.is_relative_to(folder.resolve()):
            return ""
        with open_regular(path) as file:
            data = file.read(_LOGO_SIZE + 1)
    except (OSError, ValueError):  # the second is of a name that no file can have
        return ""
    if len(data) > _LOGO_SIZE:
        return ""
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def _history(folder: Path) -> dict[str, Any]:
    """Return the commit of a folder, its day, and the days of its files; nothing without git."""
    try:
        repository = _repository(folder)
        commit, date = repository.git("show", "--no-patch", "--format=%H %cs", "HEAD").split()
        inside = folder.resolve().relative_to(repository.top.resolve()).as_posix()
        changes = _changes(repository, inside, commit)
    except (RevisionError, ValueError):
        return {}
    prefix = "" if inside == "." else f"{inside}/"
    return {"commit": commit, "date": date, "folder": prefix, "changes": changes}


_repository = cache(repository_of)


@lru_cache(maxsize=4)  # a server asks for each page, and the log of a commit stays as it is
def _changes(repository: Repository, inside: str, commit: str) -> Mapping[str, str]:
    """Return the days of the files of a folder: those of the last commits that changed them."""
    log = repository.git(
        "log",
        f"--max-count={_MOST_COMMITS}",
        "--format=%x00%cs",
        "--name-only",
        commit,
        "--",
        f":(glob){inside}/**/*.yaml",
    )
    changes: dict[str, str] = {}
    for entry in log.split("\0")[1:]:
        day, *files = filter(None, entry.splitlines())
        for file in files:
            changes.setdefault(file.removeprefix("" if inside == "." else f"{inside}/"), day)
    return changes
