"""A catalog that tests edit."""

from __future__ import annotations

from pathlib import Path

__all__ = ["MANIFEST", "write_catalog"]

MANIFEST = """\
datasets:
  planets:
    description: Questions about planets.
    license: mit
    tags: [space]
    source: {type: csv, path: planets.csv}
    fields: {input: question, target: answer}
    auto_id: true
"""
_RECORDS = "question,answer\nWhich is red?,Mars\nWhich has rings?,Saturn\n"


def write_catalog(folder: Path) -> Path:
    """Write a catalog with one dataset; return its manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "datasets.yaml").write_text("version: 1\ninclude: ['[mn].yaml']\n", encoding="utf-8")
    (folder / "planets.csv").write_text(_RECORDS, encoding="utf-8")
    manifest = folder / "m.yaml"
    manifest.write_text(MANIFEST, encoding="utf-8")
    return manifest
