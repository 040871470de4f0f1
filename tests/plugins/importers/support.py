"""Shared by tests of importers: records mapped by an imported dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from registry.boundary.boundary import UNBOUNDED
from registry.catalog.catalog import Catalog
from registry.manifest.models import DatasetSpec
from registry.mapping.field_mapper import FieldMapper
from registry.mapping.row import Row
from registry.plugins.importers.models import Imported, ImportedDataset, imported_text
from registry.plugins.importers.tolerant_yaml import read_foreign_yaml
from registry.samples.sample import Sample
from registry.settings import builtin_root
from registry.yamldoc.reader import parse_yaml

__all__ = ["only", "samples_of", "specs_of", "write"]


def write(folder: Path, name: str, text: str) -> Path:
    """Write a file to import, as if no other of its path had been read."""
    read_foreign_yaml.cache_clear()
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def only(imported: Imported) -> ImportedDataset:
    """Return the single dataset of a file."""
    assert imported.refused == ()
    (dataset,) = imported.datasets
    return dataset


def specs_of(*datasets: ImportedDataset) -> dict[str, DatasetSpec]:
    """Return the resolved specs of datasets, read back from the text of their manifest."""
    text = imported_text(datasets, schema="x")
    catalog = Catalog(builtin_root(), boundary=UNBOUNDED).with_manifest(
        parse_yaml(text, file="m.yaml")
    )
    return {one.name: catalog[one.name] for one in datasets}


def samples_of(dataset: ImportedDataset, records: list[dict[str, Any]]) -> list[Sample]:
    """Return the samples of records."""
    mapper = FieldMapper(specs_of(dataset)[dataset.name].fields)
    return [mapper.map(Row(record, number)) for number, record in enumerate(records, 1)]
