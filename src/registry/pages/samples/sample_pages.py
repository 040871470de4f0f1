"""Which samples are on which page: as many as have room on each, and never fewer than one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

from markupsafe import Markup

from registry.pages.environment import render
from registry.pages.samples.allowance import Allowance
from registry.pages.samples.sample_view import sample_view
from registry.samples.sample import Sample

__all__ = ["SAMPLES_PER_PAGE", "SamplePage", "sample_file", "sample_pages"]

SAMPLES_PER_PAGE = 20
_PAGE_SIZE = 190_000
"""Bytes of HTML that the samples of a page take at most, since a page has less than 300 kB."""
_SAMPLE_SIZE, _PICTURES_SIZE = 24_000, 150_000


@dataclass(frozen=True, kw_only=True)
class SamplePage:
    """Samples that are on a page together, and where others are."""

    first: int = 1
    """The number of the first one."""
    articles: tuple[Markup, ...] = ()
    previous: int = 0
    """The number that the page before begins with; 0 if there is none."""
    following: int = 0

    @property
    def last(self) -> int:
        """The number of the last one."""
        return self.first + len(self.articles) - 1

    def position(self, total: int | None, shown: int) -> str:
        """Return which samples these are.

        Args:
            total: How many samples there are; None if they are not built, and these only a preview.
            shown: How many of them are on any page.
        """
        if total is None:
            part = "The first" if self.first == 1 else f"{self.first:,} to"
            return f"{part} {self.last:,} of the source, in its order; the dataset is not built"
        counted = f"{total:,}"
        if self.first == 1 and not self.following:
            return f"All {counted}" if self.last == total else f"The first {self.last} of {counted}"
        here = f"{self.first:,} to {self.last:,} of {counted}"
        return here if shown >= total else f"{here}; these pages have the first {shown:,}"


def sample_file(name: str, first: int) -> str:
    """Return the file of the page of a dataset that begins with a sample."""
    # No name of a dataset has an @.
    return f"samples/{name}@{first}.html" if first > 1 else f"datasets/{name}.html"


def sample_pages(
    samples: Iterable[Sample],
    records: Iterable[tuple[int, Mapping[str, Any]] | None],
    *,
    first: int = 1,
) -> Iterator[SamplePage]:
    """Yield pages of samples, without their neighbours.

    Args:
        samples: The samples.
        records: The number and the record of each, None if it is unknown; empty if all are.
        first: The number of the first sample.
    """
    page: list[Markup] = []
    left = _PAGE_SIZE
    for article in _articles(samples, records, first):
        size = len(article.encode())
        if page and (size > left or len(page) == SAMPLES_PER_PAGE):
            yield SamplePage(first=first, articles=tuple(page))
            first, page, left = first + len(page), [], _PAGE_SIZE
        page.append(article)
        left -= size
    if page:
        yield SamplePage(first=first, articles=tuple(page))


def _articles(
    samples: Iterable[Sample],
    records: Iterable[tuple[int, Mapping[str, Any]] | None],
    first: int,
) -> Iterator[Markup]:
    """Yield samples as HTML."""
    pairs = zip(samples, chain(records, repeat(None)), strict=False)
    for number, (sample, record) in enumerate(pairs, first):
        allowance = Allowance(_SAMPLE_SIZE, pictures=_PICTURES_SIZE)
        yield render("sample.html", sample=sample_view(sample, number, allowance, record))
