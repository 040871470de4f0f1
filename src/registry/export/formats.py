"""The table of formats: adding one is a module with `write`, and a row here."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from registry.errors import ExportError, did_you_mean

if TYPE_CHECKING:
    from registry.export.exported import Exported

__all__ = ["FORMATS", "Format", "find_format", "format_of_path"]


class Format(Struct, frozen=True, kw_only=True):
    """A format that datasets are exported to."""

    name: str
    """Its name for `--format`."""
    suffix: str
    """End of a file's name; empty for a folder."""
    module: str
    """Module below this package, with a function `write`."""
    summary: str
    is_default: bool = True
    """Whether the suffix selects the format; otherwise only its name does."""
    is_folder: bool = False
    """Whether an export is a folder of several files."""
    is_served: bool = False
    """Whether `registry://` serves it."""
    carries_provenance: bool = False
    """Whether the file itself has the provenance; otherwise a file beside it has it."""
    package: str = ""
    """A package whose version determines the bytes."""

    @property
    def package_version(self) -> str:
        """Name and version of that package; empty if no package determines the bytes."""
        from importlib.metadata import version  # slow to import

        return f"{self.package} {version(self.package)}" if self.package else ""

    @property
    def write(self) -> Callable[[Exported, Any], None]:
        """The function that writes a dataset to an open binary file, or into an empty folder.

        A folder is given as a Path.
        """
        # Imported on demand: formats need pyarrow, and `--help` needs none of them.
        module = importlib.import_module(f"registry.export.{self.module}")
        write: Callable[[Exported, Any], None] = module.write
        return write


_ROWS = (
    Format(
        name="jsonl",
        suffix=".jsonl",
        module="writers.jsonl",
        summary="a JSON object per line, as Inspect AI's json_dataset reads it",
        is_served=True,
    ),
    Format(
        name="parquet",
        suffix=".parquet",
        module="writers.parquet",
        summary="Parquet with the columns of docs/interop.md",
        is_served=True,
        carries_provenance=True,
        package="pyarrow",
    ),
    Format(
        name="arrow",
        suffix=".arrow",
        module="writers.arrow",
        summary="an Arrow file with the same columns, which can be memory-mapped",
        is_served=True,
        carries_provenance=True,
        package="pyarrow",
    ),
    Format(
        name="csv",
        suffix=".csv",
        module="writers.csv",
        summary="the same columns as text, lists as JSON",
        is_served=True,
        package="pyarrow",
    ),
    Format(
        name="croissant",
        suffix="",
        module="writers.croissant",
        summary="a folder of a Parquet file and its description in Croissant 1.1",
        is_default=False,
        is_folder=True,
        carries_provenance=True,
    ),
    Format(
        name="openai-evals",
        suffix=".jsonl",
        module="writers.openai_evals",
        summary="the samples file of an eval of OpenAI's evals: `input`, `ideal`",
        is_default=False,
    ),
    Format(
        name="fine-tuning",
        suffix=".jsonl",
        module="writers.fine_tuning",
        summary="chat fine-tuning: `messages` that end with the target",
        is_default=False,
    ),
    Format(
        name="eval.yaml",
        suffix="eval.yaml",
        module="writers.eval_yaml",
        summary="the tasks file of a repository on the Hub, which Inspect AI runs",
    ),
    Format(
        name="lm-eval",
        suffix="",
        module="writers.lm_eval",
        summary="a folder with a task of lm-evaluation-harness and its data",
        is_default=False,
        is_folder=True,
        carries_provenance=True,
    ),
)
FORMATS = {row.name: row for row in _ROWS}
"""Name → format."""


def find_format(name: str) -> Format:
    """Return the format with a name.

    Raises:
        ExportError: there is none.
    """
    if name not in FORMATS:
        hint = did_you_mean(name, FORMATS) or f"formats: {', '.join(FORMATS)}"
        raise ExportError(f"no format '{name}' ({hint})")
    return FORMATS[name]


def format_of_path(path: str) -> Format:
    """Return the format that the end of a file's name selects.

    Raises:
        ExportError: none does.
    """
    rows = [row for row in FORMATS.values() if row.is_default]
    found = [row for row in rows if path.endswith(row.suffix)]
    if not found:
        suffixes = ", ".join(row.suffix for row in rows)
        raise ExportError(f"no format has the suffix of '{path}' (suffixes: {suffixes})")
    return max(found, key=lambda row: len(row.suffix))
