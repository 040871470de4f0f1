"""The datasets of a catalog as lines that fit a terminal, or as a table for other programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from msgspec import Struct

from registry.base.escape import escape_control
from registry.cli.formats.columns import Columns
from registry.cli.output import size_text
from registry.cli.terminal import columns_of, paint, wrap

__all__ = ["HEADERS", "Row", "cells", "terminal_lines"]

HEADERS = ("dataset", "samples", "size", "cached", "locked", "tags", "description")
_GAP = 2
_LEAST = 40
"""Columns that a description needs beside the others; with fewer it is below them."""
_INDENT = 2


class Row(Struct, frozen=True, kw_only=True):
    """A dataset with its state."""

    name: str
    description: str
    tags: tuple[str, ...]
    samples: int | None
    bytes: int | None
    cached: str
    """yes, no, or ? if only reading large files would tell."""
    locked: str
    """yes, no, or stale: pinned for an older manifest."""


def cells(row: Row) -> tuple[str, ...]:
    """Return the complete values; `-` is unknown or empty, so that each line has all columns."""
    samples = "" if row.samples is None else str(row.samples)
    size = "" if row.bytes is None else str(row.bytes)
    values = (row.name, samples, size, row.cached, row.locked, ",".join(row.tags), row.description)
    return tuple(value or "-" for value in values)


def terminal_lines(rows: Sequence[Row], stream: TextIO) -> Iterator[str]:
    """Yield the lines of a table in the width of a terminal.

    The description is beside the other columns where there is room for it, else below them.
    """
    width = columns_of(stream)
    short = [_short(row) for row in rows]
    columns = Columns.of([HEADERS[:5], *short], right=(1, 2), width=width)
    left = columns.total + _GAP
    is_beside = width - left >= _LEAST
    (title,) = columns.lines(HEADERS[:5], width=width)
    title += f"{'':{_GAP}}{HEADERS[-1]}" if is_beside else ""
    yield paint(title.rstrip(), stream, bold=True)
    for row, values in zip(rows, short, strict=True):
        *above, line = columns.lines(values, width=width)
        yield from above
        text = escape_control(" ".join([row.description, *_labels(row)]).strip())
        if is_beside:
            first, *more = wrap(text, width - left)
            yield f"{line}{'':{_GAP}}{first}".rstrip()
            yield from (f"{'':{left}}{part}" for part in more)
            continue
        yield line.rstrip()
        for part in wrap(text, width - _INDENT) if text else ():
            yield " " * _INDENT + paint(part, stream, dim=True)


def _labels(row: Row) -> Iterable[str]:
    return (f"#{tag}" for tag in row.tags)


def _short(row: Row) -> tuple[str, ...]:
    samples = "" if row.samples is None else f"{row.samples:,}"
    cached, locked = (value.replace("no", "-") for value in (row.cached, row.locked))
    return escape_control(row.name), samples, size_text(row.bytes), cached, locked
