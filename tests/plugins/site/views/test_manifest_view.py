"""What a manifest says of a dataset."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from registry.catalog.catalog import Catalog
from registry.plugins.site.views.manifest_view import ShownPaths
from tests.plugins.site.views.catalogs import MANIFEST, open_view


def test_spec_says_where_each_value_is_written(root: Path) -> None:
    view = open_view(root).dataset("qa-small")
    rows = {row.key: (row.value, row.layer, row.place) for row in view.spec}
    assert rows["source.path"] == ("data/qa.csv", "parent qa", "sets/qa.yaml:7")
    assert rows["limit"] == ("2", "own", "sets/qa.yaml:14")
    assert rows["license"] == ("mit", "default", "datasets.yaml:4")
    assert "on_duplicate" not in rows
    assert "on_duplicate" in {row.key for row in view.defaults}


def test_card_has_what_the_manifest_says(root: Path) -> None:
    view = open_view(root).dataset("qa-small")
    assert (view.description, view.license, view.tags) == ("Questions.", "mit", ("one", "two"))
    assert view.homepage == "https://example.com"
    assert dict(view.facts) == {
        "Source": "csv: data/qa.csv",
        "Selection": "shuffled (seed 7), the first 2",
        "Scored by": "includes",
        "Pin": "none",
        "Defined in": "sets/qa.yaml:9",
    }
    assert view.columns == ("answer", "question", "subject", "topic")
    assert view.family is not None
    assert view.family.children[0].is_here


def test_homepage_that_is_no_web_page_is_a_problem(root: Path) -> None:
    manifest = MANIFEST.replace("https://example.org", "javascript:alert(1)")
    (root / "sets" / "qa.yaml").write_text(manifest, "utf-8")
    view = open_view(root).dataset("qa")
    assert view.homepage == ""
    assert view.problems[0].startswith("sets/qa.yaml:5:5 $.datasets.qa.homepage: ")


def test_homepage_that_is_too_long_is_not_linked(root: Path) -> None:
    manifest = MANIFEST.replace("https://example.org", "https://example.org/" + "x" * 10_000)
    (root / "sets" / "qa.yaml").write_text(manifest, "utf-8")
    assert open_view(root).dataset("qa").homepage == ""


def test_folders_of_the_catalog_are_left_out(root: Path) -> None:
    paths = ShownPaths(Catalog.open(root / "datasets.yaml"))
    assert paths.shorten(f"can't read {root}{os.sep}data{os.sep}qa.csv") == (
        f"can't read data{os.sep}qa.csv"
    )
    assert paths.shorten("/elsewhere/qa.csv") == "/elsewhere/qa.csv"


def test_relative_folder_is_left_out_where_a_text_begins_with_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root.parent)
    paths = ShownPaths(Catalog.open(root / "datasets.yaml"))
    place = f"{root.name}{os.sep}sets"
    assert paths.shorten(f"{place}: error in {place}") == f"sets: error in {place}"
