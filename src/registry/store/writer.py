"""The samples file of the cache, written batch by batch."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Self

import pyarrow as pa

from registry.base.fs import HashedFile
from registry.store.reader import choice_ends
from registry.store.schema import with_all_columns

__all__ = ["SampleWriter"]

_BATCH_ROWS = 1 << 13
_BATCH_BYTES = 1 << 21


class SampleWriter:
    """Writes a samples file in a thread of its own.

    Small batches are put together, so that readers meet few, and columns without any value are
    left out: nulls take room, too.
    """

    def __init__(
        self, path: Path, schema: pa.Schema, watch: Callable[[pa.RecordBatch], None]
    ) -> None:
        """Begin a file.

        Args:
            path: The file.
            schema: Columns of the batches.
            watch: Is called with each batch as it is written.
        """
        self._path = path
        self._schema = schema
        self._watch = watch
        self._gathered: list[pa.RecordBatch] = []
        self._gathered_rows = self._gathered_bytes = 0
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="write")
        self._under_way: deque[Future[None]] = deque()
        self.rows = 0
        """Rows so far."""
        self.batches: list[list[int]] = []
        """Rows and choices of each batch, as `SampleFile` takes them."""
        self.columns: set[str] = set()
        """Columns that are not null in every row."""
        self._begin()

    def _begin(self) -> None:
        """Open a new file for the columns that are known to have values."""
        kept = [field for field in self._schema if field.name in self.columns]
        self._file = HashedFile(self._path)
        self._writer = pa.ipc.new_file(self._file, pa.schema(kept))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        try:
            if error[0] is None:
                self._flush()
                self._wait(0)
                self._writer.close()
        finally:
            self._pool.shutdown(cancel_futures=True)
            self._file.close()

    @property
    def sha256(self) -> str:
        """Digest of the finished file."""
        return self._file.sha256

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows."""
        self._gathered.append(batch)
        self._gathered_rows += batch.num_rows
        self._gathered_bytes += batch.nbytes
        self.rows += batch.num_rows
        if self._gathered_rows >= _BATCH_ROWS or self._gathered_bytes >= _BATCH_BYTES:
            self._flush()

    def _flush(self) -> None:
        if not self._gathered:
            return
        several = len(self._gathered) > 1
        batch = pa.concat_batches(self._gathered) if several else self._gathered[0]
        self._gathered, self._gathered_rows, self._gathered_bytes = [], 0, 0
        self._wait(1)
        self._under_way.append(self._pool.submit(self._write, batch))

    def _wait(self, most: int) -> None:
        """Wait until no more than `most` batches are under way."""
        while len(self._under_way) > most:
            self._under_way.popleft().result()

    def _write(self, batch: pa.RecordBatch) -> None:
        new = _filled(batch) - self.columns
        if new:
            self._widen(new)
        self._writer.write_batch(batch.select(self._names))
        self._watch(batch)
        self.batches.append([batch.num_rows, _choice_count(batch)])

    @property
    def _names(self) -> list[str]:
        return [name for name in self._schema.names if name in self.columns]

    def _widen(self, new: set[str]) -> None:
        """Write what there is once more, with columns that only now have values."""
        self.columns |= new
        self._writer.close()
        self._file.close()
        narrow = self._path.with_suffix(".narrow")
        self._path.rename(narrow)
        self._begin()
        with pa.memory_map(str(narrow)) as data:
            reader = pa.ipc.open_file(data)
            for number in range(reader.num_record_batches):
                whole = with_all_columns(reader.get_batch(number), self._schema)
                self._writer.write_batch(whole.select(self._names))
        narrow.unlink()


def _filled(batch: pa.RecordBatch) -> set[str]:
    """Return the columns of a batch that have a value."""
    names = zip(batch.schema.names, batch.columns, strict=True)
    return {name for name, column in names if column.null_count < batch.num_rows}


def _choice_count(batch: pa.RecordBatch) -> int:
    start, end = choice_ends(batch, 0, batch.num_rows)
    return end - start
