"""Records of a frame as expressions see them: by column, or as rows where records are needed."""

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
    """Column → value in each record; it wins over the record's own."""
    numbers: NDArray[np.int64]
    """Number of each record, from 1."""
    _rows: list[Row] = field(default_factory=list)
    _read: list[str] = field(default_factory=list)
    """Columns of the frame that the rows have."""

    @property
    def count(self) -> int:
        """Number of records."""
        return len(self.numbers)

    def column(self, name: str) -> pa.Array | None:
        """Return a column's values, null where it is missing; None where only records show them."""
        if name in self.constants:
            return None  # its value may be of any type, or none that Arrow has
        names = self.frame.batch.schema.names
        if name in names:
            return self.frame.batch.column(name)
        heads = [head for head in _prefixes(name) if head in self.constants or head in names]
        if not heads:  # any type will do for nulls
            return pa.nulls(self.count, pa.large_string())
        # Where a path can be read in two ways, each record decides.
        if len(heads) > 1 or heads[0] in self.constants:
            return None
        rest = name.removeprefix(f"{heads[0]}.")
        return _nested_column(self.frame.batch.column(heads[0]), rest)

    def is_null(self, name: str) -> bool:
        """Return whether a column is null or missing in every record."""
        column = self.column(name)
        return column is not None and column.null_count == self.count

    def rows(self, dependencies: Iterable[str] | None) -> list[Row]:
        """Return the records, at least with the columns that expressions depend on.

        Rows are made once and get more columns as they are asked for; None gives new rows with
        all columns, in the order of the file.

        Raises:
            NotColumnarError: a null may stand for a key that the record does not have.
        """
        batch = self.frame.batch
        if dependencies is None:
            self._check_nulls(batch.columns)
            records = [{**record, **self.constants} for record in python_values(batch)]
            return list(map(Row, records, self.numbers.tolist()))
        if not self._rows:
            numbers = self.numbers.tolist()
            self._rows.extend(Row(dict(self.constants), number) for number in numbers)
        for name in self.names_of(dependencies):
            if name in self._read:
                continue
            column = batch.column(name)
            self._check_nulls([column])
            self._read.append(name)
            if name not in self.constants:
                for row, value in zip(self._rows, python_values(column), strict=True):
                    row.record[name] = value
        return self._rows

    def _check_nulls(self, columns: Iterable[pa.Array]) -> None:
        if not self.frame.null_is_value and any(column.null_count for column in columns):
            raise NotColumnarError("a null, or a key that is missing")

    def names_of(self, dependencies: Iterable[str]) -> list[str]:
        """Return the names of the frame's columns that hold what expressions depend on."""
        return [
            name
            for name in self.frame.batch.schema.names
            if any(path == name or path.startswith(f"{name}.") for path in dependencies)
        ]

    def take(self, indices: NDArray[np.int64]) -> RecordBatchView:
        """Return the view of the records at some indices."""
        try:
            batch = self.frame.batch.take(int64_array(indices))
        except pa.ArrowNotImplementedError as error:
            raise NotColumnarError("a column whose type `take` does not support") from error
        frame = Frame(batch, self.frame.null_is_value)
        return RecordBatchView(frame, self.constants, self.numbers[indices])


def _nested_column(column: pa.Array, path: str) -> pa.Array | None:
    """Return the values at a path within a struct column; None where only records show them."""
    if not pa.types.is_struct(column.type):
        return None
    keys = [key for key in (*_prefixes(path), path) if key in column.type.names]
    # The index is -1 where the struct has the key twice.
    if len(keys) != 1 or column.type.get_field_index(keys[0]) < 0:
        return None
    inner = pc.struct_field(column, column.type.get_field_index(keys[0]))
    return inner if keys[0] == path else _nested_column(inner, path.removeprefix(f"{keys[0]}."))


def _prefixes(name: str) -> list[str]:
    """Return the part of a path before each of its dots, shortest first."""
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def python_values(data: pa.RecordBatch | pa.Array) -> list[Any]:
    """Return values as records hold them; a NotColumnarError for one beyond Python's types."""
    try:
        values: list[Any] = data.to_pylist()
    except (OverflowError, ValueError) as error:  # dates after the year 9999, nanoseconds, UTF-8
        raise NotColumnarError("a value beyond what Python holds") from error
    return values
