"""A command on a terminal as SVG: the prompt, and what is left on the screen, with its colours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import pyte
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from tests.terminal.screens import COMMAND, run_in_terminal

__all__ = ["THEME", "command_svg", "screen_text"]

_LINES = 2000
THEME = TerminalTheme(
    (15, 19, 23),
    (228, 232, 237),
    [
        (40, 46, 54),
        (255, 123, 114),
        (109, 219, 152),
        (240, 192, 96),
        (130, 180, 255),
        (210, 168, 255),
        (118, 214, 226),
        (228, 232, 237),
    ],
)
# Names that rich gives to colours; pyte calls yellow brown.
_COLORS = {"brown": "yellow", "default": None}


def command_svg(
    arguments: list[str],
    *,
    folder: Path,
    columns: int,
    environment: Mapping[str, str],
    prompt: str = "",
) -> str:
    """Run `registry` in a pseudo-terminal, and return what is on it as SVG.

    Args:
        arguments: Those of the command.
        folder: The working directory.
        columns: The width of the terminal.
        environment: Variables that the command gets besides those of this process.
        prompt: The command as it is shown, if it is another.
    """
    screen = run_in_terminal(
        [*COMMAND, *arguments], folder=folder, columns=columns, environment=environment
    )
    shown = prompt or " ".join(["registry", *arguments])
    console = Console(record=True, width=columns, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(Text.assemble(("$ ", "green"), (shown, "bold")))
    console.print(screen_text(screen.raw, columns), soft_wrap=True)
    svg = console.export_svg(title="", theme=THEME, unique_id="registry")
    # The fonts of a page elsewhere: a picture loads nothing.
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


def screen_text(raw: str, columns: int) -> Text:
    """Return what output leaves on a terminal, with its colours."""
    screen = pyte.Screen(columns, _LINES)
    pyte.Stream(screen).feed(raw)
    written = max((number for number, line in screen.buffer.items() if line), default=-1)
    lines = [_line(screen.buffer[number], columns) for number in range(written + 1)]
    text = Text("\n").join(lines)
    text.rstrip()
    return text


def _line(characters: Mapping[int, Any], columns: int) -> Text:
    line = Text()
    for style, group in groupby((characters[n] for n in range(columns)), key=_style):
        line.append("".join(one.data for one in group), style)
    line.rstrip()
    return line


def _style(character: Any) -> Style:
    return Style(
        color=_color(character.fg),
        bgcolor=_color(character.bg),
        bold=character.bold or None,
        italic=character.italics or None,
        underline=character.underscore or None,
        reverse=character.reverse or None,
    )


def _color(name: str) -> str | None:
    if re.fullmatch("[0-9a-f]{6}", name):
        return f"#{name}"
    name = _COLORS.get(name, name) or ""
    # pyte writes `brightred`, rich `bright_red`.
    return re.sub("^bright(?=.)", "bright_", name) or None
