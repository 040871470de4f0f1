"""Catalogs of Intake."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.errors import ManifestError
from registry.plugins.importers.intake import read
from registry.plugins.importers.models import ImportOptions
from tests.plugins.importers.support import specs_of, write

CATALOG = """\
metadata: {version: 1}
sources:
  states:
    description: |
      US states
      of 2016
    driver: csv
    args:
      urlpath: '{{ CATALOG_DIR }}/states_*.csv'
      csv_kwargs: {sep: ';', header: 0}
      storage_options: {anon: true}
  plain: {driver: parquet, args: {urlpath: [a.parquet, b.parquet]}}
"""


def test_sources(tmp_path: Path) -> None:
    file = write(tmp_path, "catalog.yml", CATALOG)
    states, plain = read(file, ImportOptions()).datasets
    specs_of(states, plain)
    assert states.keys == {
        "description": "US states of 2016",
        "source": {"type": "csv", "path": f"{tmp_path}/states_*.csv", "delimiter": ";"},
    }
    left = [one.what for one in states.left_out]
    assert left == ["fields", "csv_kwargs.header", "args.storage_options"]
    assert plain.keys["source"] == {"type": "parquet", "path": ["a.parquet", "b.parquet"]}


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("{driver: zarr, args: {urlpath: x}}", "no source reads the driver zarr"),
        ("{driver: csv, args: {}}", "no `args.urlpath`"),
        ("{driver: csv, args: {urlpath: ''}}", "is not a path"),
        ("{driver: csv, args: {urlpath: '{{ env(HOME) }}/x.csv'}}", "has variables"),
        ("{driver: csv, args: {urlpath: '${HOME}/x.csv'}}", "has variables"),
        ("{driver: csv, args: {urlpath: x}, parameters: {a: {type: str}}}", "depend on parameters"),
        ("1", "not a mapping"),
    ],
)
def test_sources_that_no_source_reads(tmp_path: Path, source: str, why: str) -> None:
    file = write(tmp_path, "catalog.yml", f"sources: {{a: {source}}}")
    (refused,) = read(file, ImportOptions()).refused
    assert why in refused.why


@pytest.mark.parametrize("text", ["a: 1", "sources: [1]", "1"])
def test_no_catalog(tmp_path: Path, text: str) -> None:
    with pytest.raises(ManifestError, match="not a catalog of Intake"):
        read(write(tmp_path, "catalog.yml", text), ImportOptions())
