"""Paths on pages have no folder of this machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from registry.catalog.catalog import Catalog
from registry.plugins.site.views.shown_paths import ShownPaths


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
