"""CSV → columns of text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from registry.base.arrow import (
    contains_literal,
    int64_array,
    list_offsets,
    starts_with_visible_ascii,
)
from registry.decode.csv_records import end_of_rows
from registry.decode.frame import Frame, NotColumnarError, Wanted
from registry.decode.stream import is_html, is_utf8, open_bytes

if TYPE_CHECKING:
    from registry.decode.stream import SourceBytes
    from registry.manifest.source import Source
    from registry.manifest.source_models import CsvSource

__all__ = ["read_csv_tables"]

_BLOCK_BYTES = 1 << 20
_DELIMITERS = frozenset(",;\t|")


def read_csv_tables(file: SourceBytes, source: Source, wanted: Wanted) -> Iterator[Frame]:
    """Yield the rows of a file as columns of text; all columns, since all are checked."""
    options = cast("CsvSource", source)
    delimiter = options.delimiter or csv.get_dialect(options.dialect).delimiter
    if delimiter not in _DELIMITERS or options.skip_rows or not is_utf8(options.encoding):
        raise NotColumnarError("a form of CSV that is read row by row")
    with open_bytes(file) as data:
        stream = _WithTail(data)
        if is_html(stream.head[:256]):
            raise NotColumnarError("a web page")
        names = options.fieldnames or _header(stream.head, delimiter)
        end = end_of_rows()
        stream.tail = f"\n{delimiter.join([end] * len(names))}\n".encode()
        reader = _open(stream, names, delimiter, has_header=options.fieldnames is None)
        yield from (Frame(_as_in_text_mode(batch)) for batch in _batches(reader, end))


class _WithTail(io.RawIOBase):
    """The bytes of a file, and behind its last line `tail`."""

    def __init__(self, data: IO[bytes]) -> None:
        super().__init__()
        self._data = data
        self.head = data.read(_BLOCK_BYTES)
        """The first bytes."""
        self.tail = b""
        """What is sent behind the last line."""
        self._first: bytes | None = self.head

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        if self._first:
            first, self._first = self._first, None
            return first
        chunk = self._data.read(_BLOCK_BYTES)
        if not chunk:
            chunk, self.tail = self.tail, b""
        return chunk


def _header(head: bytes, delimiter: str) -> tuple[str, ...]:
    """Return the names of the first row, as the csv module reads them."""
    try:
        # A byte-order mark goes, and line ends become those of text mode.
        text = io.StringIO(head[: 1 << 16].decode("utf-8-sig", "ignore"), newline=None)
        names = tuple(next(csv.reader(text, "unix", delimiter=delimiter), ()))
    except csv.Error as error:
        raise NotColumnarError("a header that is no CSV") from error
    if not names or len(set(names)) < len(names) or not any(name.strip() for name in names):
        raise NotColumnarError("a header that must be complained of")
    return names


def _open(
    stream: _WithTail, names: tuple[str, ...], delimiter: str, *, has_header: bool
) -> pa.csv.CSVStreamingReader:
    if len(set(names)) < len(names):
        raise NotColumnarError("a name that stands twice")
    try:
        reader = pa.csv.open_csv(
            pa.PythonFile(stream, "r"),
            read_options=pa.csv.ReadOptions(
                block_size=_BLOCK_BYTES, column_names=None if has_header else list(names)
            ),
            parse_options=pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.large_string()),
                strings_can_be_null=False,
                quoted_strings_can_be_null=False,
            ),
        )
        found = tuple(reader.schema.names)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise NotColumnarError("not CSV") from error
    if found != names:
        raise NotColumnarError("another header")
    return reader


def _batches(reader: pa.csv.CSVStreamingReader, end: str) -> Iterator[pa.RecordBatch]:
    held = _next_batch(reader)
    while held is not None:
        batch, held = held, _next_batch(reader)
        yield _visible(_without_end(batch, end) if held is None else batch)


def _next_batch(reader: pa.csv.CSVStreamingReader) -> pa.RecordBatch | None:
    try:
        batch = reader.read_next_batch()
        while batch.num_rows == 0:
            batch = reader.read_next_batch()
    except StopIteration:
        return None
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise NotColumnarError("a row that must be complained of") from error
    return batch


def _without_end(batch: pa.RecordBatch, end: str) -> pa.RecordBatch:
    """Take off the row that was sent behind the last line; an open quote has swallowed it."""
    last = batch.num_rows - 1
    if any(column[last].as_py() != end for column in batch.columns):
        raise NotColumnarError("a quote that is never closed")
    return batch.slice(0, last)


def _as_in_text_mode(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Turn the line ends within quotes to those of text mode; outside there are none left."""
    columns = [
        _with_line_feeds(column) if _holds_return(column) else column for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _holds_return(column: pa.Array) -> bool:
    starts, data = list_offsets(column), column.buffers()[2]
    return data is not None and contains_literal(data[int(starts[0]) : int(starts[-1])], "\r")


def _with_line_feeds(column: pa.Array) -> pa.Array:
    column = pc.replace_substring(column, pattern="\r\n", replacement="\n")
    return pc.replace_substring(column, pattern="\r", replacement="\n")


def _visible(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Leave out the rows without any visible character."""
    doubtful = np.flatnonzero(~starts_with_visible_ascii(batch.column(0)))
    if len(doubtful) == 0:
        return batch
    kept = np.ones(batch.num_rows, bool)
    rows = batch.take(int64_array(doubtful)).to_pylist()
    kept[doubtful] = [any(cell.strip() for cell in row.values()) for row in rows]
    return batch if kept.all() else batch.take(int64_array(np.flatnonzero(kept)))
