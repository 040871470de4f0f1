"""Samples are spread over pages: none is left out, and no page is too large."""

from __future__ import annotations

import re

import pytest

from registry.display.html import Allowance
from registry.plugins.site.environment import render
from registry.plugins.site.sample_pages import (
    SamplePage,
    SampleView,
    page_start,
    sample_articles,
    sample_file,
    sample_page,
    sample_pages,
    sample_view,
)
from registry.samples.sample import Sample


def numbers(page: SamplePage) -> list[int]:
    return [int(n) for n in re.findall(r'<article class="sample" id="sample-(\d+)"', str(page))]


@pytest.mark.parametrize(("size", "count"), [(10, 20), (4_000, 20), (200_000, 10)])
def test_every_sample_is_on_a_page_that_is_not_too_large(size: int, count: int) -> None:
    samples = [Sample("<" * size, metadata={"k": "é" * size}) for _ in range(45)]
    pages = list(sample_pages(sample_articles(samples, ())))
    assert [n for page in pages for n in numbers(page)] == list(range(1, 46))
    assert [page.first for page in pages] == [numbers(page)[0] for page in pages]
    assert all(len(page.articles) <= count for page in pages)
    assert max(sum(len(one.encode()) for one in page.articles) for page in pages) < 190_000


def test_pages_may_begin_anywhere_and_have_the_records_of_their_samples() -> None:
    samples = [Sample(f"q{n}") for n in range(25)]
    records = [(n, {"row": f"r{n}"}) for n in range(100, 125)]
    pages = list(sample_pages(sample_articles(samples, records, first=41), first=41))
    assert [(page.first, page.last) for page in pages] == [(41, 60), (61, 65)]
    assert "q24" in pages[1].articles[-1]
    assert "record 124" in pages[1].articles[-1]
    assert list(sample_pages(())) == []


@pytest.mark.parametrize("size", [10, 4_000])
@pytest.mark.parametrize("first", [1, 2, 20, 21, 33])
def test_one_page_is_found_without_those_before(size: int, first: int) -> None:
    samples = [Sample("<" * size, metadata={"k": "é" * size}) for _ in range(60)]

    def pages(number: int) -> list[SamplePage]:
        articles = sample_articles(samples[number - 1 :], (), first=number)
        return list(sample_pages(articles, first=number))

    start = page_start(first)
    page = sample_page(
        sample_articles(samples[start - 1 :], (), first=start), first=first, known=60
    )
    known = pages(first)[0]
    assert (page.first, page.articles) == (first, known.articles)
    if first == 1:
        assert page.previous == 0
        return
    before = pages(page.previous)[0]
    assert before.last >= first - 1
    if page.previous > max(first - 20, 1):
        longer = pages(page.previous - 1)[0]
        assert longer.last < first - 1


@pytest.mark.parametrize("count", [1, 2, 5, 7, 24, 1_000])
def test_pages_that_are_far_away_are_linked(count: int) -> None:
    starts = range(1, 20 * count, 20)
    for first in (1, 21, starts[-1]):
        jumps = SamplePage(first=first, starts=starts).jumps
        near = {one for one in (first - 20, first, first + 20) if one in starts}
        assert jumps == sorted({first, 1, starts[-1], *near, *jumps})
        assert len(jumps) <= 16
    assert SamplePage(first=8, starts=starts).jumps[1] == 8


def test_position_counts_what_is_there_and_what_is_shown() -> None:
    articles = tuple(
        page
        for part in sample_pages(sample_articles([Sample("q")] * 20, ()))
        for page in part.articles
    )
    first = SamplePage(articles=articles)
    assert first.position(20, 20) == "All 20"
    assert first.position(1_000, 20) == "The first 20 of 1,000"
    assert first.position(None, 20) == (
        "The first 20 of the source, in its order; the dataset is not built"
    )
    second = SamplePage(first=1_021, articles=articles, previous=1_001, following=1_041)
    assert second.position(1_060, 1_060) == "1,021 to 1,040 of 1,060"
    assert second.position(9_000, 1_060) == (
        "1,021 to 1,040 of 9,000; these pages have the first 1,060"
    )
    assert second.position(None, 1_041).startswith("1,021 to 1,040 of the source")


def test_files_of_pages_differ_from_those_of_all_other_datasets() -> None:
    assert sample_file("qa", 1) == "datasets/qa.html"
    assert sample_file("qa", 21) == "samples/qa@21.html"


def shown(view: SampleView) -> str:
    return str(render("sample.html", sample=view, rest=""))


def test_record_is_shown_with_its_number() -> None:
    view = sample_view(Sample("q"), 1, Allowance(24_000), (1_234, {"a": b"\x00", "b": "<i>"}))
    text = shown(view)
    assert "The record it was made of" in text
    assert "record 1,234" in text
    assert '"1 byte"' in text
    assert "&lt;i&gt;" in text
    assert "The record it was made of" not in shown(sample_view(Sample("q"), 1, Allowance(24_000)))


def test_controls_and_surrogates_are_codes() -> None:
    sample = Sample("a\x1b[31m\ud800\u202eb", id="x\x00", metadata={"\u2066k": "\u200b"})
    text = shown(sample_view(sample, 1, Allowance(24_000)))
    text.encode()
    for part in ("\\u{1b}[31m\\u{d800}\\u{202e}b", "x\\u{0}", "metadata.\\u{2066}k", "\\u{200b}"):
        assert part in text
    assert 'href="#sample=x%5Cu%7B0%7D"' in text


def test_long_id_is_cut() -> None:
    view = sample_view(Sample("q", id="i" * 1_000_000), 1, Allowance(24_000))
    assert view.id == "i" * 200 + "…"
    assert len(shown(view)) < 10_000


def test_only_notes_say_that_a_sample_is_cut() -> None:
    said = Sample('<p class="quiet small">5 more lines not shown</p>', target="not shown")
    assert not sample_view(said, 1, Allowance(24_000)).is_cut
    long = Sample("q", metadata={"a": "x" * 30_000})
    assert sample_view(long, 1, Allowance(24_000)).is_cut
    assert not sample_view(long, 1, Allowance(8_000_000, is_whole=True)).is_cut
