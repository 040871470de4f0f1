"""Decode Parquet, and the Arrow files that the source `hf` writes, to columns.

Unwanted columns are not read, so damage inside them is not noticed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from registry.decode.frame import Frame, NotColumnarError, Wanted, heads_of

if TYPE_CHECKING:
    from registry.decode.stream import SourceBytes
    from registry.manifest.source import Source

__all__ = ["chosen", "read_arrow_tables", "read_parquet_tables"]

_FIRST_ROWS = 1 << 9
_BATCH_ROWS = 1 << 14
_BATCH_BYTES = 1 << 21
"""pyarrow and the mapping hold several times as much; more is no faster."""


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
