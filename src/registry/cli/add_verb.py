"""`add`: write the manifest of a dataset after a look at its source."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from registry.catalog import Catalog, shown
from registry.cli import CLEAN, options
from registry.cli.render import print_sample
from registry.errors import ManifestError, Problem
from registry.load import Access, load, look_at
from registry.propose import manifest_text, propose
from registry.resolve import source_type

__all__ = ["command"]


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
    target = _target(catalog, name)
    source = _source(path, config, split, revision, file, catalog.index.parent)
    access = Access(cache=cache, offline=settings.offline)
    pinned, records = look_at(source, catalog.index.parent, access)
    if pinned.revision is not None:
        source = {**source, "revision": pinned.revision}
    schema = os.path.relpath(catalog.index.parent / "schemas/manifest.schema.json", target.parent)
    text = manifest_text(
        name, source, propose(name, records), samples=len(records), schema=Path(schema).as_posix()
    )
    if dry_run:
        print(text, end="")
        return CLEAN
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("x", encoding="utf-8") as opened:
        opened.write(text)
    print(f"wrote {shown(target)}: read it, and give it a description\n")
    spec = Catalog.open(catalog.index)[name]
    dataset = load(spec, cache, offline=settings.offline).dataset
    for number, sample in enumerate(dataset[:2], 1):
        print_sample(sample, number)
    return CLEAN


def _target(catalog: Catalog, name: str) -> Path:
    """Return the file to write: where an `include` of the index finds it."""
    if name in catalog.entries:
        where = catalog.entries[name].document.file
        raise _refusal(f"the catalog has a dataset '{name}' already, in {where}")
    folder = catalog.manifest_folder()
    if folder is None:
        index = shown(catalog.index)
        raise _refusal(f"{index} includes no folder of yours to write to (registry/*.yaml)")
    target = folder / f"{name}.yaml"
    if target.exists():
        raise _refusal(f"{shown(target)} is there already; nothing is overwritten")
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
        raise click.UsageError("give either --hf PATH --split S, or --file URL")
    if file is not None:
        kind = source_type(file)
        if kind is None:
            raise click.UsageError(f"can't tell the type of {file}: csv, json, jsonl or parquet")
        return {"type": kind, "path": _relative(file, folder)}
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
