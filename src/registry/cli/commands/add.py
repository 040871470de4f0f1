"""`add`: write the manifest of a dataset after a look at its source."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from registry.catalog.catalog import Catalog, shown
from registry.cli import CLEAN, options
from registry.cli.output import print_sample
from registry.errors import DecodeError, ManifestError, Problem
from registry.lint.fixes.schema_comment import schema_reference
from registry.load import SourceContext, inspect_source, load
from registry.manifest.source_models import infer_source_keys
from registry.scaffold.infer import manifest_text, propose
from registry.settings import builtin_root
from registry.yamldoc.reader import parse_yaml

__all__ = ["command"]

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")


@click.command(
    "add",
    epilog="Example: python -m registry add my-qa --file data/questions.csv",
)
@click.argument("name")
@click.option("--hf", "path", metavar="PATH", help="A repository of the Hub: owner/name.")
@click.option("--name", "config", metavar="C", help="Configuration of the repository.")
@click.option("--split", metavar="S", help="Split of the repository.")
@click.option("--revision", metavar="R", help="Branch, tag or commit; it is pinned.")
@click.option("--file", metavar="URL", help="A file: csv, json, jsonl or parquet.")
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
    """Look at a source, propose a mapping, write the manifest and show two samples.

    The manifest goes beside the others of the catalog; nothing is ever overwritten. Read it: the
    proposal is a start, with its reasons as comments.
    """
    catalog, cache, settings = options.open_catalog(root)
    source = _source(path, config, split, revision, file, catalog.index.parent)
    target = _target(catalog, name)
    context = SourceContext(cache=cache, offline=settings.offline)
    pinned, records = inspect_source(source, catalog.index.parent, context)
    if not records:
        raise DecodeError("the source has no records to look at", file=str(source["path"]))
    if pinned.revision is not None:
        source = {**source, "revision": pinned.revision}
    schema = schema_reference("manifest", root=catalog.index.parent, folder=target.parent)
    proposal = propose(name, records)
    text = manifest_text(name, source, proposal, samples=len(records), schema=schema)
    # Loaded before it is written, so that a file that appears is one that works.
    whole = catalog.with_manifest(parse_yaml(text, file=shown(target)))
    dataset = load(whole[name], cache, offline=settings.offline).dataset
    if dry_run:
        print(text, end="")
        return CLEAN
    _write(target, text)
    print(f"wrote {shown(target)}: read it, and give it a description\n")
    for number, sample in enumerate(dataset[:2], 1):
        print_sample(sample, number)
    return CLEAN


def _write(target: Path, text: str) -> None:
    """Write a new file; one that is there already, a link too, stays as it is."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with target.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError as error:
        raise _taken(target) from error


def _target(catalog: Catalog, name: str) -> Path:
    """Return the file to write: where an `include` of the index finds it."""
    if not _NAME.fullmatch(name):
        hint = "use lower-case letters, digits, '.', '-' and '_'"
        raise click.UsageError(f"'{name}' is no name for a dataset ({hint})")
    if name in catalog.entries:
        where = catalog.entries[name].document.file
        raise _refusal(f"the catalog has a dataset '{name}' already, in {where}")
    if catalog.index == builtin_root() and catalog.index.parent != Path.cwd():
        hint = "make a datasets.yaml of your own, with `include: [registry/*.yaml]`"
        raise _refusal(f"the built-in catalog is not written to ({hint})")
    target = catalog.place_for(name)
    if target is None:
        index = shown(catalog.index)
        raise _refusal(f"{index} includes no folder of yours to write to (registry/*.yaml)")
    if os.path.lexists(target):
        raise _taken(target)
    return target


def _taken(target: Path) -> ManifestError:
    return _refusal(f"{shown(target)} is there already; nothing is overwritten")


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
        raise click.UsageError("give either --hf PATH --split S, or --file URL")
    if file is not None:
        if config or split or revision:
            raise click.UsageError("--name, --split and --revision go with --hf")
        inferred = infer_source_keys(file)
        if inferred is None:
            raise click.UsageError(f"can't tell the type of {file}: csv, json, jsonl or parquet")
        return {"type": inferred.pop("type"), "path": _relative(file, folder), **inferred}
    if split is None:
        raise click.UsageError("--hf needs --split, such as test")
    given = {"path": path, "name": config, "split": split, "revision": revision}
    return {"type": "hf", **{key: value for key, value in given.items() if value is not None}}


def _relative(file: str, folder: Path) -> str:
    """Return a local path relative to the index, as a manifest writes it."""
    if "://" in file:
        return file
    path = Path(file).absolute()
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
