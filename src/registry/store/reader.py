"""Read rows of a samples file, of which batches are kept in private memory."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from registry.store import LazyModule
from registry.store.checked_file import CheckedFile, unpack_numbers
from registry.store.row_values import NOT_A_SAMPLES_FILE, BatchValues, Footer
from registry.store.rows import Columns, metadata_of, values_of

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from registry.base import arrow
    from registry.cache.cache import OnDamage
    from registry.store import schema
else:
    # A process that reads a few samples by their numbers needs none of these.
    np, pa = LazyModule("numpy"), LazyModule("pyarrow")
    arrow, schema = LazyModule("registry.base.arrow"), LazyModule("registry.store.schema")

__all__ = ["SampleFile", "choice_ends"]

_METADATA_COLUMNS = ("metadata", "metadata_values")
_VALUE_ROWS = 1 << 8
_KEPT_BYTES = 1 << 28
"""How much of a file is kept in memory; what is left out is read and checked again."""


def choice_ends(batch: pa.RecordBatch, *rows: int) -> list[int]:
    """Return where the choices of rows start among the flattened values of the column."""
    if "choices" not in batch.schema.names:
        return [0 for _ in rows]
    starts = arrow.list_offsets(batch.column("choices"))
    return [int(starts[row]) for row in rows]


class _Batch:
    """The checked bytes of a batch, and what was made of them; both makers share the bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.arrow: pa.RecordBatch | None = None
        self.values: BatchValues | None = None


