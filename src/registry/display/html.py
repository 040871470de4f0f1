"""HTML for the output of a notebook's cell: escaped, small, and readable without its style."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from registry.base.escape import escaped_characters

__all__ = ["MOST_BYTES", "Budget", "block", "table"]

MOST_BYTES = 30_000
"""A notebook is saved with its outputs, so that one of them must be small."""

# Important, as JupyterLab and nbconvert align the cells of tables to the right by two classes.
# Variables of JupyterLab and VS Code, with a color for elsewhere. GitHub, and notebooks that are
# not trusted, drop the style: what remains are tables.
_STYLE = """\
.registry-repr{font-size:13px;line-height:1.45;max-width:70em;overflow-x:auto;\
--plot-bar:var(--jp-brand-color1,var(--vscode-charts-blue,#3572b0))}\
.registry-repr table{border-collapse:collapse;margin:.4em 0}\
.registry-repr th,.registry-repr td{text-align:start!important;unicode-bidi:plaintext;\
vertical-align:top;padding:.2em .7em .2em 0;\
white-space:pre-wrap;overflow-wrap:anywhere;max-width:40em}\
.registry-repr th{opacity:.75;font-weight:600;white-space:nowrap}\
.registry-repr mark{background:none;color:inherit;font-weight:600}\
.registry-repr .plots{display:flex;flex-wrap:wrap;gap:1em;padding-left:.7em}\
.registry-repr svg{overflow:visible}\
"""


class Budget:
    """Escapes texts, and cuts them so that all of them together have a limited size."""

    def __init__(self, size: int) -> None:
        self.left = size
        """Bytes of UTF-8 that are left."""

    def text(self, value: object, most: int) -> str:
        """Return a text as HTML, of at most `most` bytes and a note of what was cut."""
        text = str(value)
        room = min(most, self.left)
        # A character needs a byte, so no more than these can fit.
        parts, count = [], 0
        for character in escaped_characters(text[: max(room, 0)], keep_lines=True):
            part = escape(character)
            room -= len(part.encode())
            if room < 0:
                break
            parts.append(part)
            count += 1
        shown = "".join(parts)
        self.left -= len(shown.encode())
        cut = len(text) - count
        return shown + (f" <i>… {cut:,} more characters</i>" if cut else "")


def block(*parts: str) -> str:
    """Return parts in one element, with the style that belongs to them."""
    return f'<div class="registry-repr"><style>{_STYLE}</style>{"".join(parts)}</div>'


def table(rows: Iterable[Sequence[str]], *, headers: Sequence[str] = ()) -> str:
    """Return a table of cells that are HTML; without headers, the first of a row is its header."""
    head = "".join(f'<th scope="col">{one}</th>' for one in headers)
    body = []
    for row in rows:
        cells = [f"<td>{cell}</td>" for cell in row]
        if not headers:
            cells[0] = f'<th scope="row">{row[0]}</th>'
        body.append(f"<tr>{''.join(cells)}</tr>")
    top = f"<thead><tr>{head}</tr></thead>" if head else ""
    return f"<table>{top}<tbody>{''.join(body)}</tbody></table>"
