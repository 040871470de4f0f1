"""Records of a frame as expressions see them: by column, and one by one where it must be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow import int64_array
from registry.decode.frame import Frame, NotColumnarError
from registry.mapping.row import Row

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["RecordBatchView", "python_values"]


@dataclass(frozen=True)
class RecordBatchView:
    """Consecutive records of a source, with the constant columns of the source."""

    frame: Frame
    constants: Mapping[str, Any]
    """Column → value in each record, before the record's own."""
    numbers: NDArray[np.int64]
    """Number of each record, from 1."""
    _rows: list[Row] = field(default_factory=list)
    _read: set[str] = field(default_factory=set)
    """Columns of the frame that the rows have."""

    @property
    def count(self) -> int:
        """Number of records."""
        return len(self.numbers)

    def column(self, name: str) -> pa.Array | None:
        """Return a column's values, null where it is missing; None where records must tell."""
        if name in self.constants:
            return None
        names = self.frame.batch.schema.names
        if name in names:
            return self.frame.batch.column(name)
        heads = [head for head in _heads(name) if head in self.constants or head in names]
        if not heads:
            return pa.nulls(self.count, pa.large_string())
        # Where a path can be read in two ways, each record chooses.
        if len(heads) > 1 or heads[0] in self.constants:
            return None
        rest = name.removeprefix(f"{heads[0]}.")
        return _inner(self.frame.batch.column(heads[0]), rest)

    def is_null(self, name: str) -> bool:
        """Return whether a column is null or missing in every record."""
        column = self.column(name)
        return column is not None and column.null_count == self.count

    def rows(self, wanted: Iterable[str] | None) -> list[Row]:
        """Return the records, with the columns that are wanted, and those that were before.

        Raises:
            NotColumnarError: whether a record has a column can't be told.
        """
        if wanted is None:
            return self._whole_rows()
        if not self._rows:
            numbers = self.numbers.tolist()
            self._rows.extend(Row(dict(self.constants), number) for number in numbers)
        for name in self.names_read(wanted):
            if name not in self._read:
                self._read_column(name)
        return self._rows

    def names_read(self, wanted: Iterable[str]) -> list[str]:
        """Return the names of the frame's columns that hold what is wanted."""
        return [name for name in self.frame.batch.schema.names if _is_read(name, wanted)]

    def _whole_rows(self) -> list[Row]:
        """Return the records with all columns, in the order of the file."""
        batch = self.frame.batch
        if not self.frame.null_is_value and any(column.null_count for column in batch.columns):
            raise NotColumnarError("a null, or a key that is missing")
        records = [{**record, **self.constants} for record in python_values(batch)]
        return list(map(Row, records, self.numbers.tolist()))

    def _read_column(self, name: str) -> None:
        column = self.frame.batch.column(name)
        if column.null_count and not self.frame.null_is_value:
            raise NotColumnarError("a null, or a key that is missing")
        self._read.add(name)
        if name not in self.constants:
            for row, value in zip(self._rows, python_values(column), strict=True):
                row.record[name] = value

    def kept(self, places: NDArray[np.int64]) -> RecordBatchView:
        """Return the view of some of the records."""
        try:
            batch = self.frame.batch.take(int64_array(places))
        except pa.ArrowNotImplementedError as error:
            raise NotColumnarError("a column whose rows can't be chosen") from error
        return RecordBatchView(
            Frame(batch, self.frame.null_is_value), self.constants, self.numbers[places]
        )


def _inner(column: pa.Array, path: str) -> pa.Array | None:
    """Return what a path leads to within a column of objects; None where records must tell."""
    if not pa.types.is_struct(column.type):
        return None
    keys = [key for key in (*_heads(path), path) if key in column.type.names]
    if len(keys) != 1 or column.type.get_field_index(keys[0]) < 0:
        return None
    inner = pc.struct_field(column, column.type.get_field_index(keys[0]))
    return inner if keys[0] == path else _inner(inner, path.removeprefix(f"{keys[0]}."))


def python_values(data: pa.RecordBatch | pa.Array) -> list[Any]:
    """Return values as records hold them; a NotColumnarError for those that can't be."""
    try:
        values: list[Any] = data.to_pylist()
    except (OverflowError, ValueError) as error:
        raise NotColumnarError("a value beyond what Python holds") from error
    return values


def _heads(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def _is_read(name: str, wanted: Iterable[str]) -> bool:
    return any(one == name or one.startswith(f"{name}.") for one in wanted)
