"""The table of formats: adding one is a function that writes it, and a row here."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from registry.api import ExportError, ExtensionError, extension, extensions, near_or_known

if TYPE_CHECKING:
    from registry.plugins.export.exported import Exported

__all__ = ["FORMATS", "Format", "all_formats", "find_format", "format_of_path"]


class Format(Struct, frozen=True, kw_only=True):
    """A format that datasets are exported to."""

    name: str
    """Its name for `--format`."""
    suffix: str
    """End of a file's name; empty for a folder."""
    writer: str
    """The function that writes it, as `package.module:function`."""
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
        module, _, function = self.writer.partition(":")
        write: Callable[[Exported, Any], None] = getattr(import_module(module), function)
        return write


_ROWS = (
    Format(
        name="jsonl",
        suffix=".jsonl",
        writer="registry.plugins.export.tables:write_jsonl",
        summary="a JSON object per line, as Inspect AI's json_dataset reads it",
        is_served=True,
    ),
    Format(
        name="parquet",
        suffix=".parquet",
        writer="registry.plugins.export.tables:write_parquet",
        summary="Parquet with the columns of docs/reference/interop.md",
        is_served=True,
        carries_provenance=True,
        package="pyarrow",
    ),
    Format(
        name="arrow",
        suffix=".arrow",
        writer="registry.plugins.export.tables:write_arrow",
        summary="an Arrow file with the same columns, which can be memory-mapped",
        is_served=True,
        carries_provenance=True,
        package="pyarrow",
    ),
    Format(
        name="csv",
        suffix=".csv",
        writer="registry.plugins.export.tables:write_csv",
        summary="the same columns as text, lists as JSON",
        is_served=True,
        package="pyarrow",
    ),
    Format(
        name="croissant",
        suffix="",
        writer="registry.plugins.export.croissant:write",
        summary="a folder of a Parquet file and its description in Croissant 1.1",
        is_default=False,
        is_folder=True,
        carries_provenance=True,
    ),
    Format(
        name="openai-evals",
        suffix=".jsonl",
        writer="registry.plugins.export.chat:write_evals",
        summary="the samples file of an eval of OpenAI's evals: `input`, `ideal`",
        is_default=False,
    ),
    Format(
        name="fine-tuning",
        suffix=".jsonl",
        writer="registry.plugins.export.chat:write_fine_tuning",
        summary="chat fine-tuning: `messages` that end with the target",
        is_default=False,
    ),
    Format(
        name="eval.yaml",
        suffix="eval.yaml",
        writer="registry.plugins.export.eval_yaml:write",
        summary="the tasks file of a repository on the Hub, which Inspect AI runs",
    ),
    Format(
        name="lm-eval",
        suffix="",
        writer="registry.plugins.export.lm_eval:write",
        summary="a folder with a task of lm-evaluation-harness and its data",
        is_default=False,
        is_folder=True,
        carries_provenance=True,
    ),
)
FORMATS = {row.name: row for row in _ROWS}
"""Name → format, of this package alone."""


def all_formats() -> dict[str, Format]:
    """Return the formats of this package and of others, by name.

    A plugin that can't be imported is left out with a warning.
    """
    formats = dict(FORMATS)
    for name in extensions("exporters"):
        try:
            formats.setdefault(name, _checked(name, extension("exporters", name)))
        except ExtensionError as error:
            warnings.warn(str(error), stacklevel=2)
    return formats


def _checked(name: str, found: Any) -> Format:
    if not isinstance(found, Format):
        raise ExtensionError(
            f"the plugin '{name}' is no {Format.__module__}.Format, but {type(found).__name__}"
        )
    return found


def find_format(name: str) -> Format:
    """Return the format with a name.

    Raises:
        ExportError: there is none.
        ExtensionError: another package has it, and it can't be imported.
    """
    if name in FORMATS:
        return FORMATS[name]
    if (found := extension("exporters", name)) is not None:
        return _checked(name, found)
    names = [*FORMATS, *extensions("exporters")]
    hint = near_or_known(name, names, "formats")
    raise ExportError(f"no format '{name}' ({hint})")


def format_of_path(path: str) -> Format:
    """Return the format that the end of a file's name selects.

    Raises:
        ExportError: none does.
    """
    if found := _selected(FORMATS, path) or _selected(all_formats(), path):
        return found
    suffixes = ", ".join(row.suffix for row in all_formats().values() if row.is_default)
    raise ExportError(f"no format has the suffix of '{path}' (suffixes: {suffixes})")


def _selected(formats: Mapping[str, Format], path: str) -> Format | None:
    rows = [row for row in formats.values() if row.is_default and path.endswith(row.suffix)]
    return max(rows, key=lambda row: len(row.suffix), default=None)
