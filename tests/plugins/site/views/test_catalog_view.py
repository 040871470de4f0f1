"""What the pages show of a catalog."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry import get_dataset
from registry.plugins.site.home_page import list_row
from registry.plugins.site.views.catalog_view import site_names
from tests.plugins.site.views.catalogs import MANIFEST, open_view


def test_problems_of_the_dataset_itself_are_first(root: Path) -> None:
    manifest = MANIFEST.replace("description", "descriptoin").replace("limit: 2", "limit: none")
    (root / "sets" / "qa.yaml").write_text(manifest, "utf-8")
    view = open_view(root)
    firsts = [view.dataset(name).problems[0].split()[1] for name in ("qa", "qa-small")]
    assert firsts == ["$.datasets.qa.descriptoin:", "$.datasets.qa-small.limit:"]
    assert set(view.dataset("qa").problems) == set(view.dataset("qa-small").problems)


def test_locked_dataset_without_a_pin_is_a_problem(root: Path) -> None:
    (problem,) = open_view(root, locked=True).dataset("qa").problems
    assert "datasets.lock" in problem


def test_names_that_no_file_can_have_are_left_out() -> None:
    assert site_names(["qa", "../x", "con", "a b", "x.y-z_1"]) == ("qa", "x.y-z_1")


def test_summary_gives_the_row_of_the_list_that_the_page_would_give(root: Path) -> None:
    with (root / "sets" / "qa.yaml").open("a", encoding="utf-8") as file:
        file.write("  limited: {extends: qa, limit: 2}\n  broken: {extends: nothing}\n")
    with pytest.warns(UserWarning, match="blank"):
        get_dataset("qa", root=root)
    view = open_view(root)
    rows = {name: list_row(view.summary(name)) for name in view.names}
    assert rows == {name: list_row(view.dataset(name)) for name in view.names}
    assert {name: row.samples for name, row in rows.items()} == {
        "broken": None,
        "limited": 2,
        "qa": 3,
        "qa-small": 2,
    }
    assert rows["qa"].states == ("cached", "warned")
