"""Shared by tests of the terminal: a real command in a pseudo-terminal, and what is on its screen."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

__all__ = ["Screen", "compare", "render", "run_in_terminal"]

CAPTURES = Path(__file__).with_name("captures")
_LINES = 2000
"""Lines that the screen keeps; the terminal says that it has fewer, as it scrolls."""
_MASKS = (
    (re.compile(r"\d+(?=\.\d+ s\b)|(?<=\.)\d+(?= s\b)|\d+(?= s\b)"), "#"),  # durations
    (re.compile(r"(?<![\w.])[\d.]+(?= (?:B|kB|MB|GB)\b)"), "#"),  # sizes
    (re.compile(r"\d{3,}(?= +(?:yes|no) )"), "#"),  # bytes, in a pipe
)


@dataclass(frozen=True)
class Screen:
    """What a command leaves on the screen."""

    code: int
    """Its exit code."""
    columns: int
    lines: tuple[str, ...]
    """The final screen, with what has scrolled away; without spaces at the ends."""
    raw: str
    """What it wrote, with control codes."""
    frames: tuple[str, ...]
    """The screen after each piece of output: what somebody may have seen on the way."""

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def with_text(self, text: str) -> Screen:
        """Return the same screen with another text."""
        return replace(self, lines=tuple(text.split("\n")))

    @property
    def codes(self) -> list[str]:
        """The control codes in the output."""
        return re.findall(r"\x1b(?:\[[0-9;?]*[A-Za-z]|.)", self.raw)


def run_in_terminal(
    arguments: Sequence[str],
    *,
    folder: Path,
    columns: int = 80,
    rows: int = 2000,
    keys: str = "",
    environment: Mapping[str, str | None],
    seconds: float = 180,
) -> Screen:
    """Run a program in a pseudo-terminal of a size.

    `environment` changes the variables of this process; None removes one. `keys` are typed at once.
    """
    program, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    variables = {**os.environ, "TERM": "xterm-256color", **environment}
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "PAGER"):
        if name not in environment:
            variables.pop(name, None)
    process = subprocess.Popen(
        arguments,
        cwd=folder,
        env={name: value for name, value in variables.items() if value is not None},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    )
    os.close(terminal)
    os.write(program, keys.encode())
    try:
        pieces = _read(program, process, time.monotonic() + seconds)
    finally:
        process.kill()
        code = process.wait()
        os.close(program)
    return render(pieces, columns=columns, code=code)


def _read(program: int, process: subprocess.Popen[bytes], end: float) -> list[str]:
    """Return what is written until the last process closes the terminal."""
    pieces: list[str] = []
    decoder = codecs.getincrementaldecoder("utf-8")("replace")  # a piece may end in a character
    while True:
        if time.monotonic() > end:
            pytest.fail(f"the command does not end; so far: {''.join(pieces)[-2000:]!r}")
        if not select.select([program], [], [], 0.2)[0]:
            continue
        try:
            piece = os.read(program, 1 << 16)
        except OSError:  # Linux reports the end of a pseudo-terminal as EIO
            piece = b""
        if not piece:
            process.wait(timeout=10)
            return pieces
        pieces.append(decoder.decode(piece))


def render(pieces: Sequence[str], *, columns: int, code: int = 0) -> Screen:
    """Return the screen that output leaves in a terminal of a width."""
    pyte = pytest.importorskip("pyte", reason="pyte, which draws the screen, is not installed")
    screen = pyte.Screen(columns, _LINES)
    stream = pyte.Stream(screen)
    frames = []
    for piece in pieces:
        stream.feed(piece)
        if len(pieces) < 200:
            frames.append(_shown(screen))
    return Screen(code, columns, tuple(_shown(screen).split("\n")), "".join(pieces), tuple(frames))


def _shown(screen: Any) -> str:
    used = (number for number, line in screen.buffer.items() if line)
    # Drawing the empty lines below would take nearly all of the time.
    kept, screen.lines = screen.lines, 1 + max(used, default=-1)
    try:
        return _text(screen.display)
    finally:
        screen.lines = kept


def _text(lines: Sequence[str]) -> str:
    return "\n".join(line.rstrip() for line in lines).rstrip("\n")


def masked(text: str, folders: Mapping[str, str]) -> str:
    """Return a text without what differs from run to run: folders, durations, sizes."""
    for folder, name in sorted(folders.items(), key=lambda pair: -len(pair[0])):
        text = text.replace(folder, name)
    for pattern, mask in _MASKS:
        text = pattern.sub(partial(_masked, mask), text)
    return text


def _masked(mask: str, found: re.Match[str]) -> str:
    return mask * len(found[0])


def compare(text: str, name: str, folder: Path = CAPTURES) -> None:
    """Compare a text with the capture of a name; WRITE_CAPTURES=1 writes it instead."""
    path = folder / f"{name}.txt"
    if os.environ.get("WRITE_CAPTURES"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
        return
    assert path.is_file(), f"no capture {path.name}: WRITE_CAPTURES=1 pytest writes it"
    assert text + "\n" == path.read_text(encoding="utf-8"), (
        f"differs from {folder.name}/{path.name}"
    )


COMMAND = (sys.executable, "-I", "-m", "registry")
