"""Print tables, sizes and samples: with rich on a terminal, as plain text in a pipe."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from registry.base.escape import escape_control, escape_json, escape_lines
from registry.cli.streams import unescaped

if TYPE_CHECKING:
    from registry.build.expectations import QualityWarning
    from registry.samples.sample import Sample

__all__ = [
    "json_text",
    "print_error",
    "print_json",
    "print_line",
    "print_sample",
    "print_table",
    "print_warnings",
    "size_text",
    "warning_line",
]

_UNITS = ("B", "kB", "MB", "GB", "TB")
_MIN_WIDE = 16
"""Columns of a terminal that the widest column of a table gets at least."""


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


def print_line(text: object, *, err: bool = False) -> None:
    """Print one line, to stdout or stderr; newlines in the text become symbols."""
    # In one piece: `print` writes the end of a line separately, and threads print at the same time.
    print(
        f"{escape_control(str(text))}\n", end="", file=sys.stderr if err else sys.stdout, flush=err
    )


def json_text(data: Any, *, indent: int | None = 2) -> str:
    """Return data as JSON; a value that JSON lacks becomes its `str`."""
    return escape_json(json.dumps(data, indent=indent, ensure_ascii=False, default=str))


def print_json(data: Any) -> None:
    """Print data as JSON."""
    print(json_text(data))


def print_table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, wide: int = -1) -> None:
    """Print a table.

    If it is too wide for the terminal, the column `wide` wraps; if that alone does not help, all
    columns do. In a pipe no cell is wrapped or cut, so that `grep` and `awk` see complete values.
    """
    rows = [[escape_control(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        widths = [max(map(len, column)) for column in zip(headers, *rows, strict=True)]
        for row in (headers, *rows):
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            print("  ".join(cells).rstrip())
        return
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=unescaped(sys.stdout))
    table = Table(box=None, pad_edge=False, header_style="bold")
    widths = [max(map(cell_len, column)) + 2 for column in zip(headers, *rows, strict=True)]
    widths[wide] = min(widths[wide], _MIN_WIDE)
    # rich shrinks the columns that wrap first, down to one letter.
    is_crowded = sum(widths) > console.width
    for index, header in enumerate(headers):
        wraps = is_crowded or index == wide % len(headers)
        table.add_column(header, no_wrap=not wraps, overflow="fold" if wraps else "ellipsis")
    for row in rows:
        # rich would interpret a plain str as markup, such as `[red]` in a description.
        table.add_row(*map(Text, row))
    console.print(table)


def warning_line(warning: QualityWarning) -> str:
    """Return a warning with the name that accepts it, such as `[blank_targets]`."""
    return escape_control(f"{warning.message} [{warning.kind}]")


def print_error(name: str, error: object) -> None:
    """Print the error of a dataset, for people, to stderr; each line can be found by its name."""
    for line in str(error).removeprefix(f"{name}: ").splitlines():
        print_line(f"error: {name}: {line}", err=True)


def print_warnings(name: str, warnings: Iterable[QualityWarning]) -> None:
    """Print the warnings about the samples of a dataset, for people, to stderr."""
    for warning in warnings:
        print_line(f"warning: {name}: {warning_line(warning)}", err=True)


def print_sample(sample: Sample, number: int) -> None:
    """Print a sample in a form for people."""
    from registry.samples.letters import letter_of

    if isinstance(sample.input, str):
        lines = [*sample.input.splitlines(), ""]
    else:
        lines = [*(f"{message.role}: {message.text}" for message in sample.input), ""]
    if choices := sample.choices:
        lines += (f"  {letter_of(index)}) {choice}" for index, choice in enumerate(choices))
        lines.append("")
    lines.append(f"target    {_one_line(sample.target)}")
    for name in ("description", "metadata", "sandbox", "files", "setup", "checkpoint"):
        if (value := getattr(sample, name)) is not None:
            lines.append(f"{name:<9} {_one_line(_plain(value))}")
    title = f"sample {number}" + (f" · id {sample.id}" if sample.id is not None else "")
    title = escape_control(title)
    if not sys.stdout.isatty():
        print(f"── {title}", *lines, sep="\n", end="\n\n")
        return
    from rich.console import Console
    from rich.panel import Panel
    from rich.text import Text

    panel = Panel(Text(escape_lines("\n".join(lines))), title=Text(title), title_align="left")
    Console(file=unescaped(sys.stdout)).print(panel)


def _plain(value: Any) -> Any:
    """Return the value of a field of a sample as JSON data."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if type(value).__name__ != "CheckpointSampleConfig":
        return value
    from registry.samples.checkpoint import checkpoint_data

    return checkpoint_data(value)


def _one_line(value: Any) -> str:
    if isinstance(value, str):
        return value if "\n" not in value else json.dumps(value, ensure_ascii=False)
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 500 else f"{text[:500]}…"
