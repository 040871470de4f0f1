"""Find out whether the first row of a CSV file names its columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count

from registry.scaffold.sniff.csv_dialect import CsvReading, shown_cells
from registry.scaffold.sniff.guess import KNOWN, Ask, Guess, Question, refuse

__all__ = ["name_columns", "sniff_header"]

_NUMBER = re.compile(r"\s*[-+]?[\d.,]*\d(?:[eE][-+]?\d+)?\s*(?:%\s*)?")
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "."})
"""How tables write that a number is missing."""
_LONGEST_NAME = 40
_MOST_WORDS = 5


def sniff_header(reading: CsvReading, *, file: str, ask: Ask = refuse) -> Guess:
    """Return a guess of `fieldnames`; its value is None if the first row names the columns."""
    first, rows = reading.rows[0], reading.rows[1:]
    names = [f"column_{number}" for number in range(1, len(first) + 1)]
    without = Guess("fieldnames", names, "sniffed: the first row is data; --columns names them")
    if any(cell.strip().casefold() in KNOWN for cell in first):
        return Guess("fieldnames", None, "the first row has known names", is_default=True)
    has_header = _is_above_numbers(first, rows)
    if has_header is None:
        has_header = _is_above_texts(first, rows)
    if has_header is None:
        shown = shown_cells(first)
        options = {
            "--header": f"columns named {shown}",
            "--no-header": f"a first record of {shown}",
        }
        has_header = ask(Question(file, "header", options)) == "--header"
    if has_header:
        return Guess("fieldnames", None, "the first row names the columns", is_default=True)
    return without


def name_columns(reading: CsvReading) -> list[Guess]:
    """Return what names the columns of a header that leaves several of them without a name.

    Spreadsheets export empty columns so, and no source reads two columns of the same name.
    """
    header = reading.rows[0]
    blank = sum(not cell.strip() for cell in header)
    if blank < 2:
        return []
    numbers = (f"column_{number}" for number in count(1))
    free = (name for name in numbers if name not in header)
    names = [cell if cell.strip() else name for cell, name in zip(header, free, strict=False)]
    return [
        Guess("skip_rows", reading.skip_rows + 1, "sniffed: up to the header"),
        Guess("fieldnames", names, f"sniffed: the header has no names for {blank} columns"),
    ]


def _is_above_numbers(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool | None:
    """Return whether names stand above columns of numbers; None if no column has only numbers."""
    columns = (
        (name, [cell for cell in cells if cell.strip().casefold() not in _MISSING])
        for name, *cells in zip(first, *rows, strict=True)
    )
    found = [
        not _NUMBER.fullmatch(name)
        for name, cells in columns
        if cells and all(map(_NUMBER.fullmatch, cells)) and name.strip()
    ]
    return None if not found else all(found)


def _is_above_texts(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool | None:
    """Return whether short names stand above longer texts; None if the rows look alike."""
    named = [cell for cell in first if cell.strip()]
    if len(set(named)) < len(named) or not all(map(_is_name, named)):
        return False
    if not rows:
        return True
    columns = zip(*rows, strict=True)
    return True if any(not all(map(_is_name, column)) for column in columns) else None


def _is_name(cell: str) -> bool:
    text = cell.strip()
    is_short = len(text) <= _LONGEST_NAME and len(text.split()) <= _MOST_WORDS
    return is_short and not text.endswith((".", "?", "!")) and "\n" not in text
