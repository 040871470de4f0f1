"""Escape what goes to stdout and stderr, and style and draw what a terminal can show.

What is printed controls no terminal and no CI. Our own styles, pages, plots and bars go to the
streams below, in text of which everything else has been escaped.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

import click

from registry.base.cells import cell_len, chop, pad
from registry.base.escape import escape_lines

if TYPE_CHECKING:
    from rich.console import Console

    from registry.plots import Plot

__all__ = [
    "Columns",
    "EscapingStream",
    "can_draw",
    "columns_of",
    "console_of",
    "escaped_output",
    "is_dumb",
    "is_styled",
    "page",
    "paint",
    "paint_word",
    "plot_lines",
    "print_styled",
    "unescaped",
    "wrap",
]


_NEIGHBOURS = 32
_RAISING = ("strict", "surrogateescape")
"""How a stream treats characters that it can't encode in most locales, and in C and POSIX."""
_DUMB = frozenset({"dumb", "unknown"})
_PIPE_WIDTH = 80
_MOST_WIDTH = 100
"""Columns of a plot; in longer bars differences are not seen better."""
_DRAWN = "█▏…–≥"  # noqa: RUF001 (what plots are made of)
_GAP = 2
_COLORS = {
    "green": ("verified", "built", "fetched"),
    "yellow": ("floating", "stale", "newer"),
    "red": ("failed",),
}
"""Words for states, by their color: as they should be, may change, wrong."""
_COLOR_OF = {word: color for color, words in _COLORS.items() for word in words}


class EscapingStream(io.TextIOBase):
    """A text stream that escapes what is written; it belongs to another stream."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        # A line may arrive in parts, from several threads: it is written when it is complete, or
        # flushed.
        self._lock = threading.RLock()
        self._pending = ""
        self._starts_line = True
        """Whether the line has only whitespace so far."""
        self._before = ""
        """The end of what was written of the line: a script may join the next character to it."""

    def write(self, text: str) -> int:
        """Write the complete lines of a text, and keep the rest until its line is complete."""
        with self._lock:
            complete, newline, self._pending = (self._pending + text).rpartition("\n")
            if newline:
                self._emit(complete + newline)
        return len(text)

    def _emit(self, text: str) -> None:
        self._stream.write(escape_lines(text, starts_line=self._starts_line, before=self._before))
        last_line = text.rpartition("\n")[2]
        self._before = last_line[-_NEIGHBOURS:]
        is_same_line = last_line == text and not self._starts_line
        self._starts_line = not is_same_line and not last_line.strip()

    def flush(self) -> None:
        """Write everything, even the beginning of a line."""
        with self._lock:
            pending, self._pending = self._pending, ""
            if pending:
                self._emit(pending)
        self._stream.flush()

    def close(self) -> None:
        """Leave the stream open: it is not ours."""

    def unescaped(self) -> TextIO:
        """Return the stream below, for text of our own that controls the terminal or the CI."""
        self.flush()
        return self._stream

    def isatty(self) -> bool:
        """Return whether this is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """Return the file descriptor."""
        return self._stream.fileno()

    def writable(self) -> bool:
        """Return True."""
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]  # the base class declares an attribute
        """The encoding of the stream below."""
        return self._stream.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]  # as above
        """How the stream below treats characters that it can't encode; `input` asks for it."""
        return self._stream.errors


def unescaped(stream: TextIO) -> TextIO:
    """Return the stream below `sys.stdout` or `sys.stderr`, whose text the caller has escaped."""
    return stream.unescaped() if isinstance(stream, EscapingStream) else stream


@contextmanager
def escaped_output() -> Iterator[None]:
    """Escape what anything in this process prints, until the end."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller, as in `registry sync 2>&-`
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper) and stream.errors in _RAISING:
            # Samples can contain any character. In an ASCII locale, where most can't be encoded,
            # they are escaped, as an error would lose the rest of the output.
            stream.reconfigure(errors="backslashreplace")
    out, err = EscapingStream(sys.stdout), EscapingStream(sys.stderr)
    with redirect_stdout(out), redirect_stderr(err):
        try:
            yield
        finally:
            err.flush()
            out.flush()


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


def can_draw(stream: TextIO) -> bool:
    """Return whether the encoding of a stream has the characters of plots."""
    try:
        _DRAWN.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


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


def plot_lines(plots: Iterable[Plot], stream: TextIO, *, plain: bool) -> Iterator[str]:
    """Yield plots as lines for `print_styled`: bars in the width of a terminal, or sentences."""
    from registry.plots import plain_lines, text_lines  # most commands draw none

    width = min(columns_of(stream, _PIPE_WIDTH), _MOST_WIDTH)
    ascii_only = not can_draw(stream)
    for plot in plots:
        yield ""
        if plain:
            yield from plain_lines(plot, ascii_only=ascii_only)
            continue
        title, *rest = text_lines(plot, width=width, ascii_only=ascii_only)
        yield paint(title, stream, bold=True)
        yield from rest


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