class SampleFile:
    """A samples file; a batch is read when one of its rows is accessed.

    The bytes of a batch are checked before Arrow decodes them: a flipped one can crash it.
    """

    def __init__(self, path: Path, batches: str, on_damage: OnDamage | None = None) -> None:
        """Open a file; of its bytes only the footer is read.

        Args:
            path: The file.
            batches: `SampleWriter.batches`, known without reading them.
            on_damage: Called if the file is damaged, see `CheckedFile`.

        Raises:
            CacheError: it can't be read, or is damaged.
        """
        self._file = CheckedFile(path, on_damage)
        self._arguments = (path, batches, on_damage)
        table = unpack_numbers(batches)
        # From `meta.json`, so that opening a dataset reads no batch to find its length.
        self._starts = list(accumulate(table[0::4]))
        self._choice_starts = list(accumulate(table[1::4]))
        self._ends, self._checksums = table[2::4], table[3::4]
        self._end = self._file.read(self._ends[-1], self._file.size, self._checksums[0])
        try:
            self._footer = Footer(memoryview(self._end))
        except NOT_A_SAMPLES_FILE as error:
            raise self._file.damage("is not a samples file") from error
        self.json_keys = self._footer.json_keys
        """Keys of the metadata whose values are stored as JSON."""
        self._schema: pa.Schema | None = None
        self._kept: dict[int, _Batch] = {}

    def __reduce__(self) -> tuple[type[SampleFile], tuple[Path, str, OnDamage | None]]:
        # An open file can't be pickled; the process that unpickles opens it again.
        return SampleFile, self._arguments

    @property
    def rows(self) -> int:
        """Number of samples."""
        return self._starts[-1]

    @property
    def batches(self) -> str:
        """What it was opened with: rows and checksum of each batch, equal only for equal bytes."""
        return self._arguments[1]

    def rows_within(self, size: int) -> int:
        """Return how many rows of average size fit in `size` bytes."""
        return size * self.rows // max(self._file.size, 1)

    @property
    def choices(self) -> int:
        """Number of choices of all samples."""
        return self._choice_starts[-1]

    @property
    def columns(self) -> list[str]:
        """Names of the columns, which are only those that have a value."""
        return [column.name for column in self._footer.columns]

    @property
    def batch_count(self) -> int:
        """Number of batches."""
        return len(self._starts) - 1

    def batch(self, number: int) -> pa.RecordBatch:
        """Return a batch with the columns of the file, which omits columns without any value."""
        kept = self._read_batch(number)
        if kept.arrow is None:
            if self._schema is None:
                # Arrow finds it in the footer, without the batches.
                self._schema = pa.ipc.open_file(pa.py_buffer(self._end)).schema
            place = self._footer.place(number) - self._ends[number]
            kept.arrow = pa.ipc.read_record_batch(pa.py_buffer(kept.data)[place:], self._schema)
        return kept.arrow

    def _read_batch(self, number: int) -> _Batch:
        """Return a batch that is kept, or read and check it."""
        kept = self._kept.get(number)
        if kept is None:
            start, end = self._ends[number : number + 2]
            kept = _Batch(self._file.read(start, end, self._checksums[number + 1]))
            self._keep(number, kept)
        return kept

    def _keep(self, number: int, batch: _Batch) -> None:
        """Keep a batch in place of those that were read first."""
        # A new dict, and no lock: other threads read the old one meanwhile, and a process that is
        # forked now would never get the lock. If two threads replace it, one batch is read again.
        kept = {**self._kept, number: batch}
        size = sum(len(one.data) for one in kept.values())
        for oldest in list(kept)[:-1]:
            if size <= _KEPT_BYTES:
                break
            size -= len(kept.pop(oldest).data)
        self._kept = kept

    def full_batch(self, number: int) -> pa.RecordBatch:
        """Return a batch with all columns of samples; those that the file omits are null."""
        batch = self.batch(number)
        return schema.with_all_columns(batch, schema.full_schema(batch.schema))

    def full_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all batches with all columns of samples."""
        return map(self.full_batch, range(self.batch_count))

    def choice_range(self, row: int) -> tuple[int, int]:
        """Return the start and end of a row's choices among the choices of all samples."""
        number, local = self._locate(row)
        starts = self._batch_values(number).starts.get("choices")
        if starts is None:
            return 0, 0
        base = self._choice_starts[number]
        return base + starts[local], base + starts[local + 1]

    def row(self, row: int) -> Columns:
        """Return the values of one row by column; columns without any value are omitted."""
        number, local = self._locate(row)
        readers = self._batch_values(number).readers
        try:
            found = [(name, read(local)) for name, read in readers if name != "record"]
        except NOT_A_SAMPLES_FILE as error:
            raise self._file.damage("is not a samples file") from error
        return {name: [value] for name, value in found if value is not None}

    def record_of(self, row: int) -> int:
        """Return the number of the record, from 1, that a row was made of."""
        number, local = self._locate(row)
        return int(self.batch(number).column("record")[local].as_py())

    def _locate(self, row: int) -> tuple[int, int]:
        """Return the number of a row's batch, and its number in it."""
        number = bisect_right(self._starts, row) - 1
        return number, row - self._starts[number]

    def _batch_values(self, number: int) -> BatchValues:
        batch = self._read_batch(number)
        if batch.values is None:
            try:
                data = memoryview(batch.data)
                batch.values = self._footer.batch(number, data, self._ends[number])
            except NOT_A_SAMPLES_FILE as error:
                raise self._file.damage("is not a samples file") from error
        return batch.values

    def choice_starts(self) -> NDArray[np.int64]:
        """Return the start of each row's choices among those of all samples, then their number."""
        starts = [np.zeros(1, np.int64)]
        for number, batch in enumerate(self.full_batches()):
            own = arrow.list_offsets(batch.column("choices"))
            starts.append(own[1:] - own[0] + self._choice_starts[number])
        return np.concatenate(starts)

    def read(self, rows: NDArray[np.int64]) -> Iterator[tuple[int, Columns]]:
        """Yield groups of rows, in the given order, as their number and their values by column.

        Columns without any value are omitted.
        """
        # Selecting many rows at once costs less per row. Converting them to Python's values costs
        # less in small groups, which fit in the processor's cache.
        batch = self.select(rows)
        for start in range(0, batch.num_rows, _VALUE_ROWS):
            part = batch.slice(start, _VALUE_ROWS)
            yield part.num_rows, values_of(part)

    def stretches(self, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Return rows in parts that `select` returns without a copy, if they are consecutive."""
        if not len(rows) or not (np.diff(rows) == 1).all():
            return [rows]
        inside = [start for start in self._starts if rows[0] < start <= rows[-1]]
        return np.split(rows, np.array(inside, np.int64) - rows[0])

    def select(self, rows: NDArray[np.int64]) -> pa.RecordBatch:
        """Return rows of any batches, in the given order."""
        batch_starts = np.array(self._starts)
        numbers = np.searchsorted(batch_starts, rows, side="right") - 1
        # Usual unless shuffled: the batches are large, and iteration selects rows in order.
        if numbers[0] == numbers[-1] and (numbers == numbers[0]).all():
            return _take(self.batch(int(numbers[0])), rows - batch_starts[numbers[0]])
        # Select batch by batch, each once, then restore the order of `rows`.
        order = np.argsort(numbers, kind="stable")
        ends = np.flatnonzero(np.diff(numbers[order])) + 1
        parts = []
        for positions in np.split(order, ends):
            number = int(numbers[positions[0]])
            parts.append(_take(self.batch(number), rows[positions] - self._starts[number]))
        inverse = np.empty(len(order), np.int64)
        inverse[order] = np.arange(len(order))
        return pa.concat_batches(parts).take(arrow.int64_array(inverse))

    def input_lengths(self) -> NDArray[np.int64] | None:
        """Return the length of each input in characters; None if any is a conversation."""
        import pyarrow.compute as pc  # slow to import, and not needed to open a dataset

        if any(column.name == "messages" for column in self._footer.columns):
            return None
        lengths = [
            pc.utf8_length(self.batch(number).column("input")) for number in range(self.batch_count)
        ]
        return np.concatenate([np.zeros(0, np.int64), *map(arrow.to_numpy_int64, lengths)])

    def metadata(self) -> Iterator[dict[str, Any] | None]:
        """Yield the metadata of the samples, in the order of the file."""
        for number in range(self.batch_count):
            batch = self.batch(number)
            names = [name for name in batch.schema.names if name in _METADATA_COLUMNS]
            yield from metadata_of(values_of(batch.select(names)), batch.num_rows, self.json_keys)


def _take(batch: pa.RecordBatch, rows: NDArray[np.int64]) -> pa.RecordBatch:
    """Return rows of a batch; consecutive rows are not copied."""
    batch = batch.select([name for name in batch.schema.names if name != "record"])
    first, last = int(rows[0]), int(rows[-1])
    if last - first == len(rows) - 1 and (np.diff(rows) == 1).all():
        return batch.slice(first, len(rows))
    return batch.take(arrow.int64_array(rows))
