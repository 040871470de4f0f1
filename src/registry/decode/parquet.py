"""Parquet, and the Arrow files that the Hub source writes → records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.decode.bytes import SourceBytes, open_bytes
from registry.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.sample import DatasetRecord
    from registry.spec import Source

__all__ = ["read_arrow", "read_parquet"]

_BATCH_ROWS = 1024


def read_parquet(file: SourceBytes, source: Source, *, strict: bool) -> Iterator[DatasetRecord]:
    """Yield the rows of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with open_bytes(file) as data:
        try:
            for batch in pq.ParquetFile(data).iter_batches(_BATCH_ROWS):
                yield from batch.to_pylist()
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:  # not of pyarrow's
                raise
            message = f"not a Parquet file, or a damaged one: {error}"
            raise DecodeError(message, file=file.location) from error
        except (OverflowError, ValueError) as error:
            message = f"a value is beyond what Python holds: {error}"
            raise DecodeError(message, file=file.location) from error


def read_arrow(file: SourceBytes, source: Source, *, strict: bool) -> Iterator[DatasetRecord]:
    """Yield the rows of an Arrow IPC file on this machine."""
    import pyarrow as pa

    with pa.memory_map(file.local_path or file.location) as data:
        reader = pa.ipc.open_file(data)
        for index in range(reader.num_record_batches):
            yield from reader.get_batch(index).to_pylist()
