"""Small bar charts as values, and their forms: SVG and lines of text."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from itertools import accumulate

from registry.base.cells import cell_len, fit, fold, pad
from registry.base.escape import escape_control, start_of
from registry.errors import count_text

__all__ = [
    "Bar",
    "Plot",
    "frequencies",
    "histogram_of_counts",
    "label_line",
    "median_of",
    "plain_lines",
    "ranges_of",
    "svg",
    "text_lines",
]


_TAIL = 0.98
"""Share of the values that get bars of equal width if a few are much larger."""
_STEPS = (1, 2, 5)

_ROW = 18
"""Height of a line, in pixels."""
_CELL = 7.8
"""Width of a digit, in pixels, in the widest usual font of 12 pixels; most letters are narrower."""
_GAP = 6
_LABEL_SHARE = 0.42
"""Share of the width that labels take at most."""

_EIGHTHS = " ▏▎▍▌▋▊▉"
_LEAST_BAR = 4
"""Columns that a bar needs; where there is less room, there are only labels and counts."""
_ASCII = str.maketrans({"–": "-", "≥": ">=", "…": "..."})  # noqa: RUF001 (what is replaced)


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


def histogram_of_counts(
    title: str, counts: Mapping[int, int], *, most: int = 12, unit: str
) -> Plot:
    """Return how many numbers lie in ranges of equal width.

    Args:
        title: Title of the plot.
        counts: How many there are of each number.
        most: Most bars, 3 or more. If few numbers are much larger than the others, the last bar
            has them all.
        unit: What one of the numbers counts, in the note.
    """
    if not counts:
        return Plot(title=title, bars=(), note="no values")
    note = f"median {count_text(median_of(counts), unit)}"
    return Plot(title=title, bars=tuple(_ranges(counts, most)), note=note)


def _ranges(counts: Mapping[int, int], most: int) -> Iterator[Bar]:
    """Yield the bars of a histogram."""
    ranges = ranges_of(counts, most)
    lows = [low for low, _ in ranges]
    sums = [0] * len(ranges)
    for value, count in counts.items():
        sums[bisect_right(lows, value) - 1] += count
    for (_, label), count in zip(ranges, sums, strict=True):
        yield Bar(label=label, count=count)


def ranges_of(counts: Mapping[int, int], most: int = 12) -> list[tuple[int, str]]:
    """Return the least value and the label of each range of a histogram, ascending.

    If few numbers are much larger than the others, the last range has them all.
    """
    least, greatest = min(counts), max(counts)
    end = _ranked(counts, _TAIL * sum(counts.values()))
    # An outlier would push all others into one bar.
    has_tail = greatest - least > 2 * (end - least) and greatest - least >= most
    width = _width(least, end if has_tail else greatest, most - has_tail)
    first, last = least // width, (end if has_tail else greatest) // width
    lows = [number * width for number in range(first, last + 1)]
    labels = [f"{low:,}" if width == 1 else f"{low:,}–{low + width - 1:,}" for low in lows]  # noqa: RUF001 (range)
    tail = [((last + 1) * width, f"≥ {(last + 1) * width:,}")] if has_tail else []
    return [*zip(lows, labels, strict=True), *tail]


def _width(least: int, greatest: int, most: int) -> int:
    """Return the smallest of 1, 2, 5, 10, 20… with which at most so many bars are needed."""
    power = 1
    while True:
        for step in _STEPS:
            width = step * power
            if greatest // width - least // width + 1 <= most:
                return width
        power *= 10


def _ranked(counts: Mapping[int, int], rank: float) -> int:
    """Return the smallest value that so many of the values do not exceed."""
    ordered = sorted(counts)
    return ordered[bisect_left(list(accumulate(map(counts.__getitem__, ordered))), rank)]


def median_of(counts: Mapping[int, int]) -> float:
    """Return the median of numbers of which each is given once, with its count."""
    total = sum(counts.values())
    # The middle one twice, or both of them.
    return (_ranked(counts, (total + 1) // 2) + _ranked(counts, total // 2 + 1)) / 2


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


def label_line(text: str, *, most: int = 1000) -> str:
    """Return a text as one line without control characters; a long one is cut."""
    return escape_control(" ".join(start_of(text, most).split()))


def svg(plot: Plot, *, width: int = 320, style: str = "") -> str:
    """Return a plot as an `<svg>` element: escaped, described, and with a style if one is given.

    A page, or the style, sets `--plot-bar`, `--plot-mark` and `--plot-text`; without them, the
    colors are that of the text around it. Presentation attributes need no permission of a
    Content-Security-Policy.
    """
    lines = 1 + len(plot.bars) + bool(plot.note)
    height = lines * _ROW + _GAP
    styled = f' style="{style}"' if style else ""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" role="img" width="{width}"'
        f' height="{height}" viewBox="0 0 {width} {height}" font-size="12"'
        ' font-family="system-ui, sans-serif" fill="var(--plot-text, currentColor)"'
        f"{styled}>"
    )
    about = (
        f"<title>{escape(label_line(plot.title))}</title><desc>{escape(_described(plot))}</desc>"
    )
    title = _svg_text(plot.title, 0, _baseline(0), width, weight=' font-weight="600"')
    note = _svg_text(plot.note, 0, _baseline(lines - 1), width, weight=' fill-opacity="0.7"')
    rows = "".join(_svg_rows(plot, width))
    return f"{head}{about}{title}{rows}{note if plot.note else ''}</svg>"


def _svg_rows(plot: Plot, width: int) -> Iterator[str]:
    """Yield label, bar and count of each bar."""
    labels = [label_line(bar.label) for bar in plot.bars]
    cells = int(width * _LABEL_SHARE / _CELL)
    left = round(max((min(cell_len(one), cells) for one in labels), default=0) * _CELL) + _GAP
    most = max((bar.count for bar in plot.bars), default=0)
    counts = round(cell_len(f"{most:,}") * _CELL) + _GAP
    room = max(width - left - counts, 0)
    for index, (label, bar) in enumerate(zip(labels, plot.bars, strict=True), 1):
        length = round(room * bar.count / most, 1) if most else 0
        y = _baseline(index)
        yield _svg_text(fit(label, cells), left - _GAP, y, width, weight=' text-anchor="end"')
        if bar.count:
            yield _svg_bar(bar, left, y, max(length, 1))
        yield _svg_text(f"{bar.count:,}", round(left + length + _GAP / 2, 1), y, width)


def _svg_bar(bar: Bar, left: int, y: int, length: float) -> str:
    name = "plot-mark" if bar.marked else "plot-bar"
    opacity = "1" if bar.marked else "0.6"
    return (
        f'<rect class="{name}" x="{left}" y="{y - 11}" width="{length}" height="13" rx="2"'
        f' fill="var(--{name}, currentColor)" fill-opacity="{opacity}"/>'
    )


def _baseline(index: int) -> int:
    """Return the base line of a line of text."""
    return index * _ROW + 13


def _svg_text(text: str, x: float, y: int, width: int, *, weight: str = "") -> str:
    shown = fit(label_line(text), max(int(width / _CELL), 1))
    return f'<text x="{x}" y="{y}"{weight}>{escape(shown)}</text>'


def _described(plot: Plot) -> str:
    """Return the plot in words, for screen readers."""
    rows = (f"{fit(label_line(bar.label), 80)}: {bar.count:,}" for bar in plot.bars)
    return "; ".join(filter(None, (", ".join(rows), label_line(plot.note))))


def text_lines(plot: Plot, *, width: int, ascii_only: bool) -> list[str]:
    """Return a plot as lines that are at most so many columns wide, if labels and counts fit."""
    encode = _to_ascii if ascii_only else str
    title, note = encode(label_line(plot.title)), encode(label_line(plot.note))
    return [
        *fold(title, width),
        *_text_rows(plot, width, ascii_only=ascii_only),
        *(fold(f"  {note}", width, "  ") if note else ()),
    ]


def plain_lines(plot: Plot, *, ascii_only: bool) -> list[str]:
    """Return a plot as lines of words and numbers, without columns, for screen readers."""
    note = f", {plot.note}" if plot.note else ""
    rows = (f"{label_line(bar.label)}: {bar.count:,}" for bar in plot.bars)
    lines = [label_line(f"{plot.title}{note}"), *rows]
    return list(map(_to_ascii, lines)) if ascii_only else lines


def _text_rows(plot: Plot, width: int, *, ascii_only: bool) -> Iterator[str]:
    """Yield a line per bar: label, bar and count."""
    encode = _to_ascii if ascii_only else str
    labels = [encode(label_line(bar.label)) for bar in plot.bars]
    counts = [f"{bar.count:,}" for bar in plot.bars]
    count_width = max(map(len, counts), default=0)
    most = max((bar.count for bar in plot.bars), default=0)
    longest = max(map(cell_len, labels), default=0)
    # Two spaces before each of the three columns, and a mark behind the counts.
    label_width = max(min(longest, max(width // 3, width - count_width - 40)), 1)
    room = width - 2 - label_width - 2 - count_width - 2 - 2
    for label, count, bar in zip(labels, counts, plot.bars, strict=True):
        shown = pad(fit(label, label_width, ellipsis="..." if ascii_only else "…"), label_width)
        drawn = (
            f"  {_text_bar(bar, most, room, ascii_only=ascii_only)}" if room >= _LEAST_BAR else ""
        )
        # A mark has its column, so that the bars begin in the same one.
        yield f"  {shown}  {count:>{count_width}}{' *' if bar.marked else '  '}{drawn}".rstrip()


def _text_bar(bar: Bar, most: int, room: int, *, ascii_only: bool) -> str:
    """Return the bar of a count; a count that is not 0 has a bar."""
    if ascii_only:
        return "#" * (max(1, room * bar.count // most) if bar.count else 0)
    eighths = max(1, room * 8 * bar.count // most) if bar.count else 0
    full, rest = divmod(eighths, 8)
    return "█" * full + _EIGHTHS[rest].strip()


def _to_ascii(text: str) -> str:
    return text.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")
