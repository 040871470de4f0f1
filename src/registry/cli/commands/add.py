"""`add`: write a manifest inferred from a source."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from registry.base.locations import is_local, local_path
from registry.base.names import name_fault
from registry.boundary.paths import allow_location
from registry.build.expectations import quality_warnings
from registry.catalog.catalog import Catalog, display_path
from registry.cli import CLEAN, options
from registry.cli.new_file import existing_file, write_new
from registry.cli.output import print_line, print_sample, print_warnings
from registry.errors import DecodeError, ManifestError, Problem
from registry.lint.fixes.schema_comment import schema_reference
from registry.load import SourceContext, inspect_source, load
from registry.manifest.resolve import spec_of_source
from registry.manifest.source_models import infer_source_keys
from registry.scaffold.infer import infer_fields, manifest_text
from registry.settings import builtin_root
from registry.yamldoc.reader import parse_yaml

__all__ = ["command"]


@click.command(
    "add",
    # \b keeps the line complete on a narrow terminal, so that it can be copied.
    epilog="\b\nExample: registry add my-qa --file data/questions.csv",
)
@click.argument("name")
@click.option("--hf", "path", metavar="PATH", help="A dataset repository on the Hub: owner/name.")
@click.option("--name", "config", metavar="C", help="Configuration of the repository.")
@click.option("--split", metavar="S", help="Split of the repository.")
@click.option("--revision", metavar="R", help="Branch, tag or commit; pinned to its commit.")
@click.option("--file", metavar="URL", help="A local file or a URL: csv, json, jsonl or parquet.")
@click.option("--dry-run", is_flag=True, help="Print the manifest and write nothing.")
@options.root
def command(
    name: str,
    path: str | None,
    config: str | None,
    split: str | None,
    revision: str | None,
    file: str | None,
    dry_run: bool,
    root: str | None,
) -> int:
    """Infer a mapping from a source, write the manifest and show two samples.

    The manifest is written to a folder that the index includes; no file is overwritten. Review it:
    the mapping is a starting point, with the reasons as comments.
    """
    catalog, cache, settings = options.open_catalog(root)
    source = _source(path, config, split, revision, file, catalog.index.parent)
    target = _target(catalog, name)
    # The source is the user's own word.
    boundary = catalog.boundary
    paths = spec_of_source(source, catalog.index.parent).paths()
    for location in paths:
        boundary = allow_location(boundary, location)
    context = SourceContext(boundary=boundary, cache=cache, offline=settings.offline)
    pinned, records = inspect_source(source, catalog.index.parent, context)
    if not records:
        raise DecodeError("the source has no records", file=str(source["path"]))
    if pinned.revision is not None:
        source = {**source, "revision": pinned.revision}
    schema = schema_reference("manifest", root=catalog.index.parent, folder=target.parent)
    mapping = infer_fields(name, records)
    text = manifest_text(name, source, mapping, samples=len(records), schema=schema)
    # Loaded before it is written, so that `add` never leaves a manifest that doesn't work.
    extended = catalog.with_manifest(parse_yaml(text, file=display_path(target)))
    spec = replace(extended, boundary=boundary)[name]
    opened = load(spec, cache, boundary=boundary, offline=settings.offline)
    warnings = quality_warnings(spec, opened.entry.meta)
    _warn_outside(paths, catalog)
    if dry_run:
        print(text, end="")
        print_warnings(name, warnings)
        return CLEAN
    write_new(target, text)
    print(f"wrote {display_path(target)}: review it, and add a description and a license\n")
    for number, sample in enumerate(opened.dataset[:2], 1):
        print_sample(sample, number)
    print_warnings(name, warnings)
    return CLEAN


def _warn_outside(paths: Sequence[str], catalog: Catalog) -> None:
    """Say that a file can't be read by the new manifest yet, because only the call allowed it."""
    for path in paths:
        refused = catalog.boundary.refusal(local_path(path)) if is_local(path) else None
        if refused is not None:
            print_line(f"warning: {path} {refused[0]} without --file ({refused[1]})", err=True)


def _target(catalog: Catalog, name: str) -> Path:
    """Return the file to write: one that an `include` of the index matches."""
    if hint := name_fault(name):
        raise click.UsageError(f"'{name}' is not a valid dataset name ({hint})")
    if name in catalog.entries:
        where = catalog.entries[name].document.file
        raise _refusal(f"the catalog already has a dataset '{name}', in {where}")
    if catalog.index == builtin_root() and catalog.index.parent != Path.cwd():
        hint = "create a datasets.yaml with `version: 1` and `include: [registry/*.yaml]`"
        raise _refusal(f"the built-in catalog is read-only ({hint})")
    target = catalog.file_for(name)
    if target is None:
        index = display_path(catalog.index)
        raise _refusal(f"{index} includes no folder to write to (add `include: [registry/*.yaml]`)")
    if os.path.lexists(target):
        raise existing_file(target)
    return target


def _refusal(message: str) -> ManifestError:
    return ManifestError([Problem(message=message, path="")])


def _source(
    path: str | None,
    config: str | None,
    split: str | None,
    revision: str | None,
    file: str | None,
    folder: Path,
) -> Mapping[str, Any]:
    if (path is None) == (file is None):
        raise click.UsageError("pass either --hf PATH --split S, or --file URL")
    if file is not None:
        if config or split or revision:
            raise click.UsageError("--name, --split and --revision go with --hf")
        inferred = infer_source_keys(file)
        if inferred is None:
            hint = "its name must end in .csv, .tsv, .json, .jsonl or .parquet"
            raise click.UsageError(f"can't infer the type of {file} ({hint})")
        if "://" not in file:  # paths in a manifest are relative to the index
            local = Path(file).absolute()
            inside = local.is_relative_to(folder)
            file = local.relative_to(folder).as_posix() if inside else str(local)
        return {"type": inferred.pop("type"), "path": file, **inferred}
    if split is None:
        raise click.UsageError("--hf needs --split, such as test")
    given = {"path": path, "name": config, "split": split, "revision": revision}
    return {"type": "hf", **{key: value for key, value in given.items() if value is not None}}
