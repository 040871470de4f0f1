"""Decode Parquet, and the Arrow files that the source `hf` writes, to records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.decode.stream import SourceBytes
from registry.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from registry.manifest.source import Source
    from registry.samples.sample import DatasetRecord

__all__ = ["read_arrow", "read_parquet"]

_BATCH_ROWS = 1024


def read_parquet(file: SourceBytes, source: Source, *, strict: bool) -> Iterator[DatasetRecord]:
    """Yield the rows of a Parquet file."""
    from registry.decode.parquet_files import open_parquet
    from registry.decode.parquet_footers import InvalidParquetError

    try:
        with open_parquet(file) as parquet:
            parquet.rows = _BATCH_ROWS
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
