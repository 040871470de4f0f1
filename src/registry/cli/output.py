"""How results look: tables, sizes, samples; rich on a terminal, plain text in a pipe."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from registry.samples.sample import Sample

__all__ = ["print_json", "print_sample", "print_table", "size_text"]

_UNITS = ("B", "kB", "MB", "GB", "TB")


def size_text(size: int | None) -> str:
    """Return a number of bytes for people: `1.4 MB`."""
    if size is None:
        return ""
    value = float(size)
    for unit in _UNITS:
        if value < 1000 or unit == _UNITS[-1]:
            break
        value /= 1000
    return f"{size} B" if unit == "B" else f"{value:.1f} {unit}"


def print_json(data: Any) -> None:
    """Print data as JSON; what JSON does not have, as text."""
    print(json.dumps(data, indent=2, ensure_ascii=False, default=str))


def print_table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, wide: int = -1) -> None:
    """Print a table; on a terminal the column `wide` gives way where the width is short."""
    if sys.stdout.isatty():
        _print_rich_table(headers, rows, wide % len(headers))
        return
    widths = [max(map(len, column)) for column in zip(headers, *rows, strict=True)]
    for row in (headers, *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())


def _print_rich_table(headers: Sequence[str], rows: Sequence[Sequence[str]], wide: int) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for index, header in enumerate(headers):
        overflow: Literal["fold", "ellipsis"] = "fold" if index == wide else "ellipsis"
        table.add_column(header, no_wrap=index != wide, overflow=overflow)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


def print_sample(sample: Sample, number: int) -> None:
    """Print a sample for people to read."""
    title = f"sample {number}" + (f" · id {sample.id}" if sample.id is not None else "")
    lines = list(_sample_lines(sample))
    if not sys.stdout.isatty():
        print(f"── {title}", *lines, sep="\n", end="\n\n")
        return
    from rich.console import Console
    from rich.panel import Panel
    from rich.text import Text

    Console().print(Panel(Text("\n".join(lines)), title=Text(title), title_align="left"))


def _sample_lines(sample: Sample) -> list[str]:
    return [
        *_input_lines(sample),
        *_choice_lines(sample),
        f"target    {_one_line(sample.target)}",
        *(
            f"{name:<9} {_one_line(value)}"
            for name in ("metadata", "sandbox", "files", "setup")
            if (value := getattr(sample, name)) is not None
        ),
    ]


def _input_lines(sample: Sample) -> list[str]:
    if isinstance(sample.input, str):
        return [*sample.input.splitlines(), ""]
    return [*(f"{message.role}: {message.text}" for message in sample.input), ""]


def _choice_lines(sample: Sample) -> list[str]:
    from registry.samples.letters import letter_of

    choices = sample.choices or []
    lines = [f"  {letter_of(index)}) {choice}" for index, choice in enumerate(choices)]
    return [*lines, ""] if lines else []


def _one_line(value: Any) -> str:
    if isinstance(value, str):
        return value if "\n" not in value else json.dumps(value, ensure_ascii=False)
    data = value.model_dump(mode="json") if hasattr(value, "model_dump") else value
    text = json.dumps(data, ensure_ascii=False, default=str)
    return text if len(text) <= 500 else f"{text[:500]}…"
