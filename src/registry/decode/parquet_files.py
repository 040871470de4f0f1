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
from registry.decode.stream import RowGroups, open_bytes
from registry.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.decode.stream import Ranges, SourceBytes

__all__ = [
    "InvalidParquetError",
    "OpenParquet",
    "chunks_of",
    "divided",
    "open_parquet",
    "place_of",
]

# Beyond these, decoded rows, or the unpacked pages of a column, may be a bomb.
_MOST_DECODED = 1 << 26
_HARMLESS_COLUMN = 1 << 26
_HEADER_BYTES = 32
_VALUE_BYTES = 16
_DICTIONARY_PAGE = 2
_READ: dict[str, Any] = {"pre_buffer": False, "buffer_size": 1 << 18}
"""Without `pre_buffer`, which keeps the bytes of all row groups; by pages, not by whole columns."""


class InvalidParquetError(Exception):
    """The content of a file is no Parquet."""


class OpenParquet:
    """An open file, whose row groups are read one after the other."""

    def __init__(
        self,
        data: IO[bytes] | Ranges,
        parquet: pq.ParquetFile,
        size: int,
        file: SourceBytes,
    ) -> None:
        self._data = data
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
        """Return a batch of rows; a DecodeError if all so far are too large for the file."""
        self._decoded += batch.nbytes
        limits = self._file.limits
        if self._decoded > max(HARMLESS_BYTES, limits.ratio * self._size):
            what = f"{self._size:,} bytes decode to {self._decoded:,}, so each gives"
            raise DecodeError(limits.message("ratio", what, "bytes"), file=self._file.location)
        return batch

    def batches(self, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of its row groups, `rows` at a time, with all columns if none are named.

        Of a remote file, only the groups and columns that are read are looked at.
        """
        for group in self.groups:
            if self._file.ranges is not None:
                chunks = chunks_of(self.parquet.metadata, group, columns)
                cast("Ranges", self._data).expect(list(map(place_of, chunks)))
            most = _rows_at_a_time(self._data, self.parquet, group, columns)
            found = self.parquet.iter_batches(
                min(self.rows, most), row_groups=[group], columns=columns
            )
            for batch in found:
                yield self.count(batch)
                self.parquet.reader.set_batch_size(min(self.rows, most))  # for the following


def divided(data: IO[bytes], least: int) -> list[RowGroups]:
    """Return the parts of a file that unpack to `least` bytes each, or slightly more.

    Raises:
        pyarrow.ArrowException: it is invalid.
    """
    metadata = pq.ParquetFile(data).metadata
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
    with _seekable(file) as data:
        try:
            yield _opened(data, file)
        except (pa.ArrowException, OSError) as error:
            # pyarrow reports invalid content as OSErrors too; only those of the file have an errno.
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise InvalidParquetError(str(error)) from error


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
    # Of parts, nothing else may tell that a byte changed on the way.
    parquet = pq.ParquetFile(data, page_checksum_verification=file.ranges is not None, **_READ)
    metadata, limits = parquet.metadata, file.limits
    if metadata.num_rows > limits.records:
        raise DecodeError(limits.message("records", "the file has", "rows"), file=file.location)
    unpacked = sum(metadata.row_group(at).total_byte_size for at in range(metadata.num_row_groups))
    if unpacked > limits.unpacked_bytes:
        message = limits.message("unpacked_bytes", "the file unpacks to", "bytes")
        raise DecodeError(message, file=file.location)
    chunks = [
        (group, metadata.row_group(group).column(column))
        for group in range(metadata.num_row_groups)
        for column in range(metadata.num_columns)
    ]
    for group, chunk in chunks:
        size = chunk.total_uncompressed_size
        if size > max(_HARMLESS_COLUMN, limits.ratio * chunk.total_compressed_size):
            what = (
                f"{chunk.total_compressed_size:,} bytes of the column '{chunk.path_in_schema}'"
                f" unpack to {size:,}, so each gives"
            )
            raise DecodeError(limits.message("ratio", what, "bytes"), file=file.location)
        # Lists in a row may be as long as their lengths say, without a byte for each value.
        size = chunk.num_values * _VALUE_BYTES if _values_per_row(metadata, group, chunk) > 1 else 0
        if size > max(HARMLESS_BYTES, limits.ratio * chunk.total_compressed_size):
            what = (
                f"{chunk.total_compressed_size:,} bytes of the column '{chunk.path_in_schema}'"
                f" have {chunk.num_values:,} values, so each gives"
            )
            raise DecodeError(limits.message("ratio", what, "bytes"), file=file.location)
    size = data.seek(0, io.SEEK_END)
    if file.row_groups is not None:  # a part may decode to its share of what the file may
        part = range(file.row_groups.first, file.row_groups.stop)
        size = sum(chunk.total_compressed_size for group, chunk in chunks if group in part)
    return OpenParquet(data, parquet, size, file)


def chunks_of(metadata: pq.FileMetaData, group: int, columns: list[str] | None) -> list[Any]:
    """Return those of the columns in a row group."""
    found = map(metadata.row_group(group).column, range(metadata.num_columns))
    return [
        chunk
        for chunk in found
        if columns is None or chunk.path_in_schema.partition(".")[0] in columns
    ]


def place_of(chunk: Any) -> range:
    """Return the bytes of a column in a row group, as the footer says."""
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    return range(start, start + chunk.total_compressed_size)


def _rows_at_a_time(
    data: IO[bytes] | Ranges, parquet: pq.ParquetFile, group: int, columns: list[str] | None
) -> int:
    """Return how many rows can be decoded at a time, whichever values of a dictionary they have."""
    metadata = parquet.metadata
    width = sum(
        _largest_value(data, parquet, group, chunk) * _values_per_row(metadata, group, chunk)
        for chunk in chunks_of(metadata, group, columns)
    )
    return max(1, _MOST_DECODED // max(1, width))


def _values_per_row(metadata: pq.FileMetaData, group: int, chunk: Any) -> int:
    """Return how many values a column has in each row, rounded up; more than 1 only in lists."""
    return -(-int(chunk.num_values) // max(1, metadata.row_group(group).num_rows)) or 1


def _largest_value(
    data: IO[bytes] | Ranges, parquet: pq.ParquetFile, group: int, chunk: Any
) -> int:
    """Return at least the bytes that one value has in each row of a column that repeats it."""
    if chunk.physical_type == "FIXED_LEN_BYTE_ARRAY":
        names = parquet.schema.names
        at = names.index(chunk.path_in_schema) if chunk.path_in_schema in names else -1
        return int(parquet.schema.column(at).length) if at >= 0 else chunk.total_uncompressed_size
    if chunk.physical_type != "BYTE_ARRAY":
        return _VALUE_BYTES
    if "DELTA_BYTE_ARRAY" in chunk.encodings:  # a value is the start of the one before, and more
        return 2 * int(chunk.total_uncompressed_size)  # pyarrow holds it twice
    size = _dictionary_bytes(data, chunk)
    rows = min(chunk.num_values, 1 << 14)
    if size * rows <= _MOST_DECODED:
        return size
    # Usually many values share the dictionary: the size of the largest is worth one more look.
    columns = [chunk.path_in_schema]
    reader = pq.ParquetFile(data, read_dictionary=columns, metadata=parquet.metadata, **_READ)
    batch = next(reader.iter_batches(1, row_groups=[group], columns=columns), None)
    column = None if batch is None or not batch.num_columns else batch.column(0)
    dictionary = getattr(column, "dictionary", None)
    if dictionary is None:  # nested, or of a type that has none
        return size
    return int(pc.max(pc.binary_length(dictionary)).as_py() or 0)


def _dictionary_bytes(data: IO[bytes] | Ranges, chunk: Any) -> int:
    """Return the unpacked size of a column's dictionary; 0 if it has none."""
    position = data.tell()
    data.seek(place_of(chunk).start)
    header = io.BytesIO(data.read(min(_HEADER_BYTES, len(place_of(chunk)))))
    data.seek(position)
    # Thrift's compact protocol: the first fields of a page are its type and its unpacked size.
    kind, size = _integer(header), _integer(header)
    if kind is None or size is None:
        return int(chunk.total_uncompressed_size)
    return size if kind == _DICTIONARY_PAGE else 0


def _integer(header: IO[bytes]) -> int | None:
    """Return the next field of a header if it is an integer that follows the field before."""
    if header.read(1) != b"\x15":
        return None
    number, shift = 0, 0
    while byte := header.read(1):
        number |= (byte[0] & 0x7F) << shift
        shift += 7
        if byte[0] < 0x80:
            return (number >> 1) ^ -(number & 1)  # zigzag
    return None
