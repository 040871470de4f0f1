"""Texts, JSON and pictures of samples as HTML, each within an allowance.

They are written here and not in a template, as a page has hundreds of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
from markupsafe import Markup, escape

from registry.api import count_text
from registry.plugins.site.text import content_html, cut

__all__ = [
    "LABEL_TEXT",
    "VALUE_TEXT",
    "Allowance",
    "data_uri_text",
    "json_html",
    "note_html",
    "picture_html",
    "text_html",
    "value_html",
]

VALUE_TEXT = 1_000
"""Characters of a value of the metadata, of an argument and the like."""
LABEL_TEXT = 200
_LINE_TEXT = 240
"""Characters of JSON that is not indented: metadata must not fill the screen."""
_FENCE = re.compile(r"(?ms)^ {0,3}(`{3,}|~{3,})[^\n`]*\n(.*?)^ {0,3}\1[ \t]*$\n?")
# Formats that a browser only draws: SVG could contain links and scripts.
_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp|avif|bmp);base64,[A-Za-z0-9+/=\s]+")


def text_html(text: str, most: int, allowance: Allowance, *, label: str = "") -> Markup:
    """Return a text as HTML, with Markdown's fenced code as code."""
    shown, note = allowance.take(text, most)
    return _block(label, "\n".join(_passages(shown)), note)


def json_html(
    value: Any,
    allowance: Allowance,
    *,
    most: int = VALUE_TEXT,
    line: int = _LINE_TEXT,
    label: str = "",
) -> Markup:
    """Return a value as JSON in HTML: on one line of at most `line` characters, or indented."""
    shown, note = allowance.take(_json_text(value, line), most)
    return _block(label, _code(shown), note)


def picture_html(where: str, allowance: Allowance) -> Markup:
    """Return a picture that is in the sample itself: a page requests nothing, and reads no file."""
    if not where.startswith("data:"):
        return text_html(where, VALUE_TEXT, allowance, label="image elsewhere")
    if not _PICTURE.fullmatch(where):
        return _block("image", "", f"{data_uri_text(where)} not shown")
    if len(where) > allowance.pictures:
        return _block("image", "", f"{data_uri_text(where)} not shown, as it is too large")
    allowance.pictures -= len(where)
    return _block("", f'<img src="{escape(where)}" alt="Image of the sample" loading="lazy">', "")


def value_html(value: Any, allowance: Allowance) -> Markup:
    """Return a value of any type as HTML: a str as text, most others as JSON."""
    if isinstance(value, str):
        if value.startswith("data:image/"):
            return picture_html(value, allowance)
        return text_html(value, VALUE_TEXT, allowance)
    if isinstance(value, bytes):
        return _block("", "", count_text(len(value), "byte"))
    if value is None or isinstance(value, bool | int | float):
        return text_html(json.dumps(value), VALUE_TEXT, allowance)
    return json_html(value, allowance)


def note_html(note: str) -> Markup:
    """Return a remark of the page about a sample."""
    return _block("", "", note)


def data_uri_text(uri: str) -> str:
    """Return what a data URI contains, without its data."""
    kind = uri[5:60].partition(",")[0].partition(";")[0] or "text/plain"
    return f"{kind}, a data URI of {count_text(len(uri), 'character')},"


def _block(label: str, body: str, note: str) -> Markup:
    parts = []
    if label:
        parts.append(f'<span class="label">{content_html(cut(label, LABEL_TEXT)[0])}</span>')
    if body:
        parts.append(body)
    if note:
        parts.append(f'<p class="quiet small">{content_html(note)}</p>')
    return Markup("\n".join(parts))  # nosec B704 # noqa: S704 (each part is escaped)


def _passages(html: str) -> Iterator[str]:
    """Yield the parts of an escaped text: Markdown's fenced code, and what is between."""
    start = 0
    if "```" in html or "~~~" in html:
        for fence in _FENCE.finditer(html):
            if before := html[start : fence.start()]:
                yield _plain(before)
            yield _code(fence[2])
            start = fence.end()
    if rest := html[start:]:
        yield _plain(rest)


def _plain(html: str) -> str:
    return f'<div class="text">{html}</div>'


def _code(html: str) -> str:
    return f'<pre class="code"><code>{html}</code></pre>'


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


class Allowance:
    """How many bytes of a page some texts, and some pictures, may take together."""

    def __init__(self, size: int, *, pictures: int = 0) -> None:
        self.left = size
        self.pictures = pictures

    def take(self, text: str, most: int) -> tuple[str, str]:
        """Return the start of a text as HTML, and a note of what is left out of it.

        Args:
            text: The text; at most `most` characters of it are shown.
            most: How many characters.
        """
        html = content_html(text[:most])
        size = _bytes(html)
        if size > max(self.left, 0):
            # A character takes up to 10 bytes, so that the share that fits is an estimate.
            most = min(most, len(text)) * max(self.left, 0) // size
            html = content_html(text[:most])
            size = _bytes(html)
        self.left -= size
        return html, cut(text, most)[1]


def _bytes(html: str) -> int:
    return len(html) if html.isascii() else len(html.encode())
