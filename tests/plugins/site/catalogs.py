"""A catalog whose pages are looked at."""

from __future__ import annotations

from pathlib import Path

from registry.load.call import OpenCatalog
from registry.plugins.site.catalog_view import CatalogView
from registry.settings import Settings

__all__ = ["MANIFEST", "open_view", "write_catalog"]

INDEX = """
version: 1
defaults:
  license: mit
include: [sets/*.yaml]
"""
MANIFEST = """
datasets:
  qa:
    description: Questions.
    homepage: https://example.org
    tags: [one, two]
    source: {type: csv, path: data/qa.csv}
    fields: {input: question, target: answer, metadata: {topic: subject}}
  qa-small:
    extends: qa
    homepage: https://example.com
    shuffle: true
    seed: 7
    limit: 2
    eval: {scorer: [{name: includes}]}
"""
ROWS = "question,answer,subject\nq1,a1,x\nq2,,y\nq3,a3,y\n"


def write_catalog(root: Path) -> None:
    """Write the catalog to a folder."""
    for folder in ("sets", "data"):
        (root / folder).mkdir()
    (root / "datasets.yaml").write_text(INDEX, "utf-8")
    (root / "sets" / "qa.yaml").write_text(MANIFEST, "utf-8")
    (root / "data" / "qa.csv").write_text(ROWS, "utf-8")


def open_view(root: Path, locked: bool = False) -> CatalogView:
    """Return the view of a catalog."""
    opened = OpenCatalog.of(Settings.from_environment(root=root, locked=locked))
    return CatalogView(opened, tuple(opened.catalog), most=2)
