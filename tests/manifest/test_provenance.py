"""Where values come from: every layer, with file and line."""

from __future__ import annotations

import pytest

from registry.catalog.catalog import Catalog
from registry.manifest.provenance import Origin, origins_of
from tests.conftest import CatalogRoot

MANIFEST = """\
datasets:
  base:
    source:
      type: csv
      path: a.csv
      encoding: latin-1
    fields:
      input: q
      metadata: {topic: t, level: l}
    shuffle: true
    seed: 3
    limit: 9
    expect: {samples: 4}
  child:
    extends: base
    source: {path: b.csv}
    fields:
      metadata: {topic: u}
    limit: null
    shuffle: false
  parts:
    extends: base
    concat: [{path: c.csv}, {encoding: null}]
    explode: items
"""
DEFAULTS = """\
version: 1
include: [registry/*.yaml]
defaults:
  on_duplicate: drop
  source:
    csv:
      delimiter: ";"
"""


@pytest.fixture
def catalog(catalog_root: CatalogRoot, monkeypatch: pytest.MonkeyPatch) -> Catalog:
    root = catalog_root({"m": MANIFEST})
    (root / "datasets.yaml").write_text(DEFAULTS, encoding="utf-8")
    monkeypatch.chdir(root)
    return Catalog.open(root)


def origins(catalog: Catalog, name: str) -> dict[str, Origin]:
    found = origins_of(catalog[name], catalog.entries)
    assert len(found) == len({one.key for one in found})
    return {one.key: one for one in found}


OF_CHILD = {
    "source.type": ("csv", "parent", "registry/m.yaml:4", "base"),
    "source.encoding": ("latin-1", "parent", "registry/m.yaml:6", "base"),
    "fields.input": ("q", "parent", "registry/m.yaml:8", "base"),
    "fields.metadata.level": ("l", "parent", "registry/m.yaml:9", "base"),
    "fields.metadata.topic": ("u", "own", "registry/m.yaml:18", "child"),
    "limit": (None, "own", "registry/m.yaml:19", "child"),
    "shuffle": (False, "own", "registry/m.yaml:20", "child"),
    "seed": (None, "default", "built in", ""),
    "expect.samples": (4, "parent", "registry/m.yaml:13", "base"),
    "expect.unique_ids": (False, "default", "built in", ""),
    "on_duplicate": ("drop", "default", "datasets.yaml:4", ""),
    "source.delimiter": (";", "default", "datasets.yaml:7", ""),
    "fields.target": ("target", "default", "built in", ""),
    "source.skip_rows": (0, "default", "built in", ""),
}


@pytest.mark.parametrize("key", OF_CHILD)
def test_value_reports_its_layer_and_position(catalog: Catalog, key: str) -> None:
    one = origins(catalog, "child")[key]
    assert (one.value, one.layer, one.place, one.dataset) == OF_CHILD[key]


def test_path_is_reported_after_resolution(catalog: Catalog) -> None:
    one = origins(catalog, "child")["source.path"]
    assert one.value == str(catalog.index.parent / "b.csv")
    assert one.place == "registry/m.yaml:16"


def test_parts_report_only_their_own_keys(catalog: Catalog) -> None:
    found = origins(catalog, "parts")
    assert [key for key in found if key.startswith("concat")] == [
        "concat[0].path",
        "concat[1].encoding",
    ]
    assert found["concat[1].encoding"].value == "utf-8"
    assert found["concat[0].path"].place == "registry/m.yaml:23"


def test_short_form_of_explode_has_the_position_in_the_file(catalog: Catalog) -> None:
    one = origins(catalog, "parts")["explode.column"]
    assert (one.value, one.place) == ("items", "registry/m.yaml:24")
