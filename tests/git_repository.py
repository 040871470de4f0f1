"""A git repository of a test, which knows nothing of this machine's settings."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["HERMETIC", "GitRepository", "git"]

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


@dataclass(frozen=True)
class GitRepository:
    """A folder under git."""

    folder: Path

    @classmethod
    def make(cls, folder: Path, files: Mapping[str, str]) -> GitRepository:
        """Make a repository whose branch `main` has these files."""
        folder.mkdir(parents=True)
        repository = cls(folder)
        repository.git("init", "--quiet", "--initial-branch", "main")
        repository.write(files)
        repository.commit()
        return repository

    def git(self, *arguments: str) -> str:
        """Run git; return what it prints."""
        return git(self.folder, *arguments)

    def write(self, files: Mapping[str, str]) -> None:
        """Write files, text by name."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def commit(self) -> str:
        """Commit everything; return the commit."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "change")
        return self.git("rev-parse", "HEAD")
