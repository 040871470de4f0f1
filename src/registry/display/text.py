"""A text of a sample as HTML: as it reads and as it is, in its direction; a long one folded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from registry.display.code import code_html, passages
from registry.display.html import Allowance, content_html, cut, escape_visible, visible
from registry.display.markdown import markdown_html
from registry.errors import count_text

__all__ = ["LABEL_TEXT", "VALUE_TEXT", "block", "json_html", "note_html", "text_html"]

VALUE_TEXT = 1_000
"""Characters of a value of the metadata, of an argument and the like."""
LABEL_TEXT = 200
_LINE_TEXT = 240
"""Characters of JSON that is not indented: metadata must not fill the screen."""
_FOLDED, _LEAST_REST, _LINE = 30, 6, 100
"""Lines that are seen of a longer text, the fewest that are worth hiding, characters of one."""


def text_html(text: str, most: int, allowance: Allowance, *, label: str = "") -> str:
    """Return a text as HTML: as it reads, if it has code, Markdown or formulas, and as it is."""
    if not text.strip():
        word = f"only white space: {count_text(len(text), 'character')}" if text else "empty"
        return block(label, "", word)
    taken = allowance.take(text, most)
    body = f'<div class="text" dir="auto">{taken.html}</div>' if taken.html else ""
    if taken.html:
        body = _folded(_drawn(taken.text, body, allowance), taken.text)
    return block(label, body, taken.note)


def _drawn(text: str, raw: str, allowance: Allowance) -> str:
    """Return a text as it reads if there is room for it, else the raw one."""
    parts = list(passages(text, is_code=allowance.is_code))
    if any(one.language is not None for one in parts):
        html = "".join(_passages(parts))  # each character as it is: there is nothing to look up
        return html if allowance.add(html, instead_of=raw) else raw
    html = markdown_html(visible(text), escape_visible)
    if not html or not allowance.add(html):
        return raw
    drawn = f'<div class="text drawn" dir="auto">{html}</div>'
    if allowance.is_saved and "<math" in html:
        first, second, name, word = raw, drawn, "read", "Rendered"
    else:
        first, second, name, word = drawn, raw, "raw", "Raw text"
    details = f'<details class="{name}"><summary>{word}</summary>{second}</details>'
    return f'<div class="rich">{first}{details}</div>'


def _passages(parts: list[Any]) -> Iterator[str]:
    for one in parts:
        if one.language is None:
            yield f'<div class="text" dir="auto">{content_html(one.text)}</div>'
        else:
            yield _code(code_html(visible(one.text), one.language, escape_visible))


def _folded(body: str, text: str) -> str:
    """Return what is seen of a long text at first, with a switch that shows it all."""
    lines = sum(len(line) // _LINE + 1 for line in text.splitlines())
    if lines < _FOLDED + _LEAST_REST:
        return body
    return (
        f'<div class="fold"><div class="folded">{body}</div>'
        f'<label class="unfold"><input type="checkbox"> all {lines:,} lines</label></div>'
    )


def json_html(
    value: Any,
    allowance: Allowance,
    *,
    most: int = VALUE_TEXT,
    line: int = _LINE_TEXT,
    label: str = "",
) -> str:
    """Return a value as JSON in HTML: on one line of at most `line` characters, or indented."""
    taken = allowance.take(_json_text(value, line), most)
    return block(label, _code(taken.html), taken.note)


def note_html(note: str) -> str:
    """Return a remark about a sample."""
    return block("", "", note)


def block(label: str, body: str, note: str) -> str:
    """Return a part of a sample: HTML below a label, and a remark below it."""
    parts = []
    if label:
        parts.append(f'<span class="label">{content_html(cut(label, LABEL_TEXT)[0])}</span>')
    if body:
        parts.append(body)
    if note:
        parts.append(f'<p class="quiet small">{content_html(note)}</p>')
    return "\n".join(parts)


def _code(html: str) -> str:
    return f'<pre class="code" dir="ltr"><code>{html}</code></pre>'


def _json_text(value: Any, line: int) -> str:
    """Return JSON as `json.dumps` indents it, on one line if it is short."""
    text = json.dumps(value, ensure_ascii=False, default=_unknown)
    if len(text) <= line:
        return text
    try:
        # json indents in Python, which takes ten times as long.
        return msgspec.json.format(text)
    except (UnicodeEncodeError, msgspec.DecodeError):  # a lone surrogate, or NaN
        return json.dumps(value, ensure_ascii=False, default=_unknown, indent=2)


def _unknown(value: Any) -> str:
    return count_text(len(value), "byte") if isinstance(value, bytes) else str(value)
