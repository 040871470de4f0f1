"""Where a new manifest is written, and the index and schemas that it needs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import click

from registry.base.names import display_path, name_fault
from registry.catalog.catalog import Catalog
from registry.catalog.discovery import boundary_of
from registry.cli.output import existing_file, print_line, write_new
from registry.errors import ManifestError, Problem
from registry.scaffold.starter import INDEX, schema_files
from registry.settings import INDEX_NAME, Settings, builtin_root

__all__ = ["Destination", "destination_of", "write_manifest"]


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
