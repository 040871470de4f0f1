"""Decode CSV to columns of strings."""

from __future__ import annotations

import csv
import io
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
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
from registry.decode.stream import is_stand_in, is_utf8, open_bytes

if TYPE_CHECKING:
    from registry.decode.stream import SourceBytes
    from registry.manifest.source import Source
    from registry.manifest.source_models import CsvSource

__all__ = ["read_csv_tables"]

_BLOCK_BYTES = 1 << 21
_HEADER_BYTES = 1 << 16
_DELIMITERS = frozenset(",;\t|")


def read_csv_tables(file: SourceBytes, source: Source, wanted: Wanted) -> Iterator[Frame]:
    """Yield the rows of a file as columns of strings; unwanted ones too, as all are checked."""
    options = cast("CsvSource", source)
    delimiter = options.delimiter or csv.get_dialect(options.dialect).delimiter
    if delimiter not in _DELIMITERS or options.skip_rows or not is_utf8(options.encoding):
        raise NotColumnarError("a form of CSV that is only read row by row")
    with open_bytes(file) as data:
        stream = _WithTail(data)
        if is_stand_in(stream.head[:256]):
            raise NotColumnarError("a page or pointer in place of data")
        names = options.fieldnames or _header(stream.head, delimiter)
        end = end_of_rows()
        stream.tail = f"\n{delimiter.join([end] * len(names))}\n".encode()
        reader = _open(stream, names, delimiter, has_header=options.fieldnames is None)
        with closing(_ahead(reader)) as batches:
            for batch, is_last in batches:
                rows = _drop_whitespace_rows(_without_tail(batch, end) if is_last else batch)
                yield Frame(_normalize_newlines(rows) if stream.has_returns else rows)


class _WithTail(io.RawIOBase):
    """The bytes of a file, followed by `tail`."""

    def __init__(self, data: IO[bytes]) -> None:
        super().__init__()
        self._data = data
        self.head = data.read(_BLOCK_BYTES)
        """The first bytes."""
        self.has_returns = b"\r" in self.head
        """Whether the bytes that were read so far have a CR."""
        self.tail = b""
        """Bytes to append; set once the number of columns is known."""
        self._first: bytes | None = self.head

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        if self._first:
            first, self._first = self._first, None
            return first
        chunk = self._data.read(_BLOCK_BYTES)
        self.has_returns = self.has_returns or b"\r" in chunk
        if not chunk:
            chunk, self.tail = self.tail, b""
        return chunk


def _header(head: bytes, delimiter: str) -> tuple[str, ...]:
    """Return the column names in the first row, as the csv module reads them."""
    try:
        # As in text mode: without a byte-order mark, and with LF for every line end.
        text = io.StringIO(head[:_HEADER_BYTES].decode("utf-8-sig", "ignore"), newline=None)
        names = tuple(next(csv.reader(text, "unix", delimiter=delimiter), ()))
    except csv.Error as error:
        raise NotColumnarError("an invalid header") from error
    if not names or len(set(names)) < len(names) or not any(name.strip() for name in names):
        raise NotColumnarError("an invalid header")
    return names


def _open(
    stream: _WithTail, names: tuple[str, ...], delimiter: str, *, has_header: bool
) -> pa.csv.CSVStreamingReader:
    if len(set(names)) < len(names):
        raise NotColumnarError("a duplicate column name")
    try:
        reader = pa.csv.open_csv(
            pa.PythonFile(stream, "r"),
            read_options=pa.csv.ReadOptions(
                block_size=_BLOCK_BYTES, column_names=None if has_header else list(names)
            ),
            parse_options=pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            # No type is inferred: "1", "null" and "" are strings, as in the csv module.
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.large_string()),
                strings_can_be_null=False,
                quoted_strings_can_be_null=False,
            ),
        )
        found = tuple(reader.schema.names)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise NotColumnarError("invalid CSV") from error
    if found != names:
        raise NotColumnarError("a header that pyarrow reads differently")
    return reader


def _without_tail(batch: pa.RecordBatch, end: str) -> pa.RecordBatch:
    """Return the last rows of a file without the one that was appended."""
    last = batch.num_rows - 1
    if any(column[last].as_py() != end for column in batch.columns):
        raise NotColumnarError("an unclosed quote")
    return batch.slice(0, last)


def _ahead(reader: pa.csv.CSVStreamingReader) -> Generator[tuple[pa.RecordBatch, bool]]:
    """Yield each batch, and whether it is the last, which has the tail; a thread reads ahead."""
    batch = _next_batch(reader)
    if batch is None:
        return
    with ThreadPoolExecutor(1, thread_name_prefix="decode") as pool:
        waiting = pool.submit(_next_batch, reader)
        while (following := waiting.result()) is not None:
            waiting = pool.submit(_next_batch, reader)
            yield batch, False
            batch = following
    yield batch, True


def _next_batch(reader: pa.csv.CSVStreamingReader) -> pa.RecordBatch | None:
    try:
        batch = reader.read_next_batch()
        while batch.num_rows == 0:
            batch = reader.read_next_batch()
    except StopIteration:
        return None
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise NotColumnarError("an invalid row") from error
    return batch


def _drop_whitespace_rows(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the rows that have any character other than whitespace."""
    # Nearly always the first column alone rules out every row.
    candidates = np.flatnonzero(~starts_with_visible_ascii(batch.column(0)))
    if len(candidates) == 0:
        return batch
    is_kept = np.ones(batch.num_rows, bool)
    rows = batch.take(int64_array(candidates)).to_pylist()
    is_kept[candidates] = [any(cell.strip() for cell in row.values()) for row in rows]
    return batch if is_kept.all() else batch.take(int64_array(np.flatnonzero(is_kept)))


def _normalize_newlines(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows with LF for CRLF and CR inside cells, as text mode has it."""
    columns = []
    for column in batch.columns:
        text, offsets, data = column, list_offsets(column), column.buffers()[2]
        # Search the bytes first: the replacements copy the column even if there is no CR.
        if data is not None and contains_literal(data[int(offsets[0]) : int(offsets[-1])], "\r"):
            text = pc.replace_substring(text, pattern="\r\n", replacement="\n")
            text = pc.replace_substring(text, pattern="\r", replacement="\n")
        columns.append(text)
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)
