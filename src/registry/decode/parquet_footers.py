"""Read footers of Parquet files: one that lies is an error, where it would end the process."""

from __future__ import annotations

import contextlib
import io
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from registry.decode.parquet_pages import FOOTER_SAYS, InvalidPageError
from registry.decode.stream import PositionedFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from registry.decode.stream import Ranges

__all__ = [
    "Chunk",
    "InvalidParquetError",
    "Leaf",
    "chunks_of",
    "leaves_of",
    "read_footer",
    "reading_parquet",
]


class InvalidParquetError(ValueError):
    """The content of a file is no Parquet."""

    def __init__(self, what: str) -> None:
        """Say what is wrong with it."""
        hint = "get it again, or write it anew"
        super().__init__(f"not a Parquet file, or a damaged one: {what.strip()} ({hint})")


class Leaf(NamedTuple):
    """A column that has values, as the schema describes it: what its chunks say of that may lie."""

    number: int
    path: str
    is_text: bool
    """Whether each value has its own length."""
    length: int | None
    """Bytes of each value, if all have as many."""
    is_list: bool
    """Whether a row may have several values."""


class Chunk(NamedTuple):
    """A column in a row group, as the footer describes it."""

    group: int
    leaf: Leaf
    rows: int
    """In the group."""
    metadata: Any

    @property
    def place(self) -> range:
        """Its bytes."""
        # Its dictionary is first, whatever the footer says, or nobody reads it.
        found = (self.metadata.dictionary_page_offset, self.metadata.data_page_offset)
        start = min((offset for offset in found if offset), default=0)  # 0 if it has no page
        return range(start, start + self.metadata.total_compressed_size)

    @property
    def values_per_row(self) -> int:
        """How many values each row has, rounded up; more than 1 only in lists."""
        return -(-int(self.metadata.num_values) // max(1, self.rows)) or 1

    @property
    def has_dictionary(self) -> bool:
        """Whether its values may be read as those of a dictionary."""
        return self.leaf.is_text and "DELTA_BYTE_ARRAY" not in self.metadata.encodings


def read_footer(data: IO[bytes] | Ranges) -> pq.FileMetaData:
    """Return what the footer of a file says, if all its columns can be asked for.

    Raises:
        InvalidParquetError: it is invalid.
    """
    with reading_parquet():
        metadata = pq.read_metadata(data)
        rows, columns = 0, metadata.num_columns
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            rows += group.num_rows
            if group.num_rows < 0 or group.num_columns != columns:
                of_group = f"row group {number + 1} has {group.num_rows:,} rows"
                message = (
                    f"{of_group} of {group.num_columns} columns, while the schema has {columns}"
                )
                raise InvalidParquetError(message)
        if rows != metadata.num_rows:
            message = f"its row groups have {rows:,} rows, {FOOTER_SAYS} {metadata.num_rows:,}"
            raise InvalidParquetError(message)
        if columns:
            _probe(metadata, data.seek(0, io.SEEK_END))
        return metadata


def leaves_of(metadata: pq.FileMetaData, columns: Sequence[str] | None) -> list[Leaf]:
    """Return those columns of the schema that have values; of some columns, or of all."""
    wanted = None if columns is None else frozenset(columns)
    found = []
    for number in range(metadata.num_columns):
        one = metadata.schema.column(number)
        if wanted is None or one.path.partition(".")[0] in wanted:
            kind = one.physical_type
            length = one.length if kind == "FIXED_LEN_BYTE_ARRAY" else None
            is_list = one.max_repetition_level > 0
            found.append(Leaf(number, one.path, kind == "BYTE_ARRAY", length, is_list))
    return found


def chunks_of(metadata: pq.FileMetaData, group: int, leaves: Sequence[Leaf]) -> list[Chunk]:
    """Return the columns of a row group."""
    found = metadata.row_group(group)
    return [Chunk(group, leaf, found.num_rows, found.column(leaf.number)) for leaf in leaves]


@contextlib.contextmanager
def reading_parquet() -> Iterator[None]:
    """Raise an InvalidParquetError where pyarrow finds that content is invalid."""
    try:
        yield
    except (pa.ArrowException, OSError, InvalidPageError, UnicodeDecodeError) as error:
        # pyarrow reports invalid content as OSErrors too; only those of the file have an errno.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise InvalidParquetError(str(error)) from error


def _probe(metadata: pq.FileMetaData, size: int) -> None:
    """Look at each column of each row group.

    Where the footer lies about one (a histogram of another length, for example), `column()` ends
    the process with an exception of C++ that nobody catches. `iter_batches` raises it as an error:
    with `pre_buffer` it looks at all of them before it reads the first byte.
    """
    parquet = pq.ParquetFile(_Unread(size), metadata=metadata, pre_buffer=True)
    try:
        next(parquet.iter_batches(1, row_groups=range(metadata.num_row_groups)), None)
    except _UnreadError as error:
        error.__traceback__ = None  # the reader keeps the error, which would keep the reader


class _UnreadError(Exception):
    """Bytes were read."""


class _Unread(PositionedFile):
    """A file of which nothing is read."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size

    def read(self, size: int | None = -1, /) -> bytes:
        raise _UnreadError

    def _end(self) -> int:
        return self._size

    def _read_some(self, stop: int) -> bytes:
        raise _UnreadError
