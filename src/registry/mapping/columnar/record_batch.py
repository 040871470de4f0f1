"""Records of a frame, read by expressions as columns, or as rows if they have no kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow import int64_array
from registry.boundary.boundary import Boundary
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
    """Column → value in every record; it replaces the record's own."""
    numbers: NDArray[np.int64]
    """Number of each record, from 1."""
    boundary: Boundary = field(default_factory=Boundary)
    """Which files operations may read."""
    _rows: list[Row] = field(default_factory=list)
    _read: list[str] = field(default_factory=list)
    """Columns of the frame that are already in the rows."""

    @property
    def count(self) -> int:
        """Number of records."""
        return len(self.numbers)

    def column(self, name: str) -> pa.Array | None:
        """Return a column's values, null if it is missing; None if records must be read."""
        if name in self.constants:
            return None  # its value may have any type, even one that Arrow lacks
        names = self.frame.batch.schema.names
        if name in names:
            return self.frame.batch.column(name)
        heads = [head for head in _prefixes(name) if head in self.constants or head in names]
        if not heads:  # a column of nulls may have any type
            return pa.nulls(self.count, pa.large_string())
        # If the path `a.b.c` may start in column `a` or `a.b`, each record decides.
        if len(heads) > 1 or heads[0] in self.constants:
            return None
        rest = name.removeprefix(f"{heads[0]}.")
        return _nested_column(self.frame.batch.column(heads[0]), rest)

    def is_null(self, name: str) -> bool:
        """Return whether a column is null or missing in every record."""
        column = self.column(name)
        return column is not None and column.null_count == self.count

    def rows(self, dependencies: Iterable[str] | None) -> list[Row]:
        """Return the records with at least the columns that expressions depend on.

        Rows are created once, and columns are added to them when they are needed. None returns new
        rows with all columns, in the order of the file.

        Raises:
            NotColumnarError: a null may mean that the record lacks the key.
        """
        batch = self.frame.batch
        if dependencies is None:  # new rows, as those of `_rows` have columns in another order
            self._check_nulls(batch.columns)
            records = [{**record, **self.constants} for record in python_values(batch)]
            return list(map(Row, records, self.numbers.tolist(), repeat(self.boundary)))
        if not self._rows:
            numbers = self.numbers.tolist()
            self._rows.extend(
                Row(dict(self.constants), number, self.boundary) for number in numbers
            )
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
            raise NotColumnarError("a null, or a missing key")

    def names_of(self, dependencies: Iterable[str]) -> list[str]:
        """Return the columns of the frame that contain the given columns and paths."""
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
        return RecordBatchView(frame, self.constants, self.numbers[indices], self.boundary)


def _nested_column(column: pa.Array, path: str) -> pa.Array | None:
    """Return the values at a path within a struct column; None if records must be read."""
    if not pa.types.is_struct(column.type):
        return None
    keys = [key for key in (*_prefixes(path), path) if key in column.type.names]
    # The index is -1 if the struct has the key twice.
    if len(keys) != 1 or column.type.get_field_index(keys[0]) < 0:
        return None
    inner = pc.struct_field(column, column.type.get_field_index(keys[0]))
    return inner if keys[0] == path else _nested_column(inner, path.removeprefix(f"{keys[0]}."))


def _prefixes(name: str) -> list[str]:
    """Return the part of a path before each of its dots, shortest first."""
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def python_values(data: pa.RecordBatch | pa.Array) -> list[Any]:
    """Return values as Python's; a NotColumnarError for one that Python can't represent."""
    try:
        values: list[Any] = data.to_pylist()
    # Dates after the year 9999, nanoseconds without pandas, strings that are not UTF-8.
    except (OverflowError, ValueError) as error:
        raise NotColumnarError("a value that Python can't represent") from error
    return values
