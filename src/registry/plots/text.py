"""A plot as lines of text, for terminals of any width and encoding."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from registry.plots.labels import cell_width, fit, label_line
from registry.plots.plot import Bar, Plot

__all__ = ["plain_lines", "text_lines"]

_EIGHTHS = " ▏▎▍▌▋▊▉"
_LEAST_BAR = 4
"""Columns that a bar needs; where there is less room, there are only labels and counts."""
_ASCII = str.maketrans({"–": "-", "≥": ">=", "…": "..."})  # noqa: RUF001 (what is replaced)


def text_lines(plot: Plot, *, width: int, ascii_only: bool) -> list[str]:
    """Return a plot as lines that are at most so many columns wide, if labels and counts fit."""
    encode = _to_ascii if ascii_only else str
    title, note = encode(label_line(plot.title)), encode(label_line(plot.note))
    return [
        *textwrap.wrap(title, width),
        *_rows(plot, width, ascii_only=ascii_only),
        *textwrap.wrap(note, width, initial_indent="  ", subsequent_indent="  "),
    ]


def plain_lines(plot: Plot, *, ascii_only: bool) -> list[str]:
    """Return a plot as lines of words and numbers, without columns, for screen readers."""
    note = f", {plot.note}" if plot.note else ""
    rows = (f"{label_line(bar.label)}: {bar.count:,}" for bar in plot.bars)
    lines = [label_line(f"{plot.title}{note}"), *rows]
    return list(map(_to_ascii, lines)) if ascii_only else lines


def _rows(plot: Plot, width: int, *, ascii_only: bool) -> Iterator[str]:
    """Yield a line per bar: label, bar and count."""
    encode = _to_ascii if ascii_only else str
    labels = [encode(label_line(bar.label)) for bar in plot.bars]
    counts = [f"{bar.count:,}" for bar in plot.bars]
    count_width = max(map(len, counts), default=0)
    most = max((bar.count for bar in plot.bars), default=0)
    longest = max(map(cell_width, labels), default=0)
    # Two spaces before each of the three columns, and a mark behind the counts.
    label_width = max(min(longest, max(width // 3, width - count_width - 40)), 1)
    room = width - 2 - label_width - 2 - count_width - 2 - 2
    for label, count, bar in zip(labels, counts, plot.bars, strict=True):
        shown = fit(label, label_width, ellipsis="..." if ascii_only else "…")
        padded = shown + " " * (label_width - cell_width(shown))
        drawn = f"  {_bar(bar, most, room, ascii_only=ascii_only)}" if room >= _LEAST_BAR else ""
        # A mark has its column, so that the bars begin in the same one.
        yield f"  {padded}  {count:>{count_width}}{' *' if bar.marked else '  '}{drawn}".rstrip()


def _bar(bar: Bar, most: int, room: int, *, ascii_only: bool) -> str:
    """Return the bar of a count; a count that is not 0 has a bar."""
    if ascii_only:
        return "#" * (max(1, room * bar.count // most) if bar.count else 0)
    eighths = max(1, room * 8 * bar.count // most) if bar.count else 0
    full, rest = divmod(eighths, 8)
    return "█" * full + _EIGHTHS[rest].strip()


def _to_ascii(text: str) -> str:
    return text.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")
