"""Print tables, sizes and samples: with rich on a terminal, as plain text in a pipe."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from registry.samples.sample import Sample

__all__ = ["print_json", "print_sample", "print_table", "size_text"]

_UNITS = ("B", "kB", "MB", "GB", "TB")


def size_text(size: int | None) -> str:
    """Return a number of bytes with its unit, such as `1.4 MB`; an empty str for None."""
    if size is None:
        return ""
    value = float(size)
    for unit in _UNITS:
        if value < 1000 or unit == _UNITS[-1]:
            break
        value /= 1000
    return f"{size} B" if unit == "B" else f"{value:.1f} {unit}"


def print_json(data: Any) -> None:
    """Print data as JSON; a value that JSON lacks becomes its `str`."""
    print(json.dumps(data, indent=2, ensure_ascii=False, default=str))


def print_table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, wide: int = -1) -> None:
    """Print a table.

    If it is too wide for the terminal, the column `wide` wraps and the others are truncated. In a
    pipe nothing is, so that `grep` and `awk` see whole values.
    """
    if not sys.stdout.isatty():
        widths = [max(map(len, column)) for column in zip(headers, *rows, strict=True)]
        for row in (headers, *rows):
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            print("  ".join(cells).rstrip())
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for index, header in enumerate(headers):
        wraps = index == wide % len(headers)
        table.add_column(header, no_wrap=not wraps, overflow="fold" if wraps else "ellipsis")
    for row in rows:
        # A plain str would be read as rich's markup: `[red]` in a description must stay as it is.
        table.add_row(*map(Text, row))
    Console().print(table)


def print_sample(sample: Sample, number: int) -> None:
    """Print a sample for people to read."""
    title = f"sample {number}" + (f" · id {sample.id}" if sample.id is not None else "")
    lines = _sample_lines(sample)
    if not sys.stdout.isatty():
        print(f"── {title}", *lines, sep="\n", end="\n\n")
        return
    from rich.console import Console
    from rich.panel import Panel
    from rich.text import Text

    Console().print(Panel(Text("\n".join(lines)), title=Text(title), title_align="left"))


def _sample_lines(sample: Sample) -> list[str]:
    from registry.samples.letters import letter_of

    if isinstance(sample.input, str):
        lines = [*sample.input.splitlines(), ""]
    else:
        lines = [*(f"{message.role}: {message.text}" for message in sample.input), ""]
    if choices := sample.choices:
        lines += (f"  {letter_of(index)}) {choice}" for index, choice in enumerate(choices))
        lines.append("")
    lines.append(f"target    {_one_line(sample.target)}")
    for name in ("metadata", "sandbox", "files", "setup"):
        if (value := getattr(sample, name)) is not None:
            lines.append(f"{name:<9} {_one_line(value)}")
    return lines


def _one_line(value: Any) -> str:
    if isinstance(value, str):
        return value if "\n" not in value else json.dumps(value, ensure_ascii=False)
    data = value.model_dump(mode="json") if hasattr(value, "model_dump") else value
    text = json.dumps(data, ensure_ascii=False, default=str)
    return text if len(text) <= 500 else f"{text[:500]}…"
