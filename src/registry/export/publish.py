"""Put an export where the user wants it: completely or not at all, and over nothing else."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from registry.base.fs import write_atomic
from registry.errors import ExportError
from registry.export.provenance import provenance_text

if TYPE_CHECKING:
    from registry.export.exported import Exported
    from registry.export.formats import Format

__all__ = ["provenance_path", "publish", "refuse_existing"]


def provenance_path(target: Path) -> Path:
    """Return the file beside an export that has its provenance."""
    return target.with_name(f"{target.name}.provenance.json")


def refuse_existing(target: Path, kind: Format) -> None:
    """Raise an error if an export would replace a file.

    Raises:
        ExportError: the file exists, or is the wrong one of a file and a folder.
    """
    if kind.is_folder:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise ExportError(f"{target} exists and is not an empty folder (--force replaces)")
    elif target.is_dir():
        raise ExportError(f"{target} is a folder (name a file in it)")
    elif target.exists():
        raise ExportError(f"{target} exists (--force replaces it)")


def publish(
    exported: Exported,
    kind: Format,
    target: Path,
    write: Callable[[BinaryIO], object] | None = None,
) -> list[Path]:
    """Write an export and return its files; a reader sees each of them complete or not at all.

    Args:
        exported: The dataset.
        kind: The format.
        target: The file, or for some formats the folder.
        write: Writes the bytes of a file, if they are known already.

    Raises:
        ExportError: the place can't be written to.
    """
    try:
        if kind.is_folder:
            return _publish_folder(exported, kind, target)
        write_atomic(target, write or partial(kind.write, exported))
        if kind.carries_provenance:
            return [target]
        # Last: what it describes is there.
        text = f"{provenance_text(exported.provenance)}\n".encode()
        write_atomic(provenance_path(target), lambda file: file.write(text))
    except OSError as error:
        raise ExportError(f"can't write {target}: {error.strerror or error}") from error
    return [target, provenance_path(target)]


def _publish_folder(exported: Exported, kind: Format, folder: Path) -> list[Path]:
    """Write all files beside the folder, then move them into it; other files in it stay."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        kind.write(exported, temporary)
        folder.mkdir(exist_ok=True)
        # Largest first: what describes the others is small, and appears when they are there.
        files = sorted(temporary.iterdir(), key=lambda path: (-path.stat().st_size, path.name))
        return [path.replace(folder / path.name) for path in files]
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
