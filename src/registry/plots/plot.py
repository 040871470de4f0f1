"""A bar chart as a value: how often values occur, or how numbers are distributed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Bar", "Plot", "frequencies", "histogram", "histogram_of_counts", "median_of"]

_TAIL = 0.98
"""Share of the values that get bars of equal width if a few are much larger."""
_STEPS = (1, 2, 5)


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A row of a plot."""

    label: str
    """What is counted; any text, which the forms escape and shorten."""
    count: int
    marked: bool = False
    """Whether it stands out, such as a blank target."""


@dataclass(frozen=True, kw_only=True)
class Plot:
    """A bar chart."""

    title: str
    bars: tuple[Bar, ...]
    note: str = ""
    """What the bars do not show, such as `median 213 characters` or `12 more`."""


def histogram(title: str, values: Sequence[int], *, most: int = 12, unit: str = "") -> Plot:
    """Return how many numbers lie in ranges of equal width.

    Args:
        title: Title of the plot.
        values: The numbers.
        most: Most bars, 3 or more. If few numbers are much larger than the others, the last bar
            has them all.
        unit: What the numbers count, in the note.
    """
    return histogram_of_counts(title, Counter(values), most=most, unit=unit)


def histogram_of_counts(
    title: str, counts: Mapping[int, int], *, most: int = 12, unit: str = ""
) -> Plot:
    """Return `histogram` of numbers of which each is given once, with its count."""
    if not counts:
        return Plot(title=title, bars=(), note="no values")
    note = " ".join(filter(None, (f"median {_number(median_of(counts))}", unit)))
    return Plot(title=title, bars=tuple(_ranges(counts, most)), note=note)


def _ranges(counts: Mapping[int, int], most: int) -> Iterator[Bar]:
    """Yield the bars of a histogram."""
    least, greatest = min(counts), max(counts)
    end = _rank(counts, _TAIL)
    # An outlier would push all others into one bar.
    has_tail = greatest - least > 2 * (end - least) and greatest - least >= most
    width = _width(least, end if has_tail else greatest, most - has_tail)
    first = least // width
    bars = ((end if has_tail else greatest) // width) - first + 1
    sums = [0] * (bars + has_tail)
    for value, count in counts.items():
        sums[min(value // width - first, len(sums) - 1)] += count
    for index, count in enumerate(sums):
        low = (first + index) * width
        label = f"{low:,}" if width == 1 else f"{low:,}–{low + width - 1:,}"  # noqa: RUF001 (range)
        yield Bar(label=f"≥ {low:,}" if has_tail and index == bars else label, count=count)


def _width(least: int, greatest: int, most: int) -> int:
    """Return the smallest of 1, 2, 5, 10, 20… with which at most so many bars are needed."""
    power = 1
    while True:
        for step in _STEPS:
            width = step * power
            if greatest // width - least // width + 1 <= most:
                return width
        power *= 10


def _rank(counts: Mapping[int, int], share: float) -> int:
    """Return the smallest value that so large a share of the values does not exceed."""
    total, seen = sum(counts.values()), 0
    for value in sorted(counts):
        seen += counts[value]
        if seen >= share * total:
            return value
    raise ValueError("no values")


def median_of(counts: Mapping[int, int]) -> float:
    """Return the median of numbers of which each is given once, with its count."""
    total, seen = sum(counts.values()), 0
    middle: list[int] = []
    for value in sorted(counts):
        seen += counts[value]
        # The middle one, or both of them.
        middle += [value] * (
            sum(seen > rank for rank in ((total - 1) // 2, total // 2)) - len(middle)
        )
        if len(middle) == 2:
            return sum(middle) / 2
    raise ValueError("no values")


def frequencies(title: str, counts: Mapping[str, int], *, most: int = 10) -> Plot:
    """Return the most frequent values, those of equal counts in their order; marks blank ones."""
    ranked = sorted(counts.items(), key=lambda item: -item[1])
    bars = tuple(
        Bar(label=value if value.strip() else "(blank)", count=count, marked=not value.strip())
        for value, count in ranked[:most]
    )
    rest = [count for _, count in ranked[most:]]
    note = f"{len(rest):,} more, {sum(rest):,} in total" if rest else ""
    return Plot(title=title, bars=bars, note=note)


def _number(value: float) -> str:
    return f"{value:,.1f}".removesuffix(".0")
