"""Find out how a CSV file is written: delimiter, quotes, and rows above the header."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

from registry.base.escape import start_of
from registry.errors import DecodeError, count_text, list_names
from registry.scaffold.columns import KNOWN, Ask, Guess, Question, refuse

__all__ = [
    "CsvReading",
    "check_unquoted",
    "name_columns",
    "shown_cells",
    "sniff_csv",
    "sniff_header",
]

_DELIMITERS = (",", ";", "\t", "|")
_RARE = (":", "^", "~", "#")
_MOST_PREAMBLE = 50
_SHOWN_CELLS = 4
_LONGEST_CELL = 30
Rows = Sequence[list[str]]
_NUMBER = re.compile(r"\s*[-+]?[\d.,]*\d(?:[eE][-+]?\d+)?\s*(?:%\s*)?")
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "."})
"""How tables write that a number is missing."""
_LONGEST_NAME = 40
_MOST_WORDS = 5
_CHOICES = "ABCDEFGHIJ"
# Also of Chinese and Japanese, Arabic, and Hindi.
_SENTENCE_ENDS = (".", "?", "!", "\u3002", "\uff1f", "\uff01", "\u061f", "\u0964")
_UNQUOTED = 'its cells are not quoted, and csv sources read a " that opens one as a quote'
_ANEW = 'write it anew, with cells quoted by ", or as JSON Lines'


@dataclass(frozen=True)
class CsvReading:
    """One way to read a file in which every row has the same number of cells."""

    delimiter: str
    skip_rows: int
    rows: Rows
    """From the header on, without blank ones."""

    @property
    def columns(self) -> str:
        """The first cells, for people."""
        return f"{count_text(len(self.rows[0]), 'column')}: {shown_cells(self.rows[0])}"


def shown_cells(row: Sequence[str]) -> str:
    """Return the first cells of a row, for people."""
    shown = ", ".join(repr(start_of(cell, _LONGEST_CELL)) for cell in row[:_SHOWN_CELLS])
    return f"{shown}, …" if len(row) > _SHOWN_CELLS else shown


def sniff_csv(
    text: str,
    *,
    file: str,
    is_all: bool = True,
    delimiter: str | None = None,
    skip_rows: int | None = None,
    usual: str = ",",
    ask: Ask = refuse,
) -> tuple[CsvReading | None, list[Guess]]:
    """Return how a file is read, and which parts were guessed.

    Where no reading gives rows of equal length, the reading is None: then the reader of the whole
    file says which row is at fault.

    Args:
        text: The file, or its beginning.
        file: Its name, for errors.
        is_all: Whether `text` is the whole file; otherwise its last row may be cut.
        delimiter: The user's; None to sniff it.
        skip_rows: The user's; None to sniff it.
        usual: What the file's name says; it decides between equal readings unless it is a comma.
        ask: Decides between readings that are equally good.

    Raises:
        DecodeError: the file is empty, or quotes cells in a way that a source can't describe.
    """
    if not text.strip():
        raise DecodeError("the file is empty", file=file)
    delimiters = (delimiter,) if delimiter else _DELIMITERS
    readings = _readings(text, delimiters, skip_rows, is_all=is_all)
    if delimiter is None and (not readings or readings[0].skip_rows):
        # Sentences have these signs too, so that only a reading of every row counts.
        rare = _readings(text, _RARE, skip_rows, is_all=is_all)
        readings = [one for one in rare if not one.skip_rows] or readings
    _check_quotes(text, readings, (*delimiters, *_RARE), file, is_all=is_all)
    if not readings:
        if delimiter is not None:
            return None, []
        guess = _without_reading(text, usual, file, ask)
        is_column = guess.value == usual and not skip_rows
        return _single_column(text, usual, is_all=is_all) if is_column else None, [guess]
    found = _chosen(readings, usual, file, ask)
    guesses = []
    if delimiter is None:
        reason = f"sniffed: {found.columns}"
        guesses.append(Guess("delimiter", found.delimiter, reason, found.delimiter == ","))
    if skip_rows is None and found.skip_rows:
        reason = f"sniffed: notes above the row {shown_cells(found.rows[0])}"
        guesses.append(Guess("skip_rows", found.skip_rows, reason))
    return found, guesses


def _readings(
    text: str, delimiters: Iterable[str], skip_rows: int | None, *, is_all: bool
) -> list[CsvReading]:
    """Return the readings that leave out the fewest rows above the header."""
    tried = (_read(text, one, skip_rows, is_all=is_all) for one in delimiters)
    readings = [one for one in tried if one is not None]
    # With a wrong delimiter, a header may look like a note.
    least = min((one.skip_rows for one in readings), default=0)
    return [one for one in readings if one.skip_rows == least]


def _chosen(readings: list[CsvReading], usual: str, file: str, ask: Ask) -> CsvReading:
    """Return the reading that the file's name or the user decides for."""
    if usual != "," and any(one.delimiter == usual for one in readings):
        readings = [one for one in readings if one.delimiter == usual]
    if len(readings) == 1:
        return readings[0]
    options = {f"--delimiter {_shell(one.delimiter)}": one.columns for one in readings}
    return readings[list(options).index(ask(Question(file, "delimiter", options)))]


