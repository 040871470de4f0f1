"""Import files: choose the importer of each, and collect what they return."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from registry import ManifestError
from registry.api import ExtensionError, extension, extensions
from registry.plugins.importers import KINDS
from registry.plugins.importers.detect import detect_kind, files_of
from registry.plugins.importers.models import (
    Imported,
    Importer,
    ImportOptions,
    NotImported,
    problem_at,
)

__all__ = ["ImportedFile", "import_files"]


@dataclass(frozen=True)
class ImportedFile:
    """A file, and what it gave."""

    file: Path
    kind: str | None
    """None if even that is unknown."""
    imported: Imported


def import_files(
    paths: Iterable[Path], options: ImportOptions, *, kind: str | None = None
) -> Iterator[ImportedFile]:
    """Yield what each file gives; files of a folder that are of no kind are skipped.

    A file of a folder that can't be read is not imported, and does not stop the others.

    Raises:
        ManifestError: a named file can't be read, or is of no kind.
    """
    for path in paths:
        for file in files_of(path):
            try:
                found = _import_file(file, options, kind)
            except ManifestError as error:
                if file == path:
                    raise
                # With its place, which may be in another file that this one includes.
                refused = NotImported(file.name, "; ".join(map(str, error.problems)))
                yield ImportedFile(file, kind, Imported(refused=(refused,)))
                continue
            if found is not None:
                yield found
            elif file == path:
                known = ", ".join([*KINDS, *extensions("importers")])
                raise problem_at(file, "unknown kind of file", f"--from takes {known}")


def _import_file(file: Path, options: ImportOptions, kind: str | None) -> ImportedFile | None:
    """Return what a file gives; None if it is of no kind."""
    found = kind or detect_kind(file) or _kind_of_others(file)
    if found is None:
        return None
    if found in KINDS:
        read = import_module(f"{__package__}.{KINDS[found]}").read
    else:
        read = _importer_of_others(found).read
    return ImportedFile(file, found, read(file, options))


def _kind_of_others(file: Path) -> str | None:
    for name in extensions("importers"):
        if _importer_of_others(name).detects(file):
            return name
    return None


def _importer_of_others(name: str) -> Importer:
    found = extension("importers", name)
    if not isinstance(found, Importer):
        raise ExtensionError(f"the plugin '{name}' is no {Importer.__module__}.Importer")
    return found
