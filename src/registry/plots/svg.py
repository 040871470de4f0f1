"""A plot as SVG, for any page: escaped, described, and without style attributes.

A page sets `--plot-bar`, `--plot-mark` and `--plot-text`; without them, the colors are that of the
text around it. Presentation attributes need no permission of a Content-Security-Policy.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from registry.plots.labels import cell_width, fit, label_line
from registry.plots.plot import Bar, Plot

__all__ = ["svg"]

_ROW = 18
"""Height of a line, in pixels."""
_CELL = 7.8
"""Width of a digit, in pixels, in the widest usual font of 12 pixels; most letters are narrower."""
_GAP = 6
_LABEL_SHARE = 0.42
"""Share of the width that labels take at most."""


def svg(plot: Plot, *, width: int = 320) -> str:
    """Return a plot as an `<svg>` element."""
    lines = 1 + len(plot.bars) + bool(plot.note)
    height = lines * _ROW + _GAP
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" role="img" width="{width}"'
        f' height="{height}" viewBox="0 0 {width} {height}" font-size="12"'
        ' font-family="system-ui, sans-serif" fill="var(--plot-text, currentColor)">'
    )
    about = f"<title>{escape(label_line(plot.title))}</title><desc>{escape(_words(plot))}</desc>"
    title = _line(plot.title, 0, _row(0), width, weight=' font-weight="600"')
    note = _line(plot.note, 0, _row(lines - 1), width, weight=' fill-opacity="0.7"')
    rows = "".join(_rows(plot, width))
    return f"{head}{about}{title}{rows}{note if plot.note else ''}</svg>"


def _rows(plot: Plot, width: int) -> Iterator[str]:
    """Yield label, bar and count of each bar."""
    labels = [label_line(bar.label) for bar in plot.bars]
    cells = int(width * _LABEL_SHARE / _CELL)
    left = round(max((min(cell_width(one), cells) for one in labels), default=0) * _CELL) + _GAP
    most = max((bar.count for bar in plot.bars), default=0)
    counts = round(cell_width(f"{most:,}") * _CELL) + _GAP
    room = max(width - left - counts, 0)
    for index, (label, bar) in enumerate(zip(labels, plot.bars, strict=True), 1):
        length = round(room * bar.count / most, 1) if most else 0
        y = _row(index)
        yield _line(fit(label, cells), left - _GAP, y, width, weight=' text-anchor="end"')
        if bar.count:
            yield _rect(bar, left, y, max(length, 1))
        yield _line(f"{bar.count:,}", round(left + length + _GAP / 2, 1), y, width)


def _rect(bar: Bar, left: int, y: int, length: float) -> str:
    name = "plot-mark" if bar.marked else "plot-bar"
    opacity = "1" if bar.marked else "0.6"
    return (
        f'<rect class="{name}" x="{left}" y="{y - 11}" width="{length}" height="13" rx="2"'
        f' fill="var(--{name}, currentColor)" fill-opacity="{opacity}"/>'
    )


def _row(index: int) -> int:
    """Return the base line of a line of text."""
    return index * _ROW + 13


def _line(text: str, x: float, y: int, width: int, *, weight: str = "") -> str:
    shown = fit(label_line(text), max(int(width / _CELL), 1))
    return f'<text x="{x}" y="{y}"{weight}>{escape(shown)}</text>'


def _words(plot: Plot) -> str:
    """Return the plot in words, for screen readers."""
    rows = (f"{fit(label_line(bar.label), 80)}: {bar.count:,}" for bar in plot.bars)
    return "; ".join(filter(None, (", ".join(rows), label_line(plot.note))))
