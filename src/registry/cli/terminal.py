"""What a terminal can show: its width, styles, pages, and text that fits it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

import click

from registry.base.cells import cell_len, chop, pad
from registry.base.escape import escape_lines
from registry.cli.streams import unescaped

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "Columns",
    "columns_of",
    "console_of",
    "is_dumb",
    "is_styled",
    "page",
    "paint",
    "paint_word",
    "print_styled",
    "wrap",
]


_DUMB = frozenset({"dumb", "unknown"})

_GAP = 2
_COLORS = {
    "green": ("verified", "built", "fetched"),
    "yellow": ("floating", "stale", "newer"),
    "red": ("failed",),
}
"""Words for states, by their color: as they should be, may change, wrong."""
_COLOR_OF = {word: color for color, words in _COLORS.items() for word in words}


def is_styled(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that takes bold and colors.

    NO_COLOR is a convention of many tools (https://no-color.org). Bold is left out too: what it
    asks for is plain text.
    """
    return stream.isatty() and not os.environ.get("NO_COLOR") and not is_dumb()


def is_dumb() -> bool:
    """Return whether the terminal takes no control codes at all."""
    return os.environ.get("TERM", "").lower() in _DUMB


def columns_of(stream: TextIO, default: int = 100) -> int:
    """Return the width of a terminal; the default for a pipe."""
    return shutil.get_terminal_size((default, 24)).columns if stream.isatty() else default


def console_of(stream: TextIO) -> Console:
    """Return a console of rich that writes styles only where the terminal takes them."""
    from rich.console import Console

    if is_styled(stream):
        return Console(file=unescaped(stream))
    # Without a color system rich writes no style. It takes a dumb terminal to have 80 columns.
    return Console(file=unescaped(stream), color_system=None, width=columns_of(stream, 80))


def paint(text: str, stream: TextIO, **styles: Any) -> str:
    """Return a text in styles of `click.style`, where the stream takes them."""
    return click.style(text, **styles) if text and is_styled(stream) else text


def paint_word(line: str, word: str, stream: TextIO) -> str:
    """Return a line with the state or status in it, the last such word, in its color."""
    at = line.rindex(word)
    return line[:at] + paint(word, stream, fg=_COLOR_OF.get(word)) + line[at + len(word) :]


def print_styled(text: str, stream: TextIO) -> None:
    """Print text that was made by `paint`; everything else in it must have been escaped."""
    # A stream without styles may be the log of a CI, which runs commands.
    print(text, file=unescaped(stream) if is_styled(stream) else stream)


def page(text: str) -> None:
    """Print text with styles to stdout, in a pager if it is longer than the terminal."""
    height = shutil.get_terminal_size((80, 24)).lines
    is_long = text.count("\n") >= height and not is_dumb()
    if not (is_long and sys.stdout.isatty() and sys.stdin and sys.stdin.isatty()):
        print_styled(text.removesuffix("\n"), sys.stdout)
        return
    # With None click lets `less` show styles (LESS=-R), which otherwise shows their codes, and
    # removes them for pagers of which it does not know. It prints to `sys.stdout` without any.
    color = None if is_styled(sys.stdout) else False
    with redirect_stdout(unescaped(sys.stdout)):
        click.echo_via_pager(text, color=color)


def wrap(text: str, width: int) -> list[str]:
    """Return a text in lines that fit a number of columns; only a longer word is broken."""
    lines = [""]
    for word in _pieces(escape_lines(text).split(), width):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(word)
    return lines


def _pieces(words: list[str], width: int) -> Iterator[str]:
    for word in words:
        yield from chop(word, width) if cell_len(word) > width else (word,)


@dataclass(frozen=True)
class Columns:
    """The widths of aligned values."""

    widths: tuple[int, ...]
    right: Collection[int]
    """Numbers of the columns that are aligned to the right."""

    @classmethod
    def of(
        cls, rows: Sequence[Sequence[str]], *, right: Collection[int], width: int | None
    ) -> Columns:
        """Return columns for values; `width` is that of the terminal, None for a pipe."""
        widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
        if width is not None:
            widths[0] = max(1, min(widths[0], width - sum(widths[1:]) - _GAP * (len(widths) - 1)))
        return cls(tuple(widths), right)

    @property
    def total(self) -> int:
        """The width of a line."""
        return sum(self.widths) + _GAP * (len(self.widths) - 1)

    def lines(self, values: Sequence[str], *, width: int) -> Iterator[str]:
        """Yield the lines of a row: a name that is too long for its column is on its own lines."""
        name, *rest = values
        if cell_len(name) > self.widths[0]:
            *above, name = wrap(name, width)
            yield from above
            if cell_len(name) > self.widths[0]:
                yield name
                name = ""
        padded = (
            pad(one, width, right=index in self.right)
            for index, (one, width) in enumerate(zip((name, *rest), self.widths, strict=True))
        )
        yield (" " * _GAP).join(padded)
