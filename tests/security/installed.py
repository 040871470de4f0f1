"""Packages that are installed on the machine of a reviewer, and that leave a mark when they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.command_line import Ran, run
from tests.git_repository import HERMETIC, write_files

__all__ = ["Machine"]


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
        write_files(self.folder / "site", files)

    def run(self, catalog: Path, *arguments: str) -> Ran:
        """Run `registry ARGUMENTS` in a folder."""
        own = {**HERMETIC, "REGISTRY_CACHE_DIR": str(self.folder / "cache")}
        ran = run(catalog, *arguments, environment=own, site=self.folder / "site")
        assert "Traceback" not in ran.err
        return ran