def _shell(delimiter: str) -> str:
    return "tab" if delimiter == "\t" else f"'{delimiter}'"


def _without_reading(text: str, usual: str, file: str, ask: Ask) -> Guess:
    """Return the guess where rows differ in length: one column, or the likeliest delimiter."""
    header = text.lstrip().partition("\n")[0]
    found = [one for one in _DELIMITERS if one in header]
    if not found or (usual != "," and usual not in text):
        return Guess("delimiter", usual, "the first line has one column", usual == ",")
    if len(found) == 1:
        reason = "the only one in the first line"
        return Guess("delimiter", found[0], reason, found[0] == ",")
    # How many rows have the most common number of cells, if that is not one.
    widths = {one: Counter(len(row) for row in _cells(text, one) if len(row) > 1) for one in found}
    equal = {one: max(count.values(), default=0) for one, count in widths.items()}
    likely = [one for one in found if equal[one] == max(equal.values())]
    if len(likely) > 1:
        options = {f"--delimiter {_shell(one)}": "rows of different length" for one in likely}
        likely = [likely[list(options).index(ask(Question(file, "delimiter", options)))]]
    return Guess("delimiter", likely[0], "most rows then have equal length", likely[0] == ",")


def _single_column(text: str, delimiter: str, *, is_all: bool) -> CsvReading | None:
    """Return the reading of a file with one cell in each row; None for any other."""
    rows = _cells(text, delimiter)
    body = [row for row in (rows if is_all else rows[:-1]) if any(map(str.strip, row))]
    return CsvReading(delimiter, 0, body) if body and {len(row) for row in body} == {1} else None


def _read(
    text: str, delimiter: str, skip: int | None, *, is_all: bool, **quoting: Any
) -> CsvReading | None:
    """Return the reading with a delimiter; None if it has one column, or rows that differ."""
    rows = _cells(text, delimiter, **quoting)
    rows = rows if is_all else rows[:-1]
    filled = [number for number, row in enumerate(rows) if any(map(str.strip, row))]
    if not filled:
        return None
    width, _ = Counter(len(rows[number]) for number in filled).most_common(1)[0]
    start = _first_row(rows, filled, width) if skip is None else skip
    body = [rows[number] for number in filled if number >= start]
    if width < 2 or not body or {len(row) for row in body} != {width}:
        return None
    return CsvReading(delimiter, start, body)


def _cells(text: str, delimiter: str, **quoting: Any) -> Rows:
    # As sources read it: the dialect `unix`, which doubles quotes within cells.
    lines = io.StringIO(text, newline="")
    try:
        return list(csv.reader(lines, "unix", delimiter=delimiter, **quoting))
    except csv.Error:  # such as a cell that never ends
        return []


