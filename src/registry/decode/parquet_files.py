"""Open Parquet files, within limits: a page of a few bytes may stand for gigabytes of values."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import shutil
import tempfile
from typing import IO, TYPE_CHECKING, Any, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from registry.decode.bounded import HARMLESS_BYTES
from registry.decode.parquet_footers import (
    InvalidParquetError,
    chunks_of,
    leaves_of,
    read_footer,
    reading_parquet,
)
from registry.decode.parquet_pages import FOOTER_SAYS, CheckedPages, page_at
from registry.decode.stream import RowGroups, open_bytes
from registry.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from registry.decode.parquet_footers import Chunk
    from registry.decode.stream import Ranges, SourceBytes

__all__ = ["OpenParquet", "divided", "open_parquet"]

# Beyond these, decoded rows, or the unpacked pages of a column, may be a bomb.
_MOST_DECODED = 1 << 26
_HARMLESS_COLUMN = 1 << 26
_HARMLESS_GROUP = 1 << 28
_VALUE_BYTES = 16
_ITEM_BYTES = 32
"""What a value in a list takes, with its levels, even if it is null."""
_READ: dict[str, Any] = {"pre_buffer": False, "buffer_size": 1 << 18}
"""Without `pre_buffer`, which keeps the bytes of all row groups; by pages, not by whole columns."""


class OpenParquet:
    """An open file, whose row groups are read one after the other."""

    def __init__(
        self,
        data: IO[bytes] | Ranges,
        pages: CheckedPages,
        parquet: pq.ParquetFile,
        size: int,
        file: SourceBytes,
    ) -> None:
        self._data = data
        self._pages = pages
        self.parquet = parquet
        part = file.row_groups
        self.groups = range(
            *(0, parquet.num_row_groups) if part is None else (part.first, part.stop)
        )
        self.rows = 1
        """How many rows the next batch has at most."""
        self._size = size
        self._file = file
        self._decoded = 0

    def count(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return rows without dictionaries; a DecodeError if all so far are too large."""
        batch = _without_dictionaries(batch)
        self._decoded += batch.nbytes
        if self._decoded > max(HARMLESS_BYTES, self._file.limits.ratio * self._size):
            raise _ratio_error(self._file, f"{self._size:,} bytes decode to {self._decoded:,}")
        return batch

    def batches(self, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of its row groups, `rows` at a time, with all columns if none are named.

        Of a remote file, only the groups and columns that are read are looked at.
        """
        leaves = leaves_of(self.parquet.metadata, columns)
        for group in self.groups:
            chunks = chunks_of(self.parquet.metadata, group, leaves)
            if self._file.ranges is not None:
                cast("Ranges", self._data).expect([chunk.place for chunk in chunks])
            self._check_size(chunks)
            self._pages.check([(chunk.place, chunk.metadata) for chunk in chunks])
            most = self._rows_at_a_time(chunks)
            said = self.parquet.metadata.row_group(group).num_rows
            # Of no columns, pyarrow makes as many batches as are claimed, at once.
            found = (
                _without_columns(said, self.rows)
                if not leaves
                else self.parquet.iter_batches(
                    min(self.rows, most), row_groups=[group], columns=columns
                )
            )
            rows = 0
            for batch in found:
                rows += batch.num_rows
                yield self.count(batch)
                self.parquet.reader.set_batch_size(min(self.rows, most))  # for the following
            if rows != said:
                message = f"row group {group + 1} has {rows:,} rows, {FOOTER_SAYS} {said:,}"
                raise InvalidParquetError(message)

    def _check_size(self, chunks: Sequence[Chunk]) -> None:
        """Refuse a row group of many columns, each of which may be large: all are in memory."""
        packed = sum(chunk.metadata.total_compressed_size for chunk in chunks)
        size = sum(chunk.metadata.total_uncompressed_size for chunk in chunks)
        if size > max(_HARMLESS_GROUP, self._file.limits.ratio * packed):
            raise _ratio_error(self._file, f"{packed:,} bytes of a row group unpack to {size:,}")

    def _rows_at_a_time(self, chunks: Sequence[Chunk]) -> int:
        """Return how many rows can be decoded at a time, whichever values of a dictionary they are.

        Raises:
            DecodeError: a single row of a column may be too large.
        """
        values = max((chunk.metadata.num_values for chunk in chunks), default=0)
        if values * sum(map(_most_repeated, chunks)) <= _MOST_DECODED:
            return _MOST_DECODED
        sizes = [_largest_value(self._pages, self.parquet, chunk) for chunk in chunks]
        width = sum(size * chunk.values_per_row for size, chunk in zip(sizes, chunks, strict=True))
        rows = max(1, _MOST_DECODED // max(1, width))
        for value, chunk in zip(sizes, chunks, strict=True):
            packed = chunk.metadata.total_compressed_size
            most = max(HARMLESS_BYTES, self._file.limits.ratio * packed)
            # Where a row of lists ends, only its values say: it may have all of them.
            size = value * chunk.metadata.num_values if chunk.leaf.is_list else value
            if size > most and self._largest_batch(chunk, rows, size) > most:
                what = f"{packed:,} bytes of the column '{chunk.leaf.path}' may decode to {size:,}"
                raise _ratio_error(self._file, f"{what} in a row")
        return rows

    def _largest_batch(self, chunk: Chunk, rows: int, size: int) -> int:
        """Return how large the values of a column in so many rows are at most; at first `size`."""
        if not chunk.leaf.is_list or not chunk.has_dictionary:
            return size
        found = 0
        for batch in _with_dictionary(self._pages, self.parquet, chunk, rows):
            values = _dictionary_of(batch)
            if values is None:
                return size
            lengths = pc.binary_length(values.dictionary).take(values.indices)
            found = max(found, int(pc.sum(lengths).as_py() or 0))
        return found


def divided(data: IO[bytes], least: int) -> list[RowGroups]:
    """Return the parts of a file that unpack to `least` bytes each, or slightly more.

    None of a file that is invalid: who decodes it says so.
    """
    try:
        metadata = read_footer(data)
    except InvalidParquetError:
        return []
    parts: list[RowGroups] = []
    first = rows_before = rows = size = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        rows, size = rows + group.num_rows, size + group.total_byte_size
        if size >= least or number + 1 == metadata.num_row_groups:
            parts.append(RowGroups(first, number + 1, rows_before))
            first, rows_before, rows, size = number + 1, rows_before + rows, 0, 0
    return parts


@contextlib.contextmanager
def open_parquet(file: SourceBytes) -> Iterator[OpenParquet]:
    """Open a Parquet file; one whose server sends no parts of it is copied first.

    Raises:
        DecodeError: it unpacks to more than its limits allow.
        InvalidParquetError: it is invalid, also while it is read.
    """
    if file.location.packed_suffix:
        file = dataclasses.replace(file, ranges=None)
    with _seekable(file) as data, reading_parquet():
        yield _opened(data, file)


@contextlib.contextmanager
def _seekable(file: SourceBytes) -> Iterator[IO[bytes] | Ranges]:
    if file.ranges is not None:
        with file.ranges() as parts:
            yield parts
        return
    with open_bytes(file) as data, contextlib.ExitStack() as stack:
        if data.seekable():
            yield data
        else:
            copy = stack.enter_context(tempfile.TemporaryFile())
            shutil.copyfileobj(data, copy)
            yield cast("IO[bytes]", copy)


def _opened(data: IO[bytes] | Ranges, file: SourceBytes) -> OpenParquet:
    pages, metadata = CheckedPages(data, file.location, file.limits), read_footer(data)
    # Of parts, nothing else may tell that a byte changed on the way.
    is_checked = file.ranges is not None
    parquet = pq.ParquetFile(
        pages, metadata=metadata, page_checksum_verification=is_checked, **_READ
    )
    if metadata.num_rows > file.limits.records:
        message = file.limits.message("records", "the file has", "rows")
        raise DecodeError(message, file=file.location)
    part = file.row_groups
    of_part = range(0) if part is None else range(part.first, part.stop)
    unpacked = packed = 0
    leaves = leaves_of(metadata, None)
    for group in range(metadata.num_row_groups):
        for chunk in chunks_of(metadata, group, leaves):
            _check_chunk(chunk, file)
            unpacked += chunk.metadata.total_uncompressed_size
            packed += chunk.metadata.total_compressed_size if group in of_part else 0
    if unpacked > file.limits.unpacked_bytes:
        message = file.limits.message("unpacked_bytes", "the file unpacks to", "bytes")
        raise DecodeError(message, file=file.location)
    # A part may decode to its share of what the file may.
    size = data.seek(0, io.SEEK_END) if part is None else packed
    return OpenParquet(data, pages, parquet, size, file)


def _check_chunk(chunk: Chunk, file: SourceBytes) -> None:
    metadata = chunk.metadata
    packed, values = metadata.total_compressed_size, metadata.num_values
    size, most = metadata.total_uncompressed_size, file.limits.ratio * packed
    if size > max(_HARMLESS_COLUMN, most):
        raise _ratio_error(file, f"{_bytes_of(chunk)} unpack to {size:,}")
    # Lists in a row may be as long as their lengths say, without a byte for each value.
    if chunk.leaf.is_list and values * _ITEM_BYTES > max(HARMLESS_BYTES, most):
        raise _ratio_error(file, f"{_bytes_of(chunk)} have {values:,} values")
    if size < 0 or values < chunk.rows or (values > chunk.rows and not chunk.leaf.is_list):
        what = f"{values:,} values of {size:,} bytes in {chunk.rows:,} rows"
        raise InvalidParquetError(f"the column '{chunk.leaf.path}' has {what}")
    # pyarrow would begin elsewhere than at `chunk.place`.
    if values and (metadata.data_page_offset <= 0 or (metadata.dictionary_page_offset or 0) < 0):
        raise InvalidParquetError(f"the column '{chunk.leaf.path}' begins nowhere")


def _bytes_of(chunk: Chunk) -> str:
    return f"{chunk.metadata.total_compressed_size:,} bytes of the column '{chunk.leaf.path}'"


def _ratio_error(file: SourceBytes, what: str) -> DecodeError:
    message = file.limits.message("ratio", f"{what}, so each gives", "bytes")
    return DecodeError(message, file=file.location)


def _most_repeated(chunk: Chunk) -> int:
    """Return at least the bytes that one value of a column may have."""
    if chunk.leaf.length is not None:  # also a null, of no byte
        return _MOST_DECODED
    return int(chunk.metadata.total_uncompressed_size)


def _largest_value(pages: CheckedPages, parquet: pq.ParquetFile, chunk: Chunk) -> int:
    """Return at least the bytes that one value has in each row of a column that repeats it."""
    metadata = chunk.metadata
    if chunk.leaf.length is not None:
        return chunk.leaf.length
    if not chunk.leaf.is_text:
        return _VALUE_BYTES
    if not chunk.has_dictionary:  # a value is the start of the one before, and more
        return 2 * int(metadata.total_uncompressed_size)  # pyarrow holds it twice
    page = page_at(pages, chunk.place)
    size = page.unpacked if page.is_dictionary else 0
    rows = min(metadata.num_values, 1 << 14)
    if size * rows <= _MOST_DECODED:
        return size
    # Usually many values share the dictionary: the size of the largest is worth one more look.
    batch = next(_with_dictionary(pages, parquet, chunk, 1), None)
    values = None if batch is None else _dictionary_of(batch)
    if values is None:  # of a type that has none
        return size
    return int(pc.max(pc.binary_length(values.dictionary)).as_py() or 0)


def _with_dictionary(
    pages: CheckedPages, parquet: pq.ParquetFile, chunk: Chunk, rows: int
) -> Iterator[pa.RecordBatch]:
    """Yield the values of a column as numbers of those in its dictionary, some rows at a time."""
    columns = [chunk.leaf.path]
    reader = pq.ParquetFile(pages, read_dictionary=columns, metadata=parquet.metadata, **_READ)
    yield from reader.iter_batches(rows, row_groups=[chunk.group], columns=columns)


def _without_columns(rows: int, most: int) -> Iterator[pa.RecordBatch]:
    """Yield rows without values, some at a time."""
    for first in range(0, rows, most):
        count = min(most, rows - first)
        empty = pa.StructArray.from_buffers(pa.struct([]), count, [None])
        yield pa.RecordBatch.from_struct_array(empty)


def _without_dictionaries(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows with the values of dictionaries, which the schema of Arrow in a file may ask for.

    As numbers of its dictionary, a column has hardly a byte for each value, however long. What is
    invalid stays as it is: whoever converts it says so.
    """
    for position, column in enumerate(batch.columns):
        plain = _plain(column.type)
        if plain != column.type:
            try:
                column.validate(full=True)  # a cast trusts the numbers
            except pa.ArrowInvalid:
                return batch
            batch = batch.set_column(position, batch.schema.names[position], column.cast(plain))
    return batch


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return a type with the values of dictionaries in place of them."""
    if pa.types.is_dictionary(kind):
        return kind.value_type
    parts = [part.with_type(_plain(part.type)) for part in map(kind.field, range(kind.num_fields))]
    if pa.types.is_struct(kind):
        return pa.struct(parts)
    if pa.types.is_map(kind):
        return pa.map_(*parts[0].type)
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(parts[0], kind.list_size)
    if pa.types.is_large_list(kind):
        return pa.large_list(parts[0])
    return pa.list_(parts[0]) if pa.types.is_list(kind) else kind


def _dictionary_of(batch: pa.RecordBatch) -> pa.DictionaryArray | None:
    """Return the only values of a batch, without the lists and structs around them."""
    found = batch.column(0) if batch.num_columns == 1 else None
    while isinstance(found, pa.ListArray | pa.LargeListArray | pa.StructArray):
        if isinstance(found, pa.StructArray):
            found = found.field(0) if found.type.num_fields == 1 else None  # two of a name
        else:
            found = found.values
    return found if isinstance(found, pa.DictionaryArray) else None
