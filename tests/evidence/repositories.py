"""Find the bytes of public addresses: in git repositories at hand, and in folders of real data."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from registry.base.locations import Location
from tests.evidence.rows import FOLDERS

__all__ = ["Files", "RawParts", "raw_parts"]

_RAW = re.compile(r"https://raw\.githubusercontent\.com/([^/]+)/([^/]+)/([0-9a-f]{40})/(.+)")


class RawParts(NamedTuple):
    """What the address of a file in a public git repository names."""

    repository: str
    """`OWNER/NAME`."""
    commit: str
    path: str

    @property
    def origin(self) -> str:
        """As in a row of evidence."""
        return f"github:{self.repository}@{self.commit}:{self.path}"


def raw_parts(url: str) -> RawParts:
    """Return the parts of the address of a file, or of an archive of it.

    Raises:
        ValueError: it is not such an address at a commit.
    """
    match = _RAW.fullmatch(Location(url).file)
    if match is None:
        raise ValueError(f"not a file of a repository at a commit: {url}")
    owner, name, commit, path = match.groups()
    return RawParts(f"{owner}/{name}", commit, unquote(path))


@dataclass(frozen=True)
class Files:
    """Finds the bytes of a public address."""

    urls: Mapping[str, str]
    """URL → the dataset that names it."""
    repositories: Path | None = None
    """Has a bare repository or `repo` in it for each `OWNER+NAME`."""
    folders: Sequence[Path] = FOLDERS

    def find(self, url: str) -> bytes | None:
        """Return the bytes, or None: those of the file's own commit before any copy."""
        parts = urlsplit(url)
        if parts.hostname == "raw.githubusercontent.com":
            found = self._in_repository(url)
            if found is not None:
                return found
        return self._in_folders(url, unquote(parts.path))

    def _in_repository(self, url: str) -> bytes | None:
        if self.repositories is None:
            return None
        part = raw_parts(url)
        folder = self.repositories / part.repository.replace("/", "+")
        places = (folder, folder / "repo", folder / "repo" / ".git")
        bare = next((one for one in places if (one / "HEAD").is_file()), None)
        if bare is None:
            return None
        command = ["git", f"--git-dir={bare}", "show", f"{part.commit}:{part.path}"]
        done = subprocess.run(command, capture_output=True, check=False)
        return done.stdout if done.returncode == 0 else None

    def _in_folders(self, url: str, path: str) -> bytes | None:
        """Look for the longest part of the path that a dataset's folder has."""
        segments = path.strip("/").split("/")
        for folder in self.folders:
            for start in range(len(segments)):
                file = folder.joinpath(self.urls.get(url, ""), *segments[start:])
                if url in self.urls and file.is_file():
                    return file.read_bytes()
        return None

    @cached_property
    def hosts(self) -> frozenset[str]:
        """The hosts of all addresses."""
        return frozenset(filter(None, (urlsplit(url).hostname for url in self.urls)))
