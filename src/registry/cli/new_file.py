"""Write a file that a command creates, over nothing that exists."""

from __future__ import annotations

from pathlib import Path

from registry.catalog.catalog import display_path
from registry.errors import ManifestError, Problem

__all__ = ["existing_file", "write_new"]


def write_new(target: Path, text: str) -> None:
    """Write a text to a new file, and create its folder.

    Raises:
        ManifestError: the file exists, or can't be written.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # "x" follows no link and overwrites no file that was created since anyone looked.
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        if isinstance(error, FileExistsError) and target.parent.is_dir():
            raise existing_file(target) from error
        in_the_way = next((one for one in target.parents if one.is_file()), None)
        reason = error.strerror or str(error)
        if in_the_way is not None:
            reason = (
                f"{display_path(in_the_way)} is a file, so it can't be the folder (name another)"
            )
        message = f"can't write {display_path(target)}: {reason}"
        raise ManifestError([Problem(message=message, path="")]) from error


def existing_file(target: Path) -> ManifestError:
    """Return the error for a file that exists."""
    message = f"{display_path(target)} already exists and is not overwritten"
    return ManifestError([Problem(message=message, path="")])
