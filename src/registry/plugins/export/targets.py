"""Which file or folder each dataset is exported to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from registry.api import ExportError
from registry.plugins.export.formats import find_format, format_of_path

if TYPE_CHECKING:
    from registry.plugins.export.formats import Format

__all__ = ["NAME", "targets_of"]

NAME = "{name}"
"""Stands for the name of the dataset in `--to`."""


def targets_of(
    names: Sequence[str], to: str, format_name: str | None
) -> tuple[Format, dict[str, Path]]:
    """Return the format, and the place of each dataset.

    Args:
        names: The datasets.
        to: A file, a folder, or a path with `{name}`.
        format_name: The format; None takes that of the suffix.

    Raises:
        ExportError: several datasets would be written to one file, or no format is known.
    """
    kind = format_of_path(to) if format_name is None else find_format(format_name)
    if NAME in to:
        return kind, {name: Path(to.replace(NAME, name)) for name in names}
    is_folder = to.endswith(("/", os.sep)) or (not kind.is_folder and Path(to).is_dir())
    if is_folder or (len(names) > 1 and (kind.is_folder or not to.endswith(kind.suffix))):
        return kind, {name: Path(to) / _file_of(name, kind) for name in names}
    if len(names) > 1:
        raise ExportError(f"{len(names)} datasets can't be one file {to} (use {NAME} in the path)")
    return kind, {names[0]: Path(to)}


def _file_of(name: str, kind: Format) -> str:
    # The suffix of some formats is the whole name of the file, such as `eval.yaml`.
    is_name = kind.suffix and not kind.suffix.startswith(".")
    return f"{name}/{kind.suffix}" if is_name else f"{name}{kind.suffix}"
