"""Untrusted text on a page: nothing in it is hidden, reorders other text, or is too long."""

from __future__ import annotations

from registry.api import JOINERS, count_text, show_invisible

__all__ = [
    "content_html",
    "cut",
    "html_size",
    "search_word",
    "shorten",
    "start_of",
    "visible",
]


def visible(text: str) -> str:
    """Return a text with its lines, and codes in place of characters that are invisible.

    Browsers obey bidi controls even where they are escaped as HTML, and a lone surrogate can't be
    written to a file.
    """
    return show_invisible(text.replace("\r\n", "\n"))


def content_html(text: str) -> str:
    """Return a text as the content of an element, where quotes mean nothing.

    Escaping quotes too would make JSON half as long again.
    """
    shown = visible(text)
    return shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def html_size(text: str) -> int:
    """Return the number of bytes of a text in the file of a page."""
    shown = visible(text)
    size = len(shown) if shown.isascii() else len(shown.encode())
    # Escaping each text only to measure it would take as long as the rest of a page.
    return size + sum(map(shown.count, "<>")) * 3 + sum(map(shown.count, "&\"'")) * 4


def cut(text: str, most: int) -> tuple[str, str]:
    """Return the start of a text, and a note of how much of it is not shown, or an empty str."""
    more = len(text) - most
    if more <= 0:
        return text, ""
    # A joiner at the end would have lost what it joins.
    return text[:most].rstrip(
        JOINERS
    ), f"{count_text(more, 'more character')} of {len(text):,} not shown"


def start_of(text: str, most: int = 60) -> str:
    """Return a text, or its start and an ellipsis."""
    shown, note = cut(text, most)
    return f"{shown}…" if note else shown


def search_word(text: str) -> str:
    """Return a tag as one word of a search, which finds the tag as the list has it."""
    return "_".join(visible(start_of(text)).split())


def shorten(text: str, most: int) -> str:
    """Return a text, or its start and how much of it is not shown."""
    shown, note = cut(text, most)
    return f"{shown}… ({note})" if note else shown
