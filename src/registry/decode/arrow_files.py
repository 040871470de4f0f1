"""Decode Parquet, and the Arrow files that the source `hf` writes, to records or to columns.

Unwanted columns are not read, so damage inside them is not noticed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.decode.frame import Frame, NotColumnarError, Wanted, heads_of
from registry.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from registry.decode.stream import SourceBytes
    from registry.manifest.source import Source
    from registry.samples.sample import DatasetRecord

__all__ = ["chosen", "read_arrow", "read_arrow_tables", "read_parquet", "read_parquet_tables"]

_RECORDS = 1 << 10
"""Rows that are decoded to Python values at once."""
_FIRST_ROWS = 1 << 9
_BATCH_ROWS = 1 << 14
_BATCH_BYTES = 1 << 21
"""pyarrow and the mapping hold several times as much; more is no faster."""


def read_parquet(file: SourceBytes, source: Source, *, strict: bool) -> Iterator[DatasetRecord]:
    """Yield the rows of a Parquet file."""
    from registry.decode.parquet_files import open_parquet
    from registry.decode.parquet_footers import InvalidParquetError

    try:
        with open_parquet(file) as parquet:
            parquet.rows = _RECORDS
            yield from _records(parquet.batches(), file)
    except InvalidParquetError as error:
        raise DecodeError(str(error), file=file.location) from error


def read_arrow(file: SourceBytes, source: Source, *, strict: bool) -> Iterator[DatasetRecord]:
    """Yield the rows of an Arrow IPC file on this machine."""
    import pyarrow as pa

    # Not mapped to memory: if another process cut the file, that would end this one.
    with pa.OSFile(file.local_path or file.location) as data:
        try:
            reader = pa.ipc.open_file(data)
            batches = map(reader.get_batch, range(reader.num_record_batches))
            yield from _records(batches, file)
        except (pa.ArrowException, OSError) as error:
            message = f"a damaged Arrow file: {error} (try again)"
            raise DecodeError(message, file=file.location) from error


def _records(batches: Iterable[pa.RecordBatch], file: SourceBytes) -> Iterator[DatasetRecord]:
    """Yield the rows of batches; a value that Python can't represent is a DecodeError."""
    rows_before = 0 if file.row_groups is None else file.row_groups.rows_before
    for batch in batches:
        names = batch.schema.names
        if len(set(names)) < len(names):
            duplicate = next(name for name in names if names.count(name) > 1)
            raise DecodeError(f"duplicate column '{duplicate}'", file=file.location)
        try:
            records = batch.to_pylist()
        except (OverflowError, ValueError) as error:
            row, fault = _first_fault(batch)
            message = f"row {rows_before + row}, {fault}"
            raise DecodeError(message, file=file.location) from error
        yield from records
        rows_before += batch.num_rows


def _first_fault(batch: pa.RecordBatch) -> tuple[int, str]:
    """Return the number of the first row with a value that is no Python value, and what it is."""
    for row in range(batch.num_rows):
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            try:
                column[row].as_py()
            except UnicodeDecodeError:
                return row + 1, f"column '{name}': a string that is not UTF-8"
            except (OverflowError, ValueError) as error:
                return row + 1, f"column '{name}': a value is out of range for Python: {error}"
    raise AssertionError("every value is one of Python")


def read_parquet_tables(file: SourceBytes, source: Source, wanted: Wanted) -> Iterator[Frame]:
    """Yield the rows of a Parquet file as columns."""
    from registry.decode.parquet_files import open_parquet
    from registry.decode.parquet_footers import InvalidParquetError

    try:
        with open_parquet(file) as opened:
            parquet = opened.parquet
            names = chosen(parquet.schema_arrow.names, wanted)
            # pyarrow takes `columns` as paths into structs, so it can't select a dotted name.
            columns = None if any("." in name for name in names) else names
            groups = [parquet.metadata.row_group(number) for number in opened.groups]
            encoded: int = sum(group.total_byte_size for group in groups)
            count: int = sum(group.num_rows for group in groups)
            fitting = _BATCH_BYTES * count // max(encoded, 1)
            most = max(64, min(_BATCH_ROWS, fitting))
            opened.rows = min(_FIRST_ROWS, most)
            for batch in opened.batches(columns):
                decoded = _validated(batch.select(names))
                yield Frame(decoded)
                # The encoded size is misleading, as a string that many rows repeat is encoded
                # once. Start with few rows, and grow by the decoded size of those before.
                fitting = _BATCH_BYTES * decoded.num_rows // max(decoded.nbytes, 1)
                opened.rows = min(max(1, min(4 * opened.rows, fitting)), most)
    except InvalidParquetError as error:
        raise NotColumnarError("an invalid file") from error


def read_arrow_tables(file: SourceBytes, source: Source, wanted: Wanted) -> Iterator[Frame]:
    """Yield the rows of a local Arrow IPC file as columns."""
    import pyarrow as pa

    with pa.OSFile(file.local_path or file.location) as data:
        try:
            reader = pa.ipc.open_file(data)
            names = chosen(reader.schema.names, wanted)
            waiting: list[pa.RecordBatch] = []
            for number in range(reader.num_record_batches):
                waiting.append(reader.get_batch(number).select(names))
                # `datasets` writes batches of 1,000 rows or fewer, too small to map efficiently.
                rows = sum(batch.num_rows for batch in waiting)
                if rows >= _BATCH_ROWS or sum(batch.nbytes for batch in waiting) >= _BATCH_BYTES:
                    yield Frame(_validated(pa.concat_batches(waiting)))
                    waiting = []
            if waiting:
                yield Frame(_validated(pa.concat_batches(waiting)))
        except (pa.ArrowException, OSError) as error:
            raise NotColumnarError("a damaged file") from error


def _validated(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the rows if their strings are UTF-8, which neither of pyarrow's readers checks."""
    import pyarrow as pa

    try:
        batch.validate(full=True)
    except pa.ArrowInvalid as error:
        raise NotColumnarError("an invalid value") from error
    return batch


def chosen(names: Sequence[str], wanted: Wanted) -> list[str]:
    """Return the columns of a file that are wanted, or that a wanted path may start with."""
    if len(set(names)) < len(names):
        raise NotColumnarError("a duplicate column name")
    if wanted is None:
        return list(names)
    heads = heads_of(wanted)
    return [name for name in names if name in heads]
