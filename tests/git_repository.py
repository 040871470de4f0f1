"""A git repository of a test, which knows nothing of this machine's settings."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["HERMETIC", "GitRepository", "git", "write_files"]

HERMETIC = {
    "GIT_AUTHOR_EMAIL": "t@example.org",
    "GIT_AUTHOR_NAME": "T",
    "GIT_COMMITTER_EMAIL": "t@example.org",
    "GIT_COMMITTER_NAME": "T",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}
"""The environment of git and of programs that call it."""


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder; return what it prints."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={**os.environ, **HERMETIC},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout.strip()


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files, text or bytes by name; return the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


@dataclass(frozen=True)
class GitRepository:
    """A folder under git."""

    folder: Path

    @classmethod
    def make(cls, folder: Path, files: Mapping[str, str]) -> GitRepository:
        """Make a repository whose branch `main` has these files."""
        folder.mkdir(parents=True)
        repository = cls.of(write_files(folder, files))
        repository.commit()
        return repository

    @classmethod
    def of(cls, folder: Path) -> GitRepository:
        """Put a folder under git; nothing is committed."""
        git(folder, "init", "--quiet", "--initial-branch", "main")
        return cls(folder)

    def git(self, *arguments: str) -> str:
        """Run git; return what it prints."""
        return git(self.folder, *arguments)

    def write(self, files: Mapping[str, str]) -> None:
        """Write files, text by name."""
        write_files(self.folder, files)

    def commit(self) -> str:
        """Commit everything; return the commit."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "change")
        return self.git("rev-parse", "HEAD")
