"""CSV → records: every cell is text, a ragged row is an error."""

from __future__ import annotations

import csv
import os
from itertools import chain
from typing import TYPE_CHECKING, Protocol, cast

from registry.decode.stream import SourceBytes, open_text
from registry.errors import DecodeError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.manifest.source import Source
    from registry.manifest.source_models import CsvSource
    from registry.samples.sample import DatasetRecord

__all__ = ["end_of_rows", "read_csv"]

_LARGEST_CELL = (1 << 31) - 1
_PRIVATE = 0xE000


class _Reader(Protocol):
    line_num: int

    def __next__(self) -> list[str]: ...


def read_csv(file: SourceBytes, source: Source, *, strict: bool) -> Iterator[DatasetRecord]:
    """Yield a dict of texts a row; rows without any visible character are passed over.

    Strict refuses what the loaders let pass: a file without a header, a column twice.
    """
    options = cast("CsvSource", source)
    # The limit is the process's; cells of long texts go beyond its default of 128 KiB.
    csv.field_size_limit(max(csv.field_size_limit(), _LARGEST_CELL))
    with open_text(file, options.encoding) as text:
        yield from _read(text, file, options, strict=strict)


def _read(
    lines: Iterator[str], file: SourceBytes, options: CsvSource, *, strict: bool
) -> Iterator[DatasetRecord]:
    rows = _rows(lines, file, options)
    for _ in range(options.skip_rows):
        if next(rows, None) is None:
            break
    header, at = options.fieldnames, None
    if header is None:
        at, first = next(rows, (None, []))
        header = tuple(first)
    if strict:
        _check_header(header, file, at)
    for line, row in rows:
        if row and len(row) != len(header):
            raise _ragged(file, line, row, header)
        if any(cell.strip() for cell in row):
            yield dict(zip(header, row, strict=True))


def _check_header(header: tuple[str, ...], file: SourceBytes, line: int | None) -> None:
    if not header:
        raise DecodeError("the file has no header row", file=file.location, line=line)
    twice = next((name for name in header if header.count(name) > 1), None)
    if twice is not None:
        message = f"the column '{twice}' stands twice in the header"
        raise DecodeError(message, file=file.location, line=line)


def _rows(
    lines: Iterator[str], file: SourceBytes, options: CsvSource
) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with its last line's number; an open quote at the end is an error."""
    delimiter = options.delimiter or csv.get_dialect(options.dialect).delimiter
    end = end_of_rows()
    # A line of the reader's need not end in a line break: the last one's may be missing.
    made = csv.reader(chain(lines, [end]), options.dialect, delimiter=delimiter)
    reader = cast("_Reader", made)
    start = 1
    while True:
        try:
            row = next(reader)
        except csv.Error as error:
            raise DecodeError(str(error), file=file.location, line=reader.line_num) from error
        if row == [end]:
            return
        if row and row[-1].endswith(end):
            raise _unclosed(file, start)
        yield reader.line_num, row
        start = reader.line_num + 1


def end_of_rows() -> str:
    """Return a row that no file holds, to send behind the last line: an open quote swallows it.

    It is another in each call, of private characters, so that no delimiter is among them.
    """
    return "".join(chr(_PRIVATE + byte) for byte in os.urandom(16))


def _unclosed(file: SourceBytes, line: int) -> DecodeError:
    message = "a quote that opens in this row is never closed"
    return DecodeError(message, file=file.location, line=line)


def _ragged(file: SourceBytes, line: int, row: list[str], header: tuple[str, ...]) -> DecodeError:
    message = f"the row has {len(row)} cells, the header has {len(header)}"
    if len(row) > len(header):
        detail = f"left over: {shorten(row[len(header) :])}"
    else:
        detail = f"no value for: {', '.join(header[len(row) :])}"
    return DecodeError(f"{message}; {detail}", file=file.location, line=line)
