"""Which files a bundle of datasets has: what is written, and so all that is accepted."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from registry.api import Location, location_in, named_files_of

if TYPE_CHECKING:
    from registry import Catalog
    from registry.api import ArrowDataset, DatasetSpec, Pin

__all__ = ["files_of", "group_files", "listed_files", "needs_of"]


def listed_files(catalog: Catalog) -> Iterator[Path]:
    """Yield the manifests that the index lists by name: without them it would be invalid."""
    for pattern in catalog.index_document().value.get("include", []):
        if not glob.has_magic(pattern) and not Location(pattern).is_package:
            yield Path(os.path.abspath(catalog.index.parent / pattern))


def group_files(catalog: Catalog, names: Collection[str]) -> Iterator[Path]:
    """Yield the manifests of the groups of which all datasets are among `names`."""
    for group in catalog.valid_groups():
        entry = catalog.groups[group.name]
        if entry.folder == catalog.index.parent and set(group.datasets) <= set(names):
            yield Path(os.path.abspath(entry.document.file))


def needs_of(spec: DatasetSpec, pin: Pin) -> Iterator[str]:
    """Yield what a dataset needs of packages, which are in no bundle."""
    if spec.mapper is not None:
        yield f"{spec.mapper} (the mapper of {spec.name})"
    for source in pin.sources:
        location = Location(source.location).file
        if source.revision is None and location.is_package:
            yield f"{location} (a file of {spec.name})"


def files_of(
    spec: DatasetSpec,
    catalog: Catalog,
    pin: Pin,
    dataset: ArrowDataset,
    *,
    columns: Collection[str],
) -> Iterator[Path]:
    """Yield the files that a dataset needs: manifests, local sources, and what samples name."""
    for entry in catalog.lineage(spec.name):
        yield Path(os.path.abspath(entry.document.file))
    for source in pin.sources:
        location = Location(source.location).file
        if source.revision is None and location.is_local and not location.is_package:
            yield Path(location_in(spec.folder, source.location).local_path())
    named = named_files_of(spec, dataset, columns, catalog.boundary)
    if named is not None:
        yield from map(Path, (*named.files, *named.sandbox))
