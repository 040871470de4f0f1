"""Plots below an object, as HTML and as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from registry.base.escape import escape_control
from registry.display.html import Budget
from registry.errors import count_text
from registry.plots.plot import Plot
from registry.plots.svg import svg
from registry.plots.text import text_lines

__all__ = ["plots_html", "plots_text"]

_NOTE = 600
"""Bytes of the line below the plots."""


def plots_html(plots: Sequence[Plot], note: str, *, most: int) -> str:
    """Return the plots that fit into `most` bytes, and a note below them."""
    left = most - _NOTE
    shown = []
    for drawing in map(svg, plots):
        left -= len(drawing.encode())
        if left < 0:
            break
        shown.append(drawing)
    drawn = f'<div class="plots">{"".join(shown)}</div>' if shown else ""
    rest = len(plots) - len(shown)
    more = f"{count_text(rest, 'more plot')}: too long to show here" if rest else ""
    below = Budget(_NOTE - 100).text("; ".join(filter(None, (more, note))), _NOTE)
    return drawn + (f"<i>{below}</i>" if below else "")


def plots_text(plots: Iterable[Plot], note: str, *, width: int, ascii_only: bool) -> Iterator[str]:
    """Yield the lines of plots, each after an empty one, and of a note."""
    for plot in plots:
        yield ""
        yield from text_lines(plot, width=width, ascii_only=ascii_only)
    if note:
        yield from ("", escape_control(note))
