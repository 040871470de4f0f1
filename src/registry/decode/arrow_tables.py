"""Parquet, and the Arrow files that the Hub source writes → columns.

Columns that nobody asks for are not read, so what can't be read of them is not noticed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from registry.decode.frame import Frame, NotColumnarError, Wanted
from registry.decode.stream import open_bytes

if TYPE_CHECKING:
    import pyarrow.parquet as pq

    from registry.decode.stream import SourceBytes
    from registry.manifest.source import Source

__all__ = ["read_arrow_tables", "read_parquet_tables"]

_FIRST_ROWS = 1 << 9
_BATCH_ROWS = 1 << 14
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
            columns = None if dotted else names
            most = _most_rows(opened)
            rows = min(_FIRST_ROWS, most)
            for read in opened.iter_batches(rows, columns=columns):
                batch = _decoded(_sound(read.select(names)))
                yield Frame(batch)
                rows = min(_next_rows(batch, rows), most)
                opened.reader.set_batch_size(rows)  # of the batches that are not read yet
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:  # not of pyarrow's
                raise
            raise NotColumnarError("a file that must be complained of") from error


def _most_rows(opened: pq.ParquetFile) -> int:
    """Return how many rows make a batch of bounded size, as far as encoded sizes tell."""
    groups = [opened.metadata.row_group(at) for at in range(opened.metadata.num_row_groups)]
    size: int = sum(group.total_byte_size for group in groups)
    rows: int = opened.metadata.num_rows
    return max(64, min(_BATCH_ROWS, _BATCH_BYTES * rows // max(size, 1)))


def _next_rows(batch: pa.RecordBatch, rows: int) -> int:
    """Return how many rows to read behind a batch for which `rows` were asked for.

    A text that stands in many rows is encoded once, so that only what was read tells the size.
    """
    fitting: int = _BATCH_BYTES * batch.num_rows // max(batch.nbytes, 1)
    return max(1, min(4 * rows, fitting))


def _decoded(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows with the values of a dictionary in their places."""
    for place, column in enumerate(batch.columns):
        if pa.types.is_dictionary(column.type):
            batch = batch.set_column(place, batch.schema.names[place], column.dictionary_decode())
    return batch


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
                yield Frame(_sound(pa.concat_batches(waiting)))
                waiting = []
        if waiting:
            yield Frame(_sound(pa.concat_batches(waiting)))


def _sound(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows whose texts are UTF-8: neither format has its readers check it."""
    try:
        batch.validate(full=True)
    except pa.ArrowInvalid as error:
        raise NotColumnarError("a value that is not of its type") from error
    return batch


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
