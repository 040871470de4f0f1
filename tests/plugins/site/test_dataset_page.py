"""The page of a dataset."""

from __future__ import annotations

import re

import pytest

from registry.plugins.site.dataset_page import dataset_pages, snippets
from registry.plugins.site.dataset_view import DatasetView, Family, SpecRow
from registry.samples.sample import Sample


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
    samples = tuple(Sample("<" * size, metadata={"k": "é" * size}) for _ in range(100))
    view = DatasetView(name="qa", samples=samples, total=100, spec=rows, pin=rows)
    pages = dict(dataset_pages(view))
    assert all(len(page.encode()) < 300_000 for page in pages.values())
    page = pages["datasets/qa.html"]
    assert re.search(r"1 to \d+ of 100\.", page)
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
