"""A catalog with one dataset, and one whose dataset has many files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.base.materials import SamplesId
from registry.cache.cache import Cache
from registry.catalog.catalog import Catalog
from registry.load.call import OpenCatalog
from registry.load.load import find_samples_id
from registry.settings import Settings
from registry.workflows.engines import Engine, engine_of
from registry.workflows.sync import SyncResult, sync
from tests.conftest import CatalogRoot

MANY = (
    "{source: {type: json, path: '../../p*.jsonl'}, fields: {input: q, target: a, metadata: [n]}}"
)
BAD = "{source: {type: json, path: '../../none*.jsonl'}, fields: {input: q, target: a}}"
MakeCatalog = Callable[..., Catalog]
QA = "datasets:\n  qa: {source: {type: csv, path: qa.csv}, fields: {input: q, target: a}}\n"
RECORDS = "q,a\nOne?,1\nTwo?,2\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a catalog with one dataset, `qa`."""
    folder = tmp_path / "catalog"
    (folder / "m").mkdir(parents=True)
    (folder / "datasets.yaml").write_text("version: 1\ninclude: [m/*.yaml]\n")
    (folder / "m" / "qa.yaml").write_text(QA)
    (folder / "qa.csv").write_text(RECORDS)
    return folder


@pytest.fixture
def make_catalog(catalog_root: CatalogRoot, tmp_path: Path) -> MakeCatalog:
    """Return a catalog of `many`, of some files, and other datasets."""

    def make(files: int = 5, records: int = 20, **others: str) -> Catalog:
        for number in range(files):
            with (tmp_path / f"p{number:04}.jsonl").open("w", encoding="utf-8") as file:
                for n in range(records):
                    record = {"q": f"question {n} of file {number}?", "a": "x", "n": n}
                    file.write(json.dumps(record) + "\n")
        many = MANY.replace("../..", str(tmp_path))
        values = {"many": many, **others}
        lines = [f"  {name}: {value}" for name, value in values.items()]
        return Catalog.open(catalog_root({"all": "\n".join(["datasets:", *lines]) + "\n"}))

    return make


def run(
    catalog: Catalog, folder: Path, engine: Engine | str, **options: Any
) -> dict[str, SyncResult]:
    """Return the result of each dataset."""
    chosen = engine_of(engine) if isinstance(engine, str) else engine
    offline = options.pop("offline", None)
    keywords = {"jobs": 2, "processes": 2, "report": lambda name, progress: None, **options}
    settings = Settings.from_environment(root=catalog.index, offline=offline)
    opened = OpenCatalog(catalog, Cache(folder), settings)
    results = sync(list(catalog), opened, engine=chosen, **keywords)
    return {result.name: result for result in results}


def digest_in(catalog: Catalog, folder: Path, name: str = "many") -> SamplesId:
    """Return the digest of the samples that are in a cache."""
    found = find_samples_id(catalog[name], Cache(folder), boundary=catalog.boundary)
    assert found is not None
    return found
