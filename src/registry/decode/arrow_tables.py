"""Parquet, and the Arrow files that the Hub source writes → columns.

Columns that nobody asks for are not read, so what can't be read of them is not noticed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from registry.decode.bytes import open_bytes
from registry.decode.frame import Frame, NotColumnarError, Wanted

if TYPE_CHECKING:
    import pyarrow.parquet as pq

    from registry.decode.bytes import SourceBytes
    from registry.spec import Source

__all__ = ["read_arrow_tables", "read_parquet_tables"]

_BATCH_ROWS = 1 << 16
_BATCH_BYTES = 1 << 25


def read_parquet_tables(file: SourceBytes, source: Source, wanted: Wanted) -> Iterator[Frame]:
    """Yield the rows of a Parquet file as columns."""
    import pyarrow.parquet as pq

    with open_bytes(file) as data:
        try:
            opened = pq.ParquetFile(data)
            # Parquet reads columns by path; a dotted name of a column of its own has none.
            names = _chosen(opened.schema_arrow.names, wanted)
            dotted = any("." in name for name in names)
            batches = opened.iter_batches(_rows_of(opened), columns=None if dotted else names)
            for batch in batches:
                yield _frame(batch.select(names))
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:  # not of pyarrow's
                raise
            raise NotColumnarError("a file that must be complained of") from error


def _rows_of(opened: pq.ParquetFile) -> int:
    """Return how many rows make a batch of bounded size."""
    groups = [opened.metadata.row_group(at) for at in range(opened.metadata.num_row_groups)]
    size: int = sum(group.total_byte_size for group in groups)
    rows: int = opened.metadata.num_rows
    return max(64, min(_BATCH_ROWS, _BATCH_BYTES * rows // max(size, 1)))


def read_arrow_tables(file: SourceBytes, source: Source, wanted: Wanted) -> Iterator[Frame]:
    """Yield the rows of an Arrow IPC file on this machine as columns."""
    with pa.memory_map(file.local_path or file.location) as data:
        reader = pa.ipc.open_file(data)
        names = _chosen(reader.schema.names, wanted)
        waiting: list[pa.RecordBatch] = []
        for number in range(reader.num_record_batches):
            waiting.append(reader.get_batch(number).select(names))
            rows = sum(batch.num_rows for batch in waiting)
            if rows >= _BATCH_ROWS or sum(batch.nbytes for batch in waiting) >= _BATCH_BYTES:
                yield _frame(pa.concat_batches(waiting))
                waiting = []
        if waiting:
            yield _frame(pa.concat_batches(waiting))


def _frame(batch: pa.RecordBatch) -> Frame:
    """Return rows as a frame, if their texts are UTF-8: neither format has its readers check it."""
    try:
        batch.validate(full=True)
    except pa.ArrowInvalid as error:
        raise NotColumnarError("a value that is not of its type") from error
    return Frame(batch)


def _chosen(names: Sequence[str], wanted: Wanted) -> list[str]:
    """Return the columns of a file that wanted names may mean: themselves, or paths into them."""
    if len(set(names)) < len(names):
        raise NotColumnarError("a name that stands twice")
    if wanted is None:
        return list(names)
    heads = {head for name in wanted for head in _heads(name)}
    return [name for name in names if name in heads]


def _heads(name: str) -> Iterator[str]:
    """Yield what a dotted path may begin with: `a.b.c`, `a`, `a.b`."""
    yield name
    parts = name.split(".")
    yield from (".".join(parts[:count]) for count in range(1, len(parts)))
