"""Labels of bars: one line, without control characters, as wide as there is room."""

from __future__ import annotations

import unicodedata

from registry.base.escape import escape_control

__all__ = ["cell_width", "fit", "label_line"]


def label_line(text: str, *, most: int = 1000) -> str:
    """Return a text as one line without control characters; a long one is cut."""
    cut = text[:most]
    return escape_control(" ".join(cut.split())) + ("…" if len(text) > most else "")


def fit(text: str, width: int, *, ellipsis: str = "…") -> str:
    """Return the beginning of a line that is at most so many columns wide."""
    if cell_width(text) <= width:
        return text
    room = width - len(ellipsis)
    taken = 0
    for end, character in enumerate(text):
        taken += cell_width(character)
        if taken > room:
            return f"{text[:end]}{ellipsis}"[: max(width, 0)]
    return text


def cell_width(text: str) -> int:
    """Return how many columns of a terminal a line takes."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
