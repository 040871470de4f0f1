"""Samples on pages: each as notebooks show it, as many on a page as have room, and never none."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, repeat
from typing import Any

from markupsafe import Markup

from registry import Sample
from registry.api import Allowance, file_stem, json_html, sample_body, visible
from registry.plugins.site.environment import encoded_size, fitting, render, start_of

__all__ = [
    "SAMPLES_PER_PAGE",
    "SamplePage",
    "SampleView",
    "body_html",
    "linked_pages",
    "page_start",
    "sample_articles",
    "sample_file",
    "sample_page",
    "sample_pages",
    "sample_view",
]

SAMPLES_PER_PAGE = 20
_PAGE_SIZE = 190_000
"""Bytes of HTML that the samples of a page take at most, since a page has less than 300 kB."""
_SAMPLE_SIZE, _PICTURES_SIZE = 24_000, 150_000
_WHOLE_SIZE, _WHOLE_PICTURES = 8_000_000, 32_000_000
"""Bytes of the page of one sample, which a server makes."""
_FAR_JUMPS = 6

_JSON_TEXT, _JSON_LINE = 4_000, 60
_ID_TEXT = 200


_CUT = re.compile(r'<p class="quiet small">[^<]* not shown')
"""A note of `display`; no text of a sample has the tag."""


@dataclass(frozen=True, kw_only=True)
class SamplePage:
    """Samples that are on a page together, and where others are."""

    first: int = 1
    """The number of the first one."""
    articles: tuple[Markup, ...] = ()
    previous: int = 0
    """The number that the page before begins with; 0 if there is none."""
    following: int = 0
    is_whole: bool = False
    """Whether it is of one sample, of which nothing is left out."""
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


def sample_file(name: str, first: int, *, is_whole: bool = False) -> str:
    """Return the file of the page of a dataset that begins with a sample.

    `is_whole` means the page that a server makes of this sample alone.
    """
    # No name of a dataset has an @.
    stem = file_stem(name)
    if is_whole:
        return f"samples/{stem}@{first}.html?whole=1"
    return f"samples/{stem}@{first}.html" if first > 1 else f"datasets/{stem}.html"


def sample_pages(articles: Iterable[Markup], *, first: int = 1) -> Iterator[SamplePage]:
    """Yield pages of samples, without their neighbours; `first` is the number of the first one."""
    left = iter(articles)
    waiting = list(islice(left, SAMPLES_PER_PAGE))
    while waiting:
        count = _fitting(waiting)
        yield SamplePage(first=first, articles=tuple(waiting[:count]))
        first += count
        waiting = [*waiting[count:], *islice(left, count)]


def sample_page(articles: Iterable[Markup], *, first: int, known: int) -> SamplePage:
    """Return the page that begins with a sample, with links to others.

    Args:
        articles: The samples from `page_start(first)` on, as many as two pages may have.
        first: The number of the sample.
        known: How many samples there are.
    """
    made = list(islice(articles, first - page_start(first) + SAMPLES_PER_PAGE))
    before, after = made[: first - page_start(first)], made[first - page_start(first) :]
    page = SamplePage(
        first=first,
        articles=tuple(after[: _fitting(after)]),
        previous=first - _fitting(before[::-1]) if first > 1 else 0,
        starts=range(1, known + 1, SAMPLES_PER_PAGE),
    )
    return replace(page, following=page.last + 1 if page.last < known else 0)


def page_start(first: int) -> int:
    """Return the first sample that may be on the page before the one that begins with `first`."""
    return max(first - SAMPLES_PER_PAGE, 1)


def linked_pages(pages: Iterable[SamplePage]) -> list[SamplePage]:
    """Return pages with links to their neighbours; one without samples if there are none."""
    parts = list(pages) or [SamplePage()]
    starts = [part.first for part in parts]
    return [
        replace(part, previous=previous, following=following, starts=starts)
        for part, previous, following in zip(parts, [0, *starts], [*starts[1:], 0], strict=False)
    ]


def _fitting(articles: Sequence[Markup]) -> int:
    """Return how many of the first articles a page has: never none, if there are any."""
    shown = list(fitting(articles[:SAMPLES_PER_PAGE], _PAGE_SIZE, encoded_size))
    return max(len(shown), min(len(articles), 1))


def sample_articles(
    samples: Iterable[Sample],
    records: Iterable[tuple[int, Mapping[str, Any]] | None],
    reports: Iterable[str] = (),
    *,
    first: int = 1,
    is_code: bool = False,
    name: str = "",
    is_whole: bool = False,
) -> Iterator[Markup]:
    """Yield samples as HTML.

    Args:
        samples: The samples.
        records: The number and the record of each, None if it is unknown; empty if all are.
        reports: What reports a fault of each; empty if there are none.
        first: The number of the first sample.
        is_code: Whether the dataset is about code.
        name: The dataset, if a server has a page for each of its samples that is cut here.
        is_whole: Whether nothing is cut but what no browser can show.
    """
    size, pictures = (_WHOLE_SIZE, _WHOLE_PICTURES) if is_whole else (_SAMPLE_SIZE, _PICTURES_SIZE)
    parts = zip(samples, chain(records, repeat(None)), chain(reports, repeat("")), strict=False)
    for number, (sample, record, report) in enumerate(parts, first):
        allowance = Allowance(size, pictures=pictures, is_code=is_code, is_whole=is_whole)
        view = sample_view(sample, number, allowance, record, report)
        rest = f"../{sample_file(name, number, is_whole=True)}" if name and view.is_cut else ""
        yield render("sample.html", sample=view, rest=rest)


@dataclass(frozen=True, kw_only=True)
class SampleView:
    """A sample; `number` is its position from 1."""

    number: int
    id: str
    body: Markup
    data: Markup
    """The sample as JSON."""
    record: Markup | None
    """The record that it was made of, if it is known."""
    report: str
    """The row of a corrections file that reports a fault of it, or the command that prints it."""

    @property
    def is_cut(self) -> bool:
        """Whether something of it is left out, which a note says."""
        return any(_CUT.search(html) for html in (self.body, self.data, self.record or ""))


def body_html(sample: Sample, allowance: Allowance) -> Markup:
    """Return what a sample has as HTML, within an allowance."""
    return Markup(sample_body(sample, allowance))  # nosec B704 # noqa: S704 (it is escaped)


def sample_view(
    sample: Sample,
    number: int,
    allowance: Allowance,
    record: tuple[int, Mapping[str, Any]] | None = None,
    report: str = "",
) -> SampleView:
    """Return what a page shows of a sample, and of its numbered record, within an allowance."""
    body = body_html(sample, allowance)
    data = sample.model_dump(mode="json", exclude_none=True)
    return SampleView(
        number=number,
        # As its link has it: with the codes of invisible characters.
        id="" if sample.id is None else visible(start_of(str(sample.id), _ID_TEXT)),
        body=body,
        data=_json(data, allowance),
        record=record and _json(record[1], allowance, label=f"record {record[0]:,}"),
        report=report,
    )


def _json(value: Any, allowance: Allowance, *, label: str = "") -> Markup:
    html = json_html(value, allowance, most=_JSON_TEXT, line=_JSON_LINE, label=label)
    return Markup(html)  # nosec B704 # noqa: S704 (it is escaped)
