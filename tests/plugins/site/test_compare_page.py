"""Two datasets beside each other: each sample once, counted, marked by the word, and rendered."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from registry import get_dataset
from registry.plugins.site.compare_page import Comparison, Side, compare_file, compare_pages
from registry.plugins.site.dataset_page import dataset_pages
from tests.plugins.site.catalogs import open_view

MANIFEST = """
datasets:
  qa:
    source: {type: csv}
    splits: {test: {path: data/qa.csv}, dev: {path: data/dev.csv}}
    default_split: test
    fields: {input: question, target: answer, id: key}
    corrections: fix.yaml
  closed:
    access: {gated: https://example.org/terms}
    source: {type: csv, path: data/dev.csv}
    fields: {input: question, target: answer, id: key}
"""
FIX = """
corrections:
  - {id: a, field: target, was: x, now: z, verdict: wrong, reason: It is z., source: here, by: me}
"""
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def catalog(root: Path) -> Path:
    """A corrected dataset with two splits, of which one sample is in both, another one differs."""
    (root / "sets" / "qa.yaml").write_text(MANIFEST, "utf-8")
    (root / "fix.yaml").write_text(FIX, "utf-8")
    dev = f"key,question,answer\nb,what is **two**,y\nc,what is three,z\nd,{HOSTILE},w\n"
    (root / "data" / "dev.csv").write_text(dev, "utf-8")
    test = "key,question,answer\na,one,x\nb,what is **two**,y\nc,what was three,z\n"
    (root / "data" / "qa.csv").write_text(test, "utf-8")
    return root


def build(root: Path) -> None:
    for name, given in (("qa", {}), ("qa", {"corrections": False}), ("qa:dev", {}), ("closed", {})):
        get_dataset(name, root=root, **given)  # type: ignore[arg-type]


def counts(found: Comparison) -> dict[str, int]:
    return {word: count for _, word, count in found.counts}


def test_samples_are_paired_by_id_counted_and_each_shown_once(catalog: Path) -> None:
    build(catalog)
    found = open_view(catalog).compared(Side("qa"), Side("qa:dev"))
    assert counts(found) == {"changed": 1, "only in qa": 1, "only in qa:dev": 1, "equal": 1}
    ((file, page),) = compare_pages(found)
    assert file == "compare/qa@qa+dev@1.html"
    # What differs is first; by the word, in the text that the model gets.
    shown = re.findall(
        r'data-id="id (\w)".*?<span class="state \w*">([^<]+)</span>', page, re.DOTALL
    )
    assert shown == [("c", "changed"), ("a", "only in qa"), ("d", "only in qa:dev"), ("b", "equal")]
    assert "what <del>was</del> three" in page
    assert "what <ins>is</ins> three" in page
    assert "<strong>two</strong>" in page  # by the renderer of all pages
    assert HOSTILE not in page
    assert page.count('class="beside"') == 2 + 1 + 1 + 1
    assert "1 to 4 of 4." in page
    assert '<a class="tag" href="../compare/qa@qa+dev@1.html#sample-4">1 equal</a>' in page


def test_original_is_beside_corrected_with_the_reviewed_rows(catalog: Path) -> None:
    build(catalog)
    found = open_view(catalog).compared(Side.of("qa~original"), Side("qa"))
    assert counts(found) == {"changed": 1, "only in qa (original)": 0, "only in qa": 0, "equal": 2}
    (page,) = (text for _, text in compare_pages(found))
    assert "It is z." in page
    assert "<del>x</del>" in page
    assert "<ins>z</ins>" in page


def test_site_has_the_pages_of_what_is_cached_and_as_many_samples_as_it_may(catalog: Path) -> None:
    assert open_view(catalog).dataset("qa").comparisons == ()
    build(catalog)
    files = dict(dataset_pages(replace(open_view(catalog), most=1).dataset("qa")))
    assert sorted(file for file in files if file.startswith("compare/")) == [
        "compare/qa@qa+dev@1.html",
        "compare/qa~original@qa@1.html",
    ]
    page = files["compare/qa~original@qa@1.html"]
    assert "1 to 2 of 2 shown; 1 more not on these pages" in page
    for link in ("qa~original@qa@1", "qa@qa+dev@1"):
        assert f'href="../compare/{link}.html"' in files["datasets/qa.html"]
    # The page of two splits is one of the default one.
    split = dict(dataset_pages(open_view(catalog).dataset("qa:dev")))
    assert [file for file in split if file.startswith("compare/")] == []
    assert 'href="../compare/qa@qa+dev@1.html"' in split["datasets/qa+dev.html"]
    assert replace(open_view(catalog), most=0).dataset("qa").comparisons == ()


def test_data_behind_terms_is_not_published(catalog: Path) -> None:
    build(catalog)
    view = open_view(catalog)
    closed = view.dataset("closed")
    assert (closed.samples, closed.plots, closed.table, closed.total) == ((), (), None, 3)
    pages = dict(dataset_pages(closed))
    assert "what is three" not in "".join(pages.values())
    assert "behind terms" in pages["datasets/closed.html"]
    assert "behind terms" in view.compared(Side("qa"), Side("closed")).fault
    own = replace(view, is_local=True)
    assert [one.id for one in own.dataset("closed").samples or ()] == ["b", "c"]
    assert own.compared(Side("qa:dev"), Side("closed")).fault == ""


@pytest.mark.parametrize(
    ("left", "right", "fault"),
    [
        ("qu", "qa", "no dataset 'qu'"),
        ("closed~original", "qa", "closed: its manifest has no `corrections`"),
        (
            "qa~original",
            "qa",
            "qa (original): not cached (`registry compare qa --corrections` builds it)",
        ),
        ("qa", "qa:dev", "qa: not cached (`registry sync qa` builds it)"),
    ],
)
def test_what_can_not_be_compared_says_why(
    catalog: Path, left: str, right: str, fault: str
) -> None:
    found = replace(open_view(catalog), is_local=True).compared(Side.of(left), Side.of(right))
    assert found.fault.startswith(fault)
    assert found.places == []


def test_too_many_samples_for_a_site_are_not_compared(catalog: Path) -> None:
    build(catalog)
    found = open_view(catalog).compared(Side("qa"), Side("qa:dev"), most=2)
    assert found.fault == "more than 2 samples"


def test_sides_are_names_of_files_and_of_addresses() -> None:
    assert Side.of(" qa:dev ") == Side("qa:dev")
    assert Side.of("qa~original").text == "qa~original"
    assert compare_file(Side.of("qa:dev~original"), Side("b"), 21) == (
        "compare/qa+dev~original@b@21.html"
    )
