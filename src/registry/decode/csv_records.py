"""Decode CSV to records: every cell is a str, and a ragged row is an error."""

from __future__ import annotations

import csv
import os
from itertools import chain
from typing import TYPE_CHECKING, Protocol, cast

from registry.decode.stream import SourceBytes, open_text
from registry.errors import DecodeError, count_text, list_names, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.manifest.source import Source
    from registry.manifest.source_models import CsvSource
    from registry.samples.sample import DatasetRecord

__all__ = ["end_of_rows", "read_csv"]

_LARGEST_CELL = (1 << 31) - 1
_PRIVATE_USE = 0xE000  # first code point of a Unicode range without assigned characters


class _Reader(Protocol):
    line_num: int

    def __next__(self) -> list[str]: ...


def read_csv(file: SourceBytes, source: Source, *, strict: bool) -> Iterator[DatasetRecord]:
    """Yield a dict of str per row; rows of empty or whitespace-only cells are skipped.

    If strict, refuse a missing header and duplicate columns, which the loaders accept.
    """
    options = cast("CsvSource", source)
    # The limit is global to the process; its default of 128 KiB is too low for long texts.
    csv.field_size_limit(max(csv.field_size_limit(), _LARGEST_CELL))
    with open_text(file, options.encoding) as text:
        rows = _rows(text, file, options)
        for _ in range(options.skip_rows):
            if next(rows, None) is None:
                break
        header, header_line = options.fieldnames, None
        if header is None:
            header_line, first = next(rows, (None, []))
            header = tuple(first)
        if strict and not header:
            raise DecodeError("the file has no header row", file=file.location, line=header_line)
        if strict and len(set(header)) < len(header):
            duplicate = next(name for name in header if header.count(name) > 1)
            message = f"duplicate column '{duplicate}' in the header"
            raise DecodeError(message, file=file.location, line=header_line)
        for line, row in rows:
            if row and len(row) != len(header):
                missing, extra = header[len(row) :], row[len(header) :]
                without = f"No value for: {list_names(missing)}"
                detail = f"Unexpected values: {shorten(extra)}" if extra else without
                # Inspect's message: its users may match it.
                found = count_text(len(row), "field")
                message = f"line {line} has {found}, the header has {len(header)}. {detail}"
                raise DecodeError(message, file=file.location, line=line)
            if any(cell.strip() for cell in row):
                yield dict(zip(header, row, strict=True))


def _rows(
    lines: Iterator[str], file: SourceBytes, options: CsvSource
) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the number of its last line; an unclosed quote is an error."""
    delimiter = options.delimiter or csv.get_dialect(options.dialect).delimiter
    end = end_of_rows()
    # No line break is needed before `end`: to the reader, each item of the iterator is a line.
    size, limits = 0, file.limits

    def row_lines() -> Iterator[str]:
        """Yield the lines; a quoted cell may have any number of them."""
        nonlocal size
        for line in lines:
            size += len(line)
            if size > limits.line_bytes + 1:
                message = limits.message("line_bytes", "the row has", "bytes")
                raise DecodeError(message, file=file.location, line=first_line)
            yield line

    made = csv.reader(chain(row_lines(), [end]), options.dialect, delimiter=delimiter)
    reader = cast("_Reader", made)
    first_line = 1
    while True:
        size = 0
        try:
            row = next(reader)
        except csv.Error as error:
            raise DecodeError(str(error), file=file.location, line=reader.line_num) from error
        if row == [end]:
            return
        if row and row[-1].endswith(end):
            message = "a quote that opens in this row is never closed"
            raise DecodeError(message, file=file.location, line=first_line)
        yield reader.line_num, row
        first_line = reader.line_num + 1


def end_of_rows() -> str:
    """Return a row to append to a file: if it is not read back alone, a quote is unclosed.

    The csv module itself accepts a quote that is still open at the end of the file.
    """
    # Random, so that no file can contain it, and without any possible delimiter or quote.
    return "".join(chr(_PRIVATE_USE + byte) for byte in os.urandom(16))
