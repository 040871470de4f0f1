"""The values that the page of a dataset shows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from registry.base.fs import file_sha256
from registry.catalog.catalog import Catalog
from registry.cli import main
from registry.lockfile.models import PIN_FORMAT
from registry.plugins.site.dataset_view import (
    DatasetView,
    Family,
    ShownPaths,
    SpecRow,
    children_of,
    family_of,
)
from tests.plugins.site.catalogs import MANIFEST, open_view


def test_states_are_what_a_dataset_is_found_by() -> None:
    row = SpecRow(key="pin.samples", value="2", layer="lock", place="datasets.lock:4")
    assert DatasetView(name="qa").states == ()
    assert DatasetView(name="qa", problems=("x",)).states == ("broken",)
    view = DatasetView(name="qa", samples=(), pin=(row,), is_pinned=True, warnings=("odd",))
    assert view.states == ("cached", "pinned", "warned")


def names(family: Family | None) -> object:
    """Return a family as nested lists of names, with `*` before the dataset of the page."""
    if family is None:
        return None
    more = [f"+{family.more}"] if family.more else []
    return [("*" if family.is_here else "") + family.name, *map(names, family.children), *more]


CHILDREN = children_of({"b": "a", "c": "a", "d": "b", "e": "d"})


def test_children_are_sorted_by_their_parent() -> None:
    assert children_of({"z": "a", "b": "a"}) == {"a": ["b", "z"]}


def test_family_has_ancestors_and_all_below() -> None:
    below = ["*b", ["d", ["e"]]]
    assert names(family_of("b", ["a"], CHILDREN, pages="abcdex")) == ["a", below, "+1"]
    assert names(family_of("a", [], CHILDREN, pages="abcdex")) == ["*a", ["b", ["d", ["e"]]], ["c"]]
    assert family_of("x", [], CHILDREN, pages="x") is None


def test_datasets_without_a_page_are_not_linked() -> None:
    family = family_of("b", ["a"], {}, pages="b")
    assert family is not None
    assert (family.name, family.has_page, family.more) == ("a", False, 0)
    assert family.children[0].has_page


def test_large_family_is_cut() -> None:
    children = children_of({f"c{number:05}": "a" for number in range(10_000)})
    family = family_of("a", [], children, pages={"a", *children["a"]})
    assert family is not None
    assert len(family.children) == 99
    assert family.more == 9_901


def test_cycle_ends() -> None:
    children = children_of({"a": "b", "b": "a"})
    assert names(family_of("a", ["b"], children, pages="ab")) == ["b", ["*a"]]


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
        "State": "floating",
        "Pin": "none",
        "Defined in": "sets/qa.yaml:9",
    }
    assert view.columns == ("answer", "question", "subject", "topic")
    assert view.family is not None
    assert view.family.children[0].is_here


def test_pin_differs_from_one_of_another_manifest_or_release(root: Path) -> None:
    assert main(["lock", "qa", "--root", str(root)]) == 0
    lock, manifest = root / "datasets.lock", root / "sets" / "qa.yaml"
    text = f"version 1-A, {file_sha256(root / 'data' / 'qa.csv')[:7]}, 3 samples"

    def shown() -> str:
        return dict(open_view(root).dataset("qa").facts)["Pin"]

    assert shown() == text
    manifest.write_text(MANIFEST.replace("target: answer", "target: question"), "utf-8")
    assert shown() == f"{text}, of an older manifest"
    assert open_view(root).summary("qa").expected is None
    newer = lock.read_text("utf-8").replace(f"format: {PIN_FORMAT}", f"format: {PIN_FORMAT + 1}")
    lock.write_text(newer, "utf-8")
    assert shown() == f"{text}, by a newer release"


def test_homepage_that_is_no_web_page_is_a_problem(root: Path) -> None:
    manifest = MANIFEST.replace("https://example.org", "javascript:alert(1)")
    (root / "sets" / "qa.yaml").write_text(manifest, "utf-8")
    view = open_view(root).dataset("qa")
    assert view.homepage == ""
    assert view.problems[0].startswith("sets/qa.yaml:5:5 $.datasets.qa.homepage: ")


def test_facts_lead_to_the_repository_and_to_the_license(root: Path) -> None:
    (root / "sets" / "qa.yaml").write_text(LINKED, "utf-8")
    view = open_view(root)
    hub = view.dataset("hub")
    assert hub.links == {
        "Source": "https://huggingface.co/datasets/org/name/tree/v1",
        "License": "https://example.org/license",
    }
    facts = dict(hub.facts)
    assert (facts["Languages"], facts["In groups"]) == ("te, en", "both")
    assert view.groups == (("both", "Two of them. (2 members: hub, qa)"),)
    assert view.dataset("qa").links == {"License": "https://spdx.org/licenses/CC-BY-4.0.html"}


LINKED = """
datasets:
  hub:
    source: {type: hf, path: org/name, split: test, revision: v1}
    fields: {input: question}
    license: {spdx: MIT, read-at: 'https://example.org/license'}
    languages: [te, en]
  qa:
    source: {type: csv, path: data/qa.csv}
    license: CC-BY-4.0
groups:
  both: {description: Two of them., datasets: [hub, qa]}
"""


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
