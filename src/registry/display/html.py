"""How objects show themselves: HTML for a notebook's cell, plots below it, and shortened values."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from registry.base.escape import JOINERS, escape_control, show_invisible
from registry.errors import count_text
from registry.plots import Plot, plain_lines, svg, text_lines

__all__ = [
    "MOST_BYTES",
    "Allowance",
    "Short",
    "Taken",
    "block",
    "content_html",
    "cut",
    "escape_visible",
    "plots_html",
    "plots_text",
    "sample_css",
    "table",
    "visible",
]


MOST_BYTES = 30_000
"""A notebook is saved with its outputs, so that one of them must be small."""

# Variables of JupyterLab and VS Code, with a color for elsewhere. GitHub, and JupyterLab in a
# notebook that is not trusted (it ran on another machine), drop the style and what is not HTML,
# such as `<svg>`, of which the texts remain: there, tables, lists and pictures have to do.
_STYLE = """\
.registry-repr{font-size:13px;line-height:1.45;max-width:70em;overflow-x:auto;\
--page:var(--jp-layout-color0,var(--vscode-editor-background,#fff));\
--panel:color-mix(in srgb,currentColor 6%,transparent);--code:var(--panel);\
--user:color-mix(in srgb,var(--accent) 12%,transparent);\
--muted:var(--jp-ui-font-color2,var(--vscode-descriptionForeground,#545f6a));\
--line:var(--jp-border-color2,var(--vscode-panel-border,#d4dae1));\
--accent:var(--jp-brand-color1,var(--vscode-charts-blue,#0a55c4));\
--good:var(--jp-success-color1,var(--vscode-charts-green,#0f6534));\
--good-panel:color-mix(in srgb,var(--good) 10%,transparent);\
--warn:var(--jp-warn-color1,var(--vscode-charts-yellow,#7a4b00));\
--code-keyword:var(--jp-mirror-editor-keyword-color,#8a2a8f);\
--code-string:var(--jp-mirror-editor-string-color,#0f6534);\
--code-number:var(--jp-mirror-editor-number-color,#8a4300);\
--code-name:var(--jp-mirror-editor-def-color,#0a4ea8);\
--mono:var(--jp-code-font-family,ui-monospace,monospace);\
--plot-bar:var(--jp-brand-color1,var(--vscode-charts-blue,#3572b0));\
table{border-collapse:collapse;margin:.4em 0}\
th,td{text-align:start!important;unicode-bidi:plaintext;vertical-align:top;\
padding:.2em .7em .2em 0;white-space:pre-wrap;overflow-wrap:anywhere;max-width:40em}\
th{opacity:.75;font-weight:600;white-space:nowrap}\
ul{padding:0}dl{background:none}pre.code{background:var(--code)!important}\
.plots{display:flex;flex-wrap:wrap;gap:1em;padding-left:.7em}\
"""

# JupyterLab and nbconvert align cells to the right by two classes. What is not trusted keeps this
# attribute, with these words: no `start`.
_START = 'style="text-align:left"'
_SAFE = " /:;,=()'"
# Else MathJax, of JupyterLab and of nbconvert's pages, makes a formula of what is between prices.
_AS_IT_IS = "mathjax_ignore tex2jax_ignore"
# Grey has a contrast of at least 4.3 on the white and on the black of a notebook's theme, which a
# picture can't ask for.
_PLOT_COLORS = "--plot-text:#767676;--plot-bar:#4a8fd6;--plot-mark:#c8741e"

_NOTE = 600
"""Bytes of the line below the plots."""

_LONGEST = 500
_MOST_ITEMS = 30


def visible(text: str) -> str:
    """Return a text with its lines, and codes in place of characters that are invisible.

    Browsers obey bidi controls even where they are escaped as HTML, and a lone surrogate can't be
    written to a file.
    """
    return show_invisible(text.replace("\r\n", "\n"))


def escape_visible(text: str) -> str:
    """Return a text of `visible` as the content of an element, where quotes mean nothing.

    Escaping quotes too would make JSON half as long again.
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def content_html(text: str) -> str:
    """Return any text as the content of an element."""
    return escape_visible(visible(text))


def cut(text: str, most: int) -> tuple[str, str]:
    """Return the start of a text, and a note of how much of it is not shown, or an empty str."""
    more = len(text) - most
    if more <= 0:
        return text, ""
    # A joiner at the end would have lost what it joins.
    start = text[:most].rstrip(JOINERS)
    return start, f"{count_text(more, 'more character')} of {len(text):,} not shown"


class Taken(NamedTuple):
    """What there is room for of a text."""

    text: str
    html: str
    note: str
    """What is left out."""


class Allowance:
    """How many bytes of a page some texts, and some pictures, may take together."""

    def __init__(
        self,
        size: int,
        *,
        pictures: int = 0,
        is_code: bool = False,
        is_whole: bool = False,
        is_saved: bool = False,
    ) -> None:
        self.left = size
        self.pictures = pictures
        self.is_code = is_code
        """Whether the texts are of a dataset about code."""
        self.is_whole = is_whole
        """Whether no text and no list is cut for what else there is, but only for the size."""
        self.is_saved = is_saved
        """Whether it is the output of a cell: where tags of formulas are dropped, x² reads x2."""

    def take(self, text: str, most: int) -> Taken:
        """Return the start of a text: at most `most` characters, as many as there is room for."""
        start, note = cut(text, len(text) if self.is_whole else most)
        html = content_html(start)
        size = _bytes(html)
        if size > max(self.left, 0):
            # A character takes up to 10 bytes, so that the share that fits is an estimate.
            start, note = cut(text, len(start) * max(self.left, 0) // size)
            html = content_html(start)
            size = _bytes(html)
        self.left -= size
        return Taken(start, html, note)

    def line(self, text: str, most: int) -> str:
        """Return the start of a text as HTML, and behind it what is left out."""
        taken = self.take(text, most)
        return taken.html + (f" <i>… {taken.note}</i>" if taken.note else "")

    def most(self, number: int) -> int | None:
        """Return how many items of a list are shown, where usually so many are."""
        return None if self.is_whole else number

    def add(self, html: str, *, instead_of: str = "") -> bool:
        """Count HTML if there is room for it, in place of what was counted before."""
        size = _bytes(html) - _bytes(instead_of)
        if size > self.left:
            return False
        self.left -= size
        return True


def _bytes(html: str) -> int:
    return len(html) if html.isascii() else len(html.encode())


@functools.cache
def sample_css() -> str:
    """Return the style of samples, whose colors are variables of a page or of a notebook."""
    return (Path(__file__).parent / "sample.css").read_text(encoding="utf-8")


def block(*parts: str) -> str:
    """Return parts in one element, with the style that belongs to them and applies to no other."""
    style = f"{_STYLE}{sample_css()}}}"
    return f'<div class="registry-repr {_AS_IT_IS}"><style>{style}</style>{"".join(parts)}</div>'


def table(rows: Iterable[Sequence[str]], *, headers: Sequence[str] = ()) -> str:
    """Return a table of cells that are HTML; without headers, the first of a row is its header."""
    head = "".join(f'<th scope="col" {_START}>{one}</th>' for one in headers)
    body = []
    for row in rows:
        cells = [f"<td {_START}>{cell}</td>" for cell in row]
        if not headers:
            cells[0] = f'<th scope="row" {_START}>{row[0]}</th>'
        body.append(f"<tr>{''.join(cells)}</tr>")
    top = f"<thead><tr>{head}</tr></thead>" if head else ""
    return f"<table>{top}<tbody>{''.join(body)}</tbody></table>"


def plots_html(plots: Sequence[Plot], note: str, *, most: int) -> str:
    """Return the plots that fit into `most` bytes, and a note below them."""
    left = most - _NOTE
    shown = []
    for plot in plots:
        words = escape("\n".join(plain_lines(plot, ascii_only=False)), quote=True)
        source = quote(svg(plot, style=_PLOT_COLORS), safe=_SAFE)
        drawing = f'<img alt="{words}" src="data:image/svg+xml,{source}">'
        left -= _bytes(drawing)
        if left < 0:
            break
        shown.append(drawing)
    drawn = f'<div class="plots">{"".join(shown)}</div>' if shown else ""
    rest = len(plots) - len(shown)
    more = f"{count_text(rest, 'more plot')}: too long to show here" if rest else ""
    below = Allowance(_NOTE - 100).line("; ".join(filter(None, (more, note))), _NOTE)
    return drawn + (f"<i>{below}</i>" if below else "")


def plots_text(plots: Iterable[Plot], note: str, *, width: int, ascii_only: bool) -> Iterator[str]:
    """Yield the lines of plots, each after an empty one, and of a note."""
    for plot in plots:
        yield ""
        yield from text_lines(plot, width=width, ascii_only=ascii_only)
    if note:
        yield from ("", escape_control(note))


class Short:
    """The start of a text or of a value, and how many characters follow, as rich writes it."""

    def __init__(self, shown: str, rest: int) -> None:
        self._shown = shown
        self._rest = rest

    def __repr__(self) -> str:
        return f"{self._shown}+{self._rest}"

    @classmethod
    def of(cls, value: Any) -> Any:
        """Return a value, or a copy in which long texts and lists are shortened."""
        if type(value) is dict:
            items = islice(value.items(), _MOST_ITEMS)
            more = {More(len(value) - _MOST_ITEMS): ...} if len(value) > _MOST_ITEMS else {}
            return {_leaf(key): _leaf(one) for key, one in items} | more
        if type(value) is list:
            rest = [More(len(value) - _MOST_ITEMS)] if len(value) > _MOST_ITEMS else []
            return [*map(_leaf, value[:_MOST_ITEMS]), *rest]
        return _leaf(value)


def _leaf(value: Any) -> Any:
    """Return a value, or the start of it if it is long, whatever is in it."""
    text = value if isinstance(value, str) else repr(value)
    if len(text) <= _LONGEST:
        return value
    start = text[:_LONGEST]
    return Short(repr(start) if isinstance(value, str) else start, len(text) - _LONGEST)


class More:
    """Stands for items that are left out."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __repr__(self) -> str:
        return f"… {self._count:,} more"
