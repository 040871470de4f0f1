"""Import files: choose the importer of each, and collect what they return."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from registry.scaffold.importers import KINDS
from registry.scaffold.importers.detect import detect_kind, files_of
from registry.scaffold.importers.models import Imported, ImportOptions, problem_at

__all__ = ["ImportedFile", "import_files"]


@dataclass(frozen=True)
class ImportedFile:
    """A file, and what it gave."""

    file: Path
    kind: str
    imported: Imported


def import_files(
    paths: Iterable[Path], options: ImportOptions, *, kind: str | None = None
) -> Iterator[ImportedFile]:
    """Yield what each file gives; files of a folder that are of no kind are skipped.

    Raises:
        ManifestError: a file can't be read, or a named file is of no kind.
    """
    for path in paths:
        for file in files_of(path):
            found = kind or detect_kind(file)
            if found is not None:
                module = import_module(f"{__package__}.{KINDS[found]}")
                yield ImportedFile(file, found, module.read(file, options))
            elif file == path:
                known = ", ".join(KINDS)
                raise problem_at(file, "unknown kind of file", f"--from takes {known}")
