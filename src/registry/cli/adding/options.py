"""The options of `add`, and the refusal of those that do not go together."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from glob import has_magic
from pathlib import Path
from typing import Any

import click
from msgspec import structs

from registry.base.locations import Location
from registry.boundary.paths import allow_location
from registry.cli.progress_bars import bars
from registry.errors import SourceError
from registry.manifest.resolve import spec_of_source
from registry.manifest.source_models import infer_source_keys
from registry.scaffold.guess import option_text
from registry.sources.filesystem import similar_file
from registry.sources.pins import SourceContext

__all__ = ["SourceOptions", "allowing", "check_options", "file_keys", "shown_progress"]

_PAGE = re.compile(r"https://(?:www\.)?huggingface\.co/datasets/([\w.-]+/[\w.-]+?)/?")
_BLOB = re.compile(r"https://github\.com/([^/]+/[^/]+)/blob/(.+)")

_OF_TYPES = {
    **dict.fromkeys(("delimiter", "skip_rows", "columns", "header"), ("csv",)),
    "encoding": ("csv", "json"),
    "records": ("json",),
}
"""Option of how a file is read → the types of files that have it."""
_SHEETS = {".xlsx", ".xls", ".xlsm", ".ods", ".numbers"}


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """What the user says about the source; None where it is to be found out."""

    hf: str | None = None
    name: str | None = None
    split: str | None = None
    revision: str | None = None
    file: str | None = None
    type: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    skip_rows: int | None = None
    columns: str | None = None
    """Names of columns, separated by commas, of a file without a header."""
    header: bool | None = None
    records: str | None = None
    join: str | None = None
    """A second file, with a row for each record."""


def check_options(name: str, options: SourceOptions) -> None:
    """Raise a usage error for options that do not go together, or a source in place of the name."""
    if options.hf is None and options.file is None:
        is_file = "://" in name or os.path.lexists(os.path.expanduser(name))
        if is_file or name.count("/") == 1:
            option = "--file" if is_file else "--hf"
            raise click.UsageError(
                f"name the dataset: registry add NAME {option_text(option, name)}"
            )
        raise click.UsageError("name the source: --file data.csv (or a URL), or --hf owner/name")
    if options.hf is not None and options.file is not None:
        raise click.UsageError("pass either --hf PATH or --file URL")
    for file in (options.file, options.join):
        if file is not None:
            Location(file).check()
    if options.file is not None and (options.name or options.split or options.revision):
        raise click.UsageError("--name, --split and --revision go with --hf")
    if options.hf is not None:
        of_files = ("type", *_OF_TYPES, "join")
        given = [name for name in of_files if getattr(options, name) is not None]
        if given:
            raise click.UsageError(f"--{given[0].replace('_', '-')} goes with --file")
    if options.columns is not None and options.header:
        raise click.UsageError("--columns names the columns of a file without a header")


def file_keys(options: SourceOptions, folder: Path) -> dict[str, Any]:
    """Return `type` and `path` of the file, relative to the catalog's folder if it is in it."""
    file = str(options.file)
    if found := _PAGE.fullmatch(file):
        raise click.UsageError(f"{file} is a page of the Hub: pass --hf {found[1]}")
    if found := _BLOB.fullmatch(file):
        raw = f"https://raw.githubusercontent.com/{found[1]}/{found[2]}"
        raise click.UsageError(
            f"{file} is a page about the file: pass {option_text('--file', raw)}"
        )
    inferred = infer_source_keys(file) or {}
    kind = options.type or inferred.get("type")
    if kind is None:
        if "://" not in file:
            _check_exists(file)  # a suffix that is misspelt
        if Path(file).suffix.casefold() in _SHEETS:
            raise click.UsageError(
                f"{file} is a spreadsheet: export the sheet as CSV, and add that"
            )
        hint = "its name must end in .csv, .tsv, .json, .jsonl or .parquet, or --type says it"
        raise click.UsageError(f"can't infer the type of {Location(file).public} ({hint})")
    _check_type(options, str(kind))
    path = str(Location(file).with_file(partial(_relative, folder=folder)))
    return {"type": kind, "path": str(path)}


def _relative(file: str, folder: Path) -> str:
    """Return a path as a manifest has it: relative to the index, if it is below it."""
    if "://" in file:
        return file
    _check_exists(file)
    local = Path(os.path.abspath(os.path.expanduser(file)))
    return local.relative_to(folder).as_posix() if local.is_relative_to(folder) else str(local)


def _check_exists(file: str) -> None:
    """Raise a SourceError with similar names if there is no such file; a glob may match none."""
    path = os.path.expanduser(file)
    if os.path.lexists(path) or has_magic(path) or ":" in path or "{" in path:
        return
    near = similar_file(path)
    hint = f" (did you mean {near}?)" if near else ""
    raise SourceError(f"{file}: no such file{hint}")


def _check_type(options: SourceOptions, kind: str) -> None:
    """Raise a usage error for an option that sources of this type lack."""
    for name, kinds in _OF_TYPES.items():
        if getattr(options, name) is not None and kind not in kinds:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} is for {' and '.join(kinds)}, and the file is {kind}")


def allowing(context: SourceContext, keys: Mapping[str, Any], folder: Path) -> SourceContext:
    """Return the context with the locations of a source, which are the user's own word."""
    boundary = context.boundary
    for location in spec_of_source(keys, folder).paths():
        boundary = allow_location(boundary, location)
    return structs.replace(context, boundary=boundary)


@contextmanager
def shown_progress(context: SourceContext, samples: int = 0) -> Iterator[SourceContext]:
    """Yield a context whose progress is shown until the block ends.

    Args:
        context: The context; its dataset names the bar.
        samples: How many samples will be mapped, if that is known.
    """
    name = context.dataset
    with bars(as_json=False, samples={name: samples} if samples else None) as report:
        yield structs.replace(context, report=partial(report, name))
