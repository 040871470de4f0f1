"""What `add` is asked for: a source, by options that go together, and where its manifest goes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from glob import has_magic
from pathlib import Path
from typing import Any

import click
from msgspec import structs

from registry.base.local_files import display_path, name_fault
from registry.base.locations import Location
from registry.boundary.paths import allow_location
from registry.catalog.catalog import Catalog
from registry.catalog.discovery import boundary_of
from registry.cli.output import existing_file, print_line, write_new
from registry.cli.progress_bars import bars
from registry.errors import ManifestError, Problem, SourceError
from registry.manifest.resolve import spec_of_source
from registry.manifest.source_models import infer_source_keys
from registry.scaffold.columns import option_text
from registry.scaffold.starter import INDEX, schema_files
from registry.settings import INDEX_NAME, Settings, builtin_root
from registry.sources.filesystem import similar_file
from registry.sources.pins import SourceContext

__all__ = [
    "Destination",
    "SourceOptions",
    "allowing",
    "check_options",
    "destination_of",
    "file_keys",
    "shown_progress",
    "write_manifest",
]

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


@dataclass(frozen=True)
class Destination:
    """The catalog of a new manifest, which need not exist yet."""

    catalog: Catalog
    target: Path
    """The manifest's file."""
    missing: Mapping[Path, str] = field(default_factory=dict)
    """Texts of the index and of schemas that are not there yet."""

    @property
    def schema(self) -> str:
        """The schema for editors, as the manifest refers to it."""
        path = self.catalog.index.parent / "schemas" / "manifest.schema.json"
        return Path(os.path.relpath(path, self.target.parent)).as_posix()


def destination_of(settings: Settings, name: str) -> Destination:
    """Return where the manifest of a new dataset is written.

    Raises:
        click.UsageError: the name is invalid.
        ManifestError: the dataset or the file exists, or the index includes no folder to write to.
    """
    if hint := name_fault(name):
        raise click.UsageError(f"'{name}' is not a valid dataset name ({hint})")
    index = settings.index
    if index == builtin_root() and index.parent != Path.cwd():
        index = Path.cwd() / INDEX_NAME
    schemas = schema_files(index.parent)
    if os.path.lexists(index) or not index.parent.is_dir():
        catalog = Catalog.open(index)
        target = _target(catalog, name)
        schema = index.parent / "schemas" / "manifest.schema.json"
        missing = {schema: schemas[schema]}
    else:
        boundary = boundary_of({}, [index], settings.allow_paths)
        catalog = Catalog(index, boundary=boundary, indexes=(index,))
        target = index.parent / "registry" / f"{name}.yaml"
        # The index last: as long as it is missing, the rest is no catalog that lacks something.
        missing = {**schemas, index: INDEX}
    if os.path.lexists(target):
        raise existing_file(target)
    return Destination(
        catalog, target, {path: text for path, text in missing.items() if not os.path.lexists(path)}
    )


def write_manifest(destination: Destination, text: str) -> None:
    """Write the manifest and what is missing; print the names of the files."""
    write_new(destination.target, text)
    print_line(f"wrote {display_path(destination.target)}: review it")
    for path, content in destination.missing.items():
        write_new(path, content)
        print_line(f"wrote {display_path(path)}")


def _target(catalog: Catalog, name: str) -> Path:
    """Return the file to write: one that an `include` of the index matches."""
    if name in catalog.entries:
        where = catalog.entries[name].document.file
        hint = "edit that file, or choose another name"
        raise _refusal(f"the catalog already has a dataset '{name}', in {where} ({hint})")
    target = catalog.file_for(name)
    if target is None:
        index = display_path(catalog.index)
        raise _refusal(f"{index} includes no folder to write to (add `include: [registry/*.yaml]`)")
    return target


def _refusal(message: str) -> ManifestError:
    return ManifestError([Problem(message=message, path="")])
