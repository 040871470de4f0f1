"""Which samples are on which page: as many as have room on each, and never fewer than one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import Any

from markupsafe import Markup

from registry import Sample
from registry.api import Allowance, file_stem
from registry.plugins.site.environment import encoded_size, fitting, render
from registry.plugins.site.sample_view import sample_view

__all__ = ["SAMPLES_PER_PAGE", "SamplePage", "sample_file", "sample_page", "sample_pages"]

SAMPLES_PER_PAGE = 20
_PAGE_SIZE = 190_000
"""Bytes of HTML that the samples of a page take at most, since a page has less than 300 kB."""
_SAMPLE_SIZE, _PICTURES_SIZE = 24_000, 150_000
_FAR_JUMPS = 6


@dataclass(frozen=True, kw_only=True)
class SamplePage:
    """Samples that are on a page together, and where others are."""

    first: int = 1
    """The number of the first one."""
    articles: tuple[Markup, ...] = ()
    previous: int = 0
    """The number that the page before begins with; 0 if there is none."""
    following: int = 0
    starts: Sequence[int] = ()
    """The numbers that pages begin with."""

    @property
    def last(self) -> int:
        """The number of the last one."""
        return self.first + len(self.articles) - 1

    @property
    def jumps(self) -> list[int]:
        """The numbers that a few pages begin with: this one, those near it, and some far away."""
        here = bisect_right(self.starts, self.first) - 1
        near = self.starts[max(here - 1, 0) : here + 2]
        far = self.starts[:: max(len(self.starts) // _FAR_JUMPS, 1)]
        return sorted({self.first, *near, *far, *self.starts[-1:]})

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
    stem = file_stem(name)
    return f"samples/{stem}@{first}.html" if first > 1 else f"datasets/{stem}.html"


def sample_pages(
    samples: Iterable[Sample],
    records: Iterable[tuple[int, Mapping[str, Any]] | None],
    reports: Iterable[str] = (),
    *,
    first: int = 1,
    is_code: bool = False,
) -> Iterator[SamplePage]:
    """Yield pages of samples, without their neighbours.

    Args:
        samples: The samples.
        records: The number and the record of each, None if it is unknown; empty if all are.
        reports: What reports a fault of each; empty if there are none.
        first: The number of the first sample.
        is_code: Whether the dataset is about code.
    """
    articles = _articles(samples, records, reports, first, is_code=is_code)
    waiting = list(islice(articles, SAMPLES_PER_PAGE))
    while waiting:
        count = _fitting(waiting)
        yield SamplePage(first=first, articles=tuple(waiting[:count]))
        first += count
        waiting = [*waiting[count:], *islice(articles, count)]


def sample_page(
    samples: Iterable[Sample],
    records: Iterable[tuple[int, Mapping[str, Any]] | None],
    reports: Iterable[str] = (),
    *,
    first: int,
    start: int,
    is_code: bool = False,
) -> SamplePage:
    """Return the page that begins with a sample, and where the page that ends before it begins.

    Args:
        samples: The samples from `start` on, as many as two pages may have.
        records: As for `sample_pages`.
        reports: As for `sample_pages`.
        first: The number of the sample.
        start: The number of the first of `samples`, `SAMPLES_PER_PAGE` before `first`, or 1.
        is_code: Whether the dataset is about code.
    """
    articles = list(_articles(samples, records, reports, start, is_code=is_code))
    before, after = articles[: first - start], articles[first - start :]
    return SamplePage(
        first=first,
        articles=tuple(after[: _fitting(after)]),
        previous=first - _fitting(before[::-1]) if first > 1 else 0,
    )


def _fitting(articles: Sequence[Markup]) -> int:
    """Return how many of the first articles a page has: never none, if there are any."""
    shown = list(fitting(articles[:SAMPLES_PER_PAGE], _PAGE_SIZE, encoded_size))
    return max(len(shown), min(len(articles), 1))


def _articles(
    samples: Iterable[Sample],
    records: Iterable[tuple[int, Mapping[str, Any]] | None],
    reports: Iterable[str],
    first: int,
    *,
    is_code: bool,
) -> Iterator[Markup]:
    """Yield samples as HTML."""
    parts = zip(samples, chain(records, repeat(None)), chain(reports, repeat("")), strict=False)
    for number, (sample, record, report) in enumerate(parts, first):
        allowance = Allowance(_SAMPLE_SIZE, pictures=_PICTURES_SIZE, is_code=is_code)
        yield render("sample.html", sample=sample_view(sample, number, allowance, record, report))
