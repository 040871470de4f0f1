"""A pull request under review: a real repository, and the command line as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.git_repository import HERMETIC, GitRepository

__all__ = ["PullRequest", "Reviewed"]


@dataclass(frozen=True)
class Reviewed:
    """What a process printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The output as JSON data."""
        return json.loads(self.out)


@dataclass(frozen=True)
class PullRequest:
    """A branch `topic` of a catalog, checked out as CI does."""

    repository: GitRepository
    cache: Path
    environment: dict[str, str] = field(default_factory=dict)
    """Variables of the runner, beside its own."""

    @classmethod
    def make(
        cls, folder: Path, base: Mapping[str, str], head: Mapping[str, str | None]
    ) -> PullRequest:
        """Commit the files of the base, then those of the change; None deletes a file."""
        repository = GitRepository.make(folder / "repository", base)
        repository.git("switch", "--quiet", "--create", "topic")
        made = cls(repository, folder / "runner-cache")
        made.push(head)
        return made

    @property
    def folder(self) -> Path:
        """The folder of the checkout."""
        return self.repository.folder

    def push(self, files: Mapping[str, str | None]) -> None:
        """Commit more files to the branch that is checked out; None deletes a file."""
        for name in (name for name, text in files.items() if text is None):
            (self.folder / name).unlink()
        self.repository.write({name: text for name, text in files.items() if text is not None})
        self.repository.commit()

    def run(self, *arguments: str) -> Reviewed:
        """Run the command line in the checkout."""
        done = subprocess.run(
            # -I: a package `registry` in the checkout is not imported.
            [sys.executable, "-I", "-m", "registry", *arguments],
            cwd=self.folder,
            env={
                **os.environ,
                **HERMETIC,
                "REGISTRY_CACHE_DIR": str(self.cache),
                **self.environment,
            },
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert "Traceback" not in done.stderr
        return Reviewed(done.returncode, done.stdout, done.stderr)
