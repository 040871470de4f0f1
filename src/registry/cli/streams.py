"""The only way out: what is printed to stdout and stderr controls no terminal and no CI."""

from __future__ import annotations

import io
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TextIO

from registry.base.escape import escape_lines

__all__ = ["EscapingStream", "escaped_output", "unescaped"]

_NEIGHBOURS = 32
_RAISING = ("strict", "surrogateescape")
"""How a stream treats characters that it can't encode in most locales, and in C and POSIX."""


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
