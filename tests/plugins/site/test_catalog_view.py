"""What the pages show of a catalog."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from registry import get_dataset
from registry.cli import main
from registry.plugins.site import catalog_view as cached_samples
from registry.plugins.site.catalog_view import Kept, site_names
from registry.plugins.site.home_page import list_row
from tests.plugins.site.catalogs import MANIFEST, open_view


def build(root: Path) -> None:
    with pytest.warns(UserWarning, match="blank"):
        get_dataset("qa", root=root)


def test_problems_of_the_dataset_itself_are_first(root: Path) -> None:
    manifest = MANIFEST.replace("description", "descriptoin").replace("limit: 2", "limit: none")
    (root / "sets" / "qa.yaml").write_text(manifest, "utf-8")
    view = open_view(root)
    firsts = [view.dataset(name).problems[0].split()[1] for name in ("qa", "qa-small")]
    assert firsts == ["$.datasets.qa.descriptoin:", "$.datasets.qa-small.limit:"]
    assert set(view.dataset("qa").problems) == set(view.dataset("qa-small").problems)


@pytest.mark.parametrize("broken", ["qa", "qa.v2", "4q"])
def test_dataset_is_blocked_by_problems_of_others_in_its_file_whatever_their_names(
    root: Path, broken: str
) -> None:
    source = "{type: csv, path: data/qa.csv}"
    text = f"""
datasets:
  fine: {{source: {source}}}
  {broken}: {{source: {source}, splits: {{dev: {{}}, test: {{limit: x}}}}, default_split: dev}}
"""
    (root / "sets" / "qa.yaml").write_text(text, "utf-8")
    view = open_view(root)
    blocked = {name: view.dataset(name).is_blocked for name in view.names}
    assert blocked == {"fine": True, broken: False, f"{broken}:test": False}


def test_names_that_no_file_can_have_are_left_out() -> None:
    assert site_names(["qa", "../x", "con", "a b", "x.y-z_1"]) == ("qa", "x.y-z_1")


def test_summary_gives_the_row_of_the_list_that_the_page_would_give(root: Path) -> None:
    with (root / "sets" / "qa.yaml").open("a", encoding="utf-8") as file:
        file.write("  limited: {extends: qa, limit: 2}\n  broken: {extends: nothing}\n")
    build(root)
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


def test_a_pin_says_how_many_samples_there_are(root: Path, cache_dir: Path) -> None:
    assert main(["lock", "qa-small", "--root", str(root)]) == 0
    assert main(["cache", "clear", "--yes"]) == 0
    row = list_row(open_view(root).summary("qa-small"))
    assert (row.samples, "cached" in row.states) == (2, False)


def test_samples_are_shown_only_if_they_are_cached(root: Path) -> None:
    assert open_view(root).dataset("qa").samples is None
    build(root)
    view = open_view(root).dataset("qa")
    assert view.samples is not None
    assert [sample.input for sample in view.samples] == ["q1", "q2"]
    assert view.records == (
        (1, {"question": "q1", "answer": "a1", "subject": "x"}),
        (2, {"question": "q2", "answer": "", "subject": "y"}),
    )
    assert view.total == 3
    assert view.plots
    assert "blank" in view.warnings[0]
    small = open_view(root).dataset("qa-small")
    assert small.total == 2
    assert [record and record[1]["question"] for record in small.records] == [
        sample.input for sample in small.samples or ()
    ]


def test_source_that_is_missing_shows_no_samples(root: Path) -> None:
    (root / "data" / "qa.csv").unlink()
    view = open_view(root).dataset("qa")
    assert (view.samples, view.description) == (None, "Questions.")


def test_preview_shows_the_first_records_without_building(root: Path) -> None:
    view = replace(open_view(root), is_local=True).dataset("qa-small")
    assert [sample.input for sample in view.samples or ()] == ["q1", "q2"]
    assert [record and record[1]["answer"] for record in view.records] == ["a1", ""]
    assert view.total is None
    assert "blank" in view.warnings[0]
    assert open_view(root).dataset("qa-small").samples is None


def test_samples_begin_with_any_number(root: Path) -> None:
    preview = replace(open_view(root), is_local=True).dataset("qa", first=3)
    build(root)
    cached = open_view(root).dataset("qa", first=3)
    for view in (preview, cached):
        assert [sample.input for sample in view.samples or ()] == ["q3"]
        assert [record and record[0] for record in view.records] == [3]
        assert view.first == 3
    assert (preview.total, cached.total) == (None, 3)
    assert cached.plots == ()
    assert open_view(root).dataset("qa", first=99).samples == ()


def test_records_far_from_the_start_are_not_read(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cached_samples, "_LAST_RECORD", 1)
    build(root)
    view = open_view(root).dataset("qa")
    assert [record and record[0] for record in view.records] == [1, None]
    far = replace(open_view(root), most=1).dataset("qa", first=3)
    assert far.records == (None,)


def test_values_that_were_asked_for_last_are_kept() -> None:
    made: list[str] = []
    kept = Kept[str](2)

    def get(key: str) -> None:
        def make() -> str:
            made.append(key)
            return key

        assert kept.get(key, make) == key

    for key in "aababcba":
        get(key)
    assert made == ["a", "b", "c", "a"]
