"""Packages that are installed on the machine of a reviewer, and that leave a mark when they run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.git_repository import HERMETIC

__all__ = ["Machine", "Outcome"]


@dataclass(frozen=True)
class Outcome:
    """What a command printed, and how it ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Machine:
    """A machine with installed packages, a cache of its own, and a folder for marks."""

    folder: Path

    @property
    def marks(self) -> Path:
        """Where code that ran leaves a file."""
        return self.folder / "marks"

    @property
    def ran(self) -> set[str]:
        """Names of the marks that code has left."""
        return {path.name for path in self.marks.iterdir()} if self.marks.exists() else set()

    def mark(self, name: str) -> str:
        """Return a line of Python that leaves a mark."""
        self.marks.mkdir(exist_ok=True)
        return f"__import__('pathlib').Path({str(self.marks / name)!r}).touch()\n"

    def install(self, files: Mapping[str, str]) -> None:
        """Install modules, text by path."""
        for name, text in files.items():
            path = self.folder / "site" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def run(self, catalog: Path, *arguments: str, timeout: float = 60) -> Outcome:
        """Run `registry ARGUMENTS` in a folder."""
        site = str(self.folder / "site")
        # After the standard library, where pip installs, and not in the working directory.
        code = (
            f"import sys; sys.path[:] = [*sys.path[1:], {site!r}];"
            " from registry.cli import main; sys.exit(main(sys.argv[1:]))"
        )
        own = {"REGISTRY_CACHE_DIR": str(self.folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=catalog,
            env={**os.environ, **HERMETIC, **own},
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)
