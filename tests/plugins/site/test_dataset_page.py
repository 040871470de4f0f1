"""The page of a dataset, and the scripts of its table."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from registry import MemoryDataset, Sample
from registry.plugins.site.dataset_page import (
    dataset_pages,
    fitting_table,
    snippets,
    table_file,
    table_scripts,
)
from registry.plugins.site.dataset_view import DatasetView, Family, SpecRow
from registry.plugins.site.sample_table import SampleTable


def dataset_page(view: DatasetView) -> str:
    """Return the first page of a dataset."""
    return next(dataset_pages(view))[1]


def test_page_shows_all_parts() -> None:
    child = Family(name="small", is_here=False)
    view = DatasetView(
        name="qa",
        description="Questions & answers",
        homepage="https://example.com/?a=1&b=2",
        license="mit",
        tags=("math & more",),
        warnings=("1 blank target",),
        facts=(("Source", "csv qa.csv"),),
        spec=(SpecRow(key="source.path", value="qa.csv", layer="own", place="qa.yaml:3"),),
        pin=(SpecRow(key="pin.samples", value="2", layer="lock", place="datasets.lock:4"),),
        samples=(Sample("q1", target="t1", id="one"), Sample("q2", id="two")),
        total=1_000,
        family=Family(name="qa", is_here=True, children=(child,), more=3),
    )
    page = dataset_page(view)
    for part in (
        "<title>qa</title>",
        "Questions &amp; answers",
        'href="https://example.com/?a=1&amp;b=2"',
        "index.html#q=tag%3Amath_%26_more",
        "1 blank target",
        "csv qa.csv",
        "<code>qa.yaml:3</code>",
        "datasets.lock:4",
        "The first 2 of 1,000.",
        'href="small.html"',
        "and 3 more",
        "get_dataset(&#34;qa&#34;)",
    ):
        assert part in page
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert not re.search(r"<[^>]+ style=|<[^>]+ on\w+=|javascript:", page)


def test_broken_dataset_says_why() -> None:
    page = dataset_page(DatasetView(name="qa", problems=("qa.yaml:1:1 <no source>",)))
    assert "qa.yaml:1:1 &lt;no source&gt;" in page
    assert "None: see above." in page


def test_dataset_that_is_not_cached_says_how_to_build_it() -> None:
    assert "registry sync qa" in dataset_page(DatasetView(name="qa")).split("Samples</h2>")[1]


def test_empty_dataset_has_no_table() -> None:
    page = dataset_page(DatasetView(name="qa", samples=(), total=0))
    assert "This dataset has no samples." in page
    assert 'id="explorer"' not in page


@pytest.mark.parametrize("size", [100, 6_000, 1_000_000])
def test_page_is_smaller_than_300_kb(size: int) -> None:
    rows = tuple(
        SpecRow(key=f"fields.metadata.column_{n}", value="<" * 100, layer="own", place="x.yaml:1")
        for n in range(20_000)
    )
    samples = tuple(Sample("<" * size, metadata={"k": "é" * size}) for _ in range(30))
    view = DatasetView(name="qa", samples=samples, total=30, spec=rows, pin=rows)
    pages = dict(dataset_pages(view))
    assert all(len(page.encode()) < 300_000 for page in pages.values())
    page = pages["datasets/qa.html"]
    assert re.search(r"1 to \d+ of 30\.", page)
    assert re.search(r"19,\d{3} more values of 20,000 not shown", page)


def test_long_words_of_a_manifest_are_cut() -> None:
    view = DatasetView(
        name="qa",
        description="d" * 1_000_000,
        license="l" * 1_000_000,
        tags=tuple(f"{'t' * 10_000}{n}" for n in range(1_000)),
        problems=tuple("p" * 10_000 for _ in range(1_000)),
        warnings=tuple("w" * 10_000 for _ in range(1_000)),
        facts=(("Source", "s" * 1_000_000),),
        spec=(SpecRow(key="k" * 1_000_000, value="v", layer="own", place=""),),
    )
    page = dataset_page(view)
    assert len(page.encode()) < 100_000
    assert page.count("and 980 more") == 2
    assert "998,000 more characters of 1,000,000 not shown" in page


def test_snippets_name_the_dataset() -> None:
    assert all("demo-mcq" in one.code for one in snippets("demo-mcq"))


def test_further_samples_are_on_pages_that_are_linked() -> None:
    samples = tuple(Sample(f"q{n}", id=f"i{n}") for n in range(45))
    pages = dict(dataset_pages(DatasetView(name="qa", samples=samples, total=50, license="mit")))
    names = ["datasets/qa.html", "samples/qa@21.html", "samples/qa@41.html"]
    assert list(pages) == names
    links = [
        re.findall(r'href="\.\./([^"]+)" rel="(\w+)" data-sample="(\d+)"', pages[one])
        for one in names
    ]
    following, previous = (names[1], "next", "21"), (names[0], "prev", "20")
    assert links == [
        [following] * 2,
        [previous, (names[2], "next", "41")] * 2,
        [(names[1], "prev", "40")] * 2,
    ]
    assert "21 to 40 of 50; these pages have the first 45." in pages[names[1]]
    assert "mit" not in pages[names[1]]
    assert 'href="../datasets/qa.html">qa</a>' in pages[names[1]]


def table(count: int, length: int = 500) -> SampleTable:
    some = [Sample("word " * (length // 5), id=n, metadata={"k": n % 3}) for n in range(count)]
    return SampleTable.of(MemoryDataset(some))


def read(scripts: list[str]) -> tuple[dict[str, Any], list[Any]]:
    """Return the head and the rows of scripts, as a browser would get them."""
    head = re.match(r"registryTable\((.*)\);\n", scripts[0])
    assert head
    rows: list[Any] = []
    for text in (scripts[0][head.end() :], *scripts[1:]):
        part = re.fullmatch(r"registryPart\((.*)\);\n", text, re.DOTALL)
        assert part
        rows += json.loads(part[1])
    return json.loads(head[1]), rows


def test_scripts_have_all_rows_in_parts_of_limited_size() -> None:
    of = table(3_000)
    scripts = list(table_scripts(of))
    head, rows = read(scripts)
    assert head["parts"] == len(scripts) > 3
    assert len(scripts[0]) < 50_000
    assert max(map(len, scripts)) < 410_000
    assert (head["rows"], head["total"]) == (3_000, 3_000)
    assert [cells for cells, _ in rows] == [of.cells(place) for place in range(3_000)]
    assert [codes for _, codes in rows[:4]] == [[0, 0], [0, 1], [0, 2], [0, 0]]
    assert head["facets"][-1]["groups"] == [["0", 1_000], ["1", 1_000], ["2", 1_000]]


@pytest.mark.parametrize("most", [0, 10_000, 300_000])
def test_table_has_the_first_samples_that_there_is_room_for(most: int) -> None:
    part = fitting_table(table(1_000), most)
    scripts = list(table_scripts(part)) if part.rows else []
    size = sum(map(len, scripts))
    assert most * 0.9 - 1_000 <= size <= most * 1.1 + 1_000
    if part.rows:
        head, rows = read(scripts)
        assert head["rows"] == len(rows) == part.rows < head["total"] == 1_000
        assert sum(count for _, count in head["facets"][-1]["groups"]) == part.rows


def test_hostile_and_huge_texts_stay_texts() -> None:
    hostile = "</script><script>alert(1)</script>\u202e\u2028"
    scripts = list(table_scripts(SampleTable.of(MemoryDataset([Sample(hostile + "x" * 90_000)]))))
    _, rows = read(scripts)
    assert rows[0][0][0].startswith("</script><script>alert(1)</script>\\u{202e}")
    assert rows[0][0][0].endswith("not shown)")
    assert sum(map(len, scripts)) < 21_000


def test_files_are_named_by_the_dataset() -> None:
    assert table_file("qa:test", 3) == "tables/qa+test@3.js"