def _first_row(rows: Rows, filled: Sequence[int], width: int) -> int:
    """Return the number of the header row: the first that is no note.

    A note has few cells with text: at most half of the columns, one in a table of two or three.
    So a header that lacks a name is never taken for one, nor one that names all but the index.
    """
    most = max(1, width // 2)
    counts = {number: sum(map(bool, map(str.strip, rows[number]))) for number in filled}

    def is_full(number: int) -> bool:
        row = rows[number]
        is_index = not row[0].strip() and counts[number] == width - 1
        return counts[number] > most or is_index or _known(row) > 0

    full = [number for number in filled if is_full(number)]
    start = full[0] if full and full[0] <= _MOST_PREAMBLE else filled[0]
    # A sentence with commas may look like a row; a row with two known names is a header.
    named = [number for number in full if number <= _MOST_PREAMBLE and _known(rows[number]) > 1]
    return named[0] if named and not _known(rows[start]) else start


def _known(row: list[str]) -> int:
    return sum(cell.strip().casefold() in KNOWN for cell in row)


def _check_quotes(
    text: str, readings: list[CsvReading], delimiters: Iterable[str], file: str, *, is_all: bool
) -> None:
    """Raise a DecodeError for quotes that sources don't read, if they really matter here."""

    def is_read(**quoting: Any) -> bool:
        found = (_read(text, one, None, is_all=is_all, **quoting) for one in delimiters)
        return any(one is not None and not one.skip_rows for one in found)

    def is_quoted(cells: Iterable[str]) -> bool:
        return all(len(cell) > 1 and cell[0] == cell[-1] == "'" for cell in cells)

    if readings:
        is_single = any(map(is_quoted, zip(*readings[0].rows[1:], strict=True)))
    elif is_read(quoting=csv.QUOTE_NONE):
        raise DecodeError(f"{_UNQUOTED} ({_ANEW})", file=file)
    else:
        is_single = "'" in text and is_read(quotechar="'")
    if is_single:
        message = "its cells are quoted with ', and csv sources read only \""
    elif not readings and '\\"' in text and is_read(escapechar="\\", doublequote=False):
        message = 'its quotes are escaped as \\", and csv sources read only ""'
    else:
        return
    raise DecodeError(f"{message} ({_ANEW})", file=file)


def check_unquoted(text: str, reading: CsvReading, *, file: str) -> None:
    """Raise a DecodeError if quotes join rows of a file in which each line is a row.

    Args:
        text: The whole file, as the rows that are joined may be anywhere in it.
        reading: How it is read.
        file: Its name, for errors.
    """
    if '"' not in text:
        return
    expected, lines = len(reading.rows[0]) - 1, 0
    filled = (line for line in io.StringIO(text) if line.strip())
    for line in islice(filled, reading.skip_rows, None):
        if line.count(reading.delimiter) != expected:
            return
        lines += 1
    # The limit is global to the process; a cell of joined rows may be as long as the text.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    rows = csv.reader(io.StringIO(text, newline=""), "unix", delimiter=reading.delimiter)
    lost = lines + reading.skip_rows - sum(any(map(str.strip, row)) for row in rows)
    if lost:
        message = f"{_UNQUOTED}: {count_text(lost, 'row')} would be lost"
        raise DecodeError(f"{message} ({_ANEW})", file=file)


def sniff_header(reading: CsvReading, *, file: str, ask: Ask = refuse) -> Guess:
    """Return a guess of `fieldnames`; its value is None if the first row names the columns."""
    first, rows = reading.rows[0], reading.rows[1:]
    if any(cell.strip().casefold() in KNOWN for cell in first):
        return Guess("fieldnames", None, "the first row has known names", is_default=True)
    has_header = _is_above_numbers(first, rows)
    if has_header is None:
        has_header = _is_above_texts(first, rows)
    if has_header is None:
        shown = shown_cells(first)
        named, data = f"columns named {shown}", f"a first record of {shown}"
        options = {"--header": named, "--no-header": data}
        has_header = ask(Question(file, "header", options)) == "--header"
    if has_header:
        return Guess("fieldnames", None, "the first row names the columns", is_default=True)
    reason = "sniffed: the first row is data; --columns names them"
    return Guess("fieldnames", _names(reading.rows), reason)


def _names(rows: Rows) -> list[str]:
    """Return names for columns: as exams have them, where one says which of those before is right.

    That is the letter of a choice, or its text, or a number that counts three columns or more, as
    0 and 1 may be any label.
    """
    columns = [[cell.strip() for cell in column] for column in zip(*rows, strict=True)]
    names = [f"column_{number}" for number in range(1, len(columns) + 1)]
    for at, cells in enumerate(columns):
        fewest = _fewest_choices(cells, columns[:at])
        # A question is longer than what is beside it; few records may lack the last letter.
        start = max(range(at - fewest), key=lambda one: sum(map(len, columns[one])), default=at)
        choices = columns[start + 1 : at]
        is_exam = fewest > 0 and fewest <= len(choices) <= min(fewest + 1, len(_CHOICES))
        if is_exam and not any(all(map(_NUMBER.fullmatch, cells)) for cells in choices):
            names[start : at + 1] = ["question", *_CHOICES[: len(choices)], "answer"]
            break
    return names


def _fewest_choices(cells: Sequence[str], before: Sequence[Sequence[str]]) -> int:
    """Return how many choices a column selects one of, at least; 0 if it selects none."""
    distinct = set(cells)
    if len(distinct) < 2:
        return 0
    last = max(distinct)
    if distinct <= set(_CHOICES):
        return _CHOICES.index(last) + 1
    if distinct <= set("0123456789"):
        return int(last) + ("0" in distinct) if "2" in distinct else 0
    rows = list(zip(*before, strict=True))
    if not rows or not all(cell in row for cell, row in zip(cells, rows, strict=True)):
        return 0
    places = {row.index(cell) for cell, row in zip(cells, rows, strict=True)}
    return len(before) - min(places) if len(places) > 2 else 0


def name_columns(reading: CsvReading) -> list[Guess]:
    """Return what names the columns of a header that several of them have no name or the same in.

    Spreadsheets and forms export columns so, and no source reads two columns of the same name.
    """
    header = reading.rows[0]
    blank = sum(not cell.strip() for cell in header)
    repeated = [one for one, times in Counter(header).items() if times > 1 and one.strip()]
    if blank < 2 and not repeated:
        return []
    numbers = (f"column_{number}" for number in count(1))
    free = (name for name in numbers if name not in header)
    names: list[str] = []
    for cell, name in zip(header, free, strict=False):
        others = (f"{cell}_{number}" for number in count(2))
        new = name if not cell.strip() else cell
        if new in names:
            new = next(one for one in others if one not in (*names, *header))
        names.append(new)
    faults = [f"has no names for {blank} columns"] if blank > 1 else []
    faults += [f"repeats {list_names(repeated)}"] if repeated else []
    return [
        Guess("skip_rows", reading.skip_rows + 1, "sniffed: up to the header"),
        Guess("fieldnames", names, f"sniffed: the header {' and '.join(faults)}"),
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
    # The letters of correct choices, from the first row on.
    if any(set(_CHOICES).issuperset(map(str.strip, one)) for one in zip(first, *rows, strict=True)):
        return False
    columns = zip(*rows, strict=True)
    return True if any(not all(map(_is_name, column)) for column in columns) else None


def _is_name(cell: str) -> bool:
    text = cell.strip()
    is_short = len(text) <= _LONGEST_NAME and len(text.split()) <= _MOST_WORDS
    return is_short and not text.endswith(_SENTENCE_ENDS) and "\n" not in text
