"""How many columns of a terminal a text takes, its parts that fit into some, and spaces up to some.

By `wcwidth`, which follows Unicode as terminals do: marks, joined emoji, flags and the conjuncts of
Indic scripts. What people see as one character is never cut.
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["cell_len", "chop", "fit", "fold", "pad"]

_LONGEST = 16
"""Characters for a column that are looked at: a joined emoji has up to 10 for two."""


def cell_len(text: str) -> int:
    """Return how many columns a line takes."""
    if text.isascii():
        return len(text)
    import wcwidth  # only text that isn't ASCII needs it

    return wcwidth.width(text, control_codes="ignore")


def chop(text: str, width: int) -> Iterator[str]:
    """Yield the pieces of a line that fit a number of columns; a character that doesn't is one."""
    width = max(width, 1)
    if text.isascii():
        yield from (text[at : at + width] for at in range(0, len(text), width))
        return
    import wcwidth

    piece = ""
    for one in wcwidth.iter_graphemes(text):
        # Not a sum: a letter after a mark that joins letters is wider than alone.
        if piece and cell_len(piece + one) > width:
            yield piece
            piece = ""
        piece += one
    yield piece


def fit(text: str, width: int, *, ellipsis: str = "…") -> str:
    """Return a line that fits a number of columns, with `…` for what is cut off."""
    width = max(width, 0)
    if cell_len(text) <= width:
        return text
    room = width - len(ellipsis)
    first = next(chop(text, room)) if room > 0 else ""
    return f"{first if cell_len(first) <= room else ''}{ellipsis}"[:width]


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Return a line with spaces behind it up to a number of columns; on the right, before it."""
    space = " " * (width - cell_len(text))
    return space + text if right else text + space


def fold(text: str, width: int, margin: str = "") -> Iterator[str]:
    """Yield a line as lines that fit a number of columns, with its spaces; between words if it can.

    The text is already escaped. Each line but the first begins with `margin`.
    """
    width, before, at = max(width, 1), "", 0
    while True:
        room = width - len(before)
        line = next(chop(text[at : at + _LONGEST * room], room), "")
        if at + len(line) >= len(text):
            yield before + line
            return
        if text[at + len(line)] != " ":
            space = line.rfind(" ", max(len(line) // 2, 1))
            line = line[:space] if space > 0 else line
        yield before + line.rstrip(" ")
        at += len(line)
        while text[at : at + 1] == " ":
            at += 1
        before = margin[: width // 2]
