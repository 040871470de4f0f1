"""A catalog in a notebook: small, escaped, also with problems."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from registry import Catalog
from registry.display.html import MOST_BYTES

INDEX = """
version: 1
include: [m.yaml]
defaults: {license: mit}
"""
MANIFEST = """
datasets:
  one: {description: "The <b>first</b>", tags: [qa, "<i>"], source: {type: csv, path: a.csv}}
  two: {extends: one, tags: [qa]}
  bad: {extends: nothing}
"""


def catalog_of(folder: Path, manifest: str = MANIFEST) -> Catalog:
    (folder / "datasets.yaml").write_text(INDEX, encoding="utf-8")
    (folder / "m.yaml").write_text(manifest, encoding="utf-8")
    return Catalog.open(folder)


def test_html_lists_datasets_with_inherited_values_and_plots_tags(tmp_path: Path) -> None:
    html = catalog_of(tmp_path)._repr_html_().replace(' style="text-align:left"', "")
    assert "3 datasets" in html
    assert "<td>two</td><td>The &lt;b&gt;first&lt;/b&gt;</td><td>mit</td><td>qa</td>" in html
    assert "<td>bad</td>" in html
    assert html.count("<img alt=") == 1
    assert "<i>" not in html


def test_html_of_a_large_catalog_is_small_and_says_what_is_missing(tmp_path: Path) -> None:
    long = "&" * 200
    source = "source: {type: csv, path: a.csv}"
    lines = [f'  d{n:04}: {{description: "{long}", tags: [t{n}], {source}}}' for n in range(2_010)]
    html = catalog_of(tmp_path, "\n".join(["datasets:", *lines]))._repr_html_()
    assert len(html.encode()) < MOST_BYTES
    assert "1,980 more datasets" in html
    assert "of the first 2,000 datasets" in html


def test_problems_are_counted(tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path, f"{MANIFEST}  worse: {{extends: one, unknown: 1}}\n")
    assert "1 problem" in catalog._repr_html_()


def test_keys_complete_in_a_notebook(tmp_path: Path) -> None:
    assert catalog_of(tmp_path)._ipython_key_completions_() == ["bad", "one", "two"]


def test_rich_prints_index_and_size(tmp_path: Path) -> None:
    out = io.StringIO()
    Console(file=out, width=200, color_system=None).print(catalog_of(tmp_path))
    assert out.getvalue() == f"Catalog(index='{tmp_path}/datasets.yaml', datasets=3)\n"
