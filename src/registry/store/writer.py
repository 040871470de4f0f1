"""Write a samples file batch by batch."""

from __future__ import annotations

import errno
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
from xxhash import xxh3_64

from registry.base.fs import HashedFile
from registry.store.checked_file import pack_numbers
from registry.store.reader import choice_ends
from registry.store.schema import with_all_columns

__all__ = ["SampleWriter"]

# A reader opens whole batches, so larger ones make access to a single sample slower.
_BATCH_ROWS = 1 << 13
_BATCH_BYTES = 1 << 21
_WRITE_BYTES = 1 << 16


class _ChecksummedFile(HashedFile):
    """A new file that also computes the checksum of each of its parts.

    Arrow writes a batch in many small pieces; they are written and hashed together.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._part = xxh3_64()
        self._small = bytearray()

    def write(self, data: Any, /) -> int:
        """Take all of the bytes; they are written at the end of the part at the latest."""
        size = memoryview(data).nbytes
        if len(self._small) + size > _WRITE_BYTES:
            self._flush()
        if size > _WRITE_BYTES:
            self._write(data)
        else:
            self._small += data
        return size

    def _write(self, data: Any) -> None:
        self._part.update(data)
        super().write(data)

    def _flush(self) -> None:
        if self._small:
            small, self._small = self._small, bytearray()
            self._write(small)

    def tell(self) -> int:
        """Return the number of bytes taken so far."""
        return super().tell() + len(self._small)

    def close(self) -> None:
        """Write what is left, and close the file."""
        try:
            # Python also closes an object whose `__init__` failed.
            if hasattr(self, "_small"):
                self._flush()
        finally:
            super().close()

    def end_part(self) -> int:
        """Return the checksum of what was written since the last part ended."""
        self._flush()
        checksum = self._part.intdigest()
        self._part.reset()
        return checksum


class _Pending(NamedTuple):
    """A batch that the thread has not finished yet."""

    batch: pa.RecordBatch
    written: Future[None]
    watched: Future[None]


class SampleWriter:
    """Writes and hashes a samples file in its own thread, so that building does not wait for disk.

    A file of one batch is written without a thread, when it ends. Small batches are combined, so
    that readers open few. Columns without any value are omitted, as nulls take space too.
    """

    def __init__(
        self, path: Path, schema: pa.Schema, watch: Callable[[pa.RecordBatch], None]
    ) -> None:
        """Write to a file, which is created with the first batch.

        Args:
            path: The file.
            schema: Columns of the batches.
            watch: Called with each batch in order, in the writing thread or that of the caller.
        """
        self._path = path
        self._schema = schema
        self._watch = watch
        self._gathered: list[pa.RecordBatch] = []
        self._gathered_rows = self._gathered_bytes = 0
        self._pool: ThreadPoolExecutor | None = None
        self._pending: deque[_Pending] = deque()
        self.rows = 0
        """Number of rows so far."""
        self._batches: list[tuple[int, int, int, int]] = []
        self._footer = 0
        self.columns: set[str] = set()
        """Columns that have any value."""
        self._is_open = False

    def _open(self) -> None:
        """Create a file with the columns that have values so far."""
        self._file = _ChecksummedFile(self._path)
        self._is_open = True
        fields = [self._schema.field(name) for name in self._names]
        self._writer = pa.ipc.new_file(self._file, pa.schema(fields))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        try:
            if error[0] is None:
                self._finish()
                self._footer = self._file.end_part()
        finally:
            if self._pool is not None:
                self._pool.shutdown(cancel_futures=True)
            if self._is_open:
                self._file.close()

    @property
    def sha256(self) -> str:
        """Digest of the finished file."""
        return self._file.sha256

    @property
    def batches(self) -> str:
        """The batches of the finished file, for `SampleFile`.

        Rows, choices, end and checksum of each, packed; the first row has the checksum of what
        follows the last batch.
        """
        return pack_numbers(np.array([(0, 0, 0, self._footer), *self._batches], np.uint64))

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows."""
        self._gathered.append(batch)
        self._gathered_rows += batch.num_rows
        self._gathered_bytes += batch.nbytes
        self.rows += batch.num_rows
        if self._gathered_rows >= _BATCH_ROWS or self._gathered_bytes >= _BATCH_BYTES:
            # One batch is written while the next is built; more would only take memory.
            self._wait(1)
            if self._pool is None:
                self._pool = ThreadPoolExecutor(1, thread_name_prefix="write")
            batch = self._take()
            written = self._pool.submit(self._write, batch)
            self._pending.append(_Pending(batch, written, self._pool.submit(self._watch, batch)))

    def _finish(self) -> None:
        """Write what is left, without a thread, which a small file never starts."""
        # While the last batch is still being written. From the end, so that none is overtaken.
        left = [batch for batch, _, watched in reversed(self._pending) if watched.cancel()]
        for _, _, watched in self._pending:
            if not watched.cancelled():
                watched.result()
        for batch in reversed(left):
            self._watch(batch)
        self._wait(0)
        if self._gathered and not self._is_open:
            batch = self._take()
            self._write_whole(batch)
            self._watch(batch)
            return
        if self._gathered:
            batch = self._take()
            self._write(batch)
            self._watch(batch)
        if not self._is_open:
            self._open()
        self._writer.close()

    def _write_whole(self, batch: pa.RecordBatch) -> None:
        """Write a file of one batch."""
        self.columns = _filled_columns(batch)
        kept = batch.select(self._names)
        # In memory, as Arrow writes many small pieces, each by a call of a file of Python's.
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, kept.schema) as writer:
            writer.write_batch(kept)
            end = sink.tell()
        data = memoryview(sink.getvalue())
        self._file = _ChecksummedFile(self._path)
        self._is_open = True
        self._file.write(data[:end])
        self._end_batch(batch)
        self._file.write(data[end:])

    def _take(self) -> pa.RecordBatch:
        """Return the gathered rows as one batch, and begin the next one."""
        combine = len(self._gathered) > 1
        batch = pa.concat_batches(self._gathered) if combine else self._gathered[0]
        self._gathered, self._gathered_rows, self._gathered_bytes = [], 0, 0
        return batch

    def _wait(self, most: int) -> None:
        """Wait until at most `most` batches are pending, which bounds the memory they take."""
        while len(self._pending) > most:
            _, written, watched = self._pending.popleft()
            written.result()
            if not watched.cancelled():
                watched.result()

    def _write(self, batch: pa.RecordBatch) -> None:
        filled = _filled_columns(batch)
        if not filled <= self.columns or not self._is_open:
            self.columns |= filled
            if self._is_open:
                self._widen()
            else:
                self._open()
        self._writer.write_batch(batch.select(self._names))
        self._end_batch(batch)

    def _end_batch(self, batch: pa.RecordBatch) -> None:
        """Note that a batch ends here in the file."""
        start, end = choice_ends(batch, 0, batch.num_rows)
        self._end_part(batch.num_rows, end - start)

    def _widen(self) -> None:
        """Write the file again with the columns that have their first value now.

        This is rare: its schema is fixed, but most columns have a value in the first batch.
        """
        self._writer.close()
        self._file.close()
        narrow = self._path.with_suffix(".narrow")
        self._path.rename(narrow)
        self._open()
        written, self._batches = self._batches, []
        try:
            with pa.memory_map(str(narrow)) as data:
                reader = pa.ipc.open_file(data)
                for number, (rows, choices, _, _) in enumerate(written):
                    widened = with_all_columns(reader.get_batch(number), self._schema)
                    self._writer.write_batch(widened.select(self._names))
                    self._end_part(rows, choices)
        except OSError as error:
            if error.errno is not None:
                raise
            # pyarrow omits the number where closing fails.
            raise OSError(errno.EIO, str(error), str(narrow)) from error
        narrow.unlink()

    def _end_part(self, rows: int, choices: int) -> None:
        self._batches.append((rows, choices, self._file.tell(), self._file.end_part()))

    @property
    def _names(self) -> list[str]:
        return [name for name in self._schema.names if name in self.columns]


def _filled_columns(batch: pa.RecordBatch) -> set[str]:
    """Return the columns that have any value."""
    columns = zip(batch.schema.names, batch.columns, strict=True)
    return {name for name, column in columns if column.null_count < batch.num_rows}
