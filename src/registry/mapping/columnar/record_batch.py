"""Records of a frame, read by expressions as Arrow columns, as lists of values, or as rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow.arrays import array_of
from registry.boundary.boundary import Boundary
from registry.decode.frame import (
    FEW_RECORDS,
    MISSING,
    AnyFrame,
    Frame,
    ValueFrame,
    has_null,
    python_values,
)
from registry.mapping.columnar.programs import Programs
from registry.mapping.columns_used import ColumnDependencies
from registry.mapping.row import Row, get_column, get_columns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["RecordBatchView"]


@dataclass(frozen=True)
class RecordBatchView:
    """Consecutive records of a source, with the constant columns of the source."""

    frame: AnyFrame
    constants: Mapping[str, Any]
    """Column → value in every record; it replaces the record's own."""
    numbers: NDArray[np.int64]
    """Number of each record, from 1."""
    boundary: Boundary = field(default_factory=Boundary)
    """Which files operations may read."""
    programs: Programs = field(default_factory=Programs)
    """Functions for expressions without a kernel; views of one mapping share them."""
    _rows: list[Row] = field(default_factory=list)
    _read: list[str] = field(default_factory=list)
    """Columns of the frame that are already in the rows."""
    _values: dict[str, list[Any]] = field(default_factory=dict)
    """Values of the columns of the frame that were read."""
    _paths: dict[str, list[Any]] = field(default_factory=dict)
    """Values of the paths that were read."""
    _arrays: dict[str, pa.Array | None] = field(default_factory=dict)
    computed: dict[int, tuple[object, list[Any]]] = field(default_factory=dict)
    """Identity of an expression → itself, so that no other one gets it, and its values."""

    @property
    def count(self) -> int:
        """Number of records."""
        return len(self.numbers)

    @property
    def has_few(self) -> bool:
        """Return whether there are so few records that lists take less time than columns."""
        return isinstance(self.frame, ValueFrame) and 4 * self.count <= FEW_RECORDS

    def column(self, name: str) -> pa.Array | None:
        """Return a column's values, null if it is missing; None if Arrow lacks them."""
        if name in self.constants:
            return None  # its value may have any type, even one that Arrow lacks
        heads, is_column = self._heads(name), name in self.frame.names
        if is_column and not (heads and self.frame.holds_values(heads[0])):
            return self.frame.array(name)
        if not heads:  # a column of nulls may have any type
            return pa.nulls(self.count, pa.large_string())
        if self.frame.holds_values(heads[0]):
            if name not in self._arrays:
                self._arrays[name] = array_of(self.values(name), missing=MISSING)
            return self._arrays[name]
        # If the path `a.b.c` may start in column `a` or `a.b`, each record decides.
        if len(heads) > 1 or heads[0] in self.constants:
            return None
        return self._nested_column(heads[0], name)

    def _nested_column(self, head: str, name: str) -> pa.Array | None:
        """Return the values at a path in a column; None if records must be read."""
        column = self.frame.array(head)
        return None if column is None else _nested_column(column, name.removeprefix(f"{head}."))

    def holds_values(self, name: str) -> bool:
        """Return whether the values of a column or path are those that a file was decoded to."""
        return any(map(self.frame.holds_values, (name, *_prefixes(name))))

    def has_constant(self, name: str) -> bool:
        """Return whether a value of a column or path may come from the constants."""
        return any(one in self.constants for one in (name, *_prefixes(name)))

    def values(self, name: str) -> list[Any]:
        """Return what `get_column` returns for each record; MISSING without the column.

        Raises:
            NotColumnarError: Python can't represent a value, or a null may be a missing key.
        """
        if name in self.constants:
            return [self.constants[name]] * self.count
        heads = self._heads(name)
        if not heads:
            is_column = name in self.frame.names
            return self._frame_values(name) if is_column else [MISSING] * self.count
        if name not in self._paths:
            self._paths[name] = self._path_values(name, heads)
        return self._paths[name]

    def _frame_values(self, name: str) -> list[Any]:
        if name not in self._values:
            self._values[name] = self.frame.values(name)
        return self._values[name]

    def _heads(self, name: str) -> list[str]:
        """Return the columns that a path may start in, shortest first."""
        names = self.frame.names
        return [head for head in _prefixes(name) if head in self.constants or head in names]

    def _path_values(self, name: str, heads: list[str]) -> list[Any]:
        rest = name.removeprefix(f"{heads[0]}.")
        if len(heads) == 1 and name not in self.frame.names:
            if heads[0] not in self.constants and not self.frame.holds_values(heads[0]):
                column = self._nested_column(heads[0], name)
                # A null may be that of an object around it, which lacks the key.
                if column is not None and self._has_values(column, name):
                    return python_values(column)
            return get_columns(self.values(heads[0]), rest)
        names = [*heads, name] if name in self.frame.names else heads
        columns = [
            self.values(one) if one in self.constants else self._frame_values(one) for one in names
        ]
        return [get_column(_present(names, values), name) for values in zip(*columns, strict=True)]

    def _has_values(self, column: pa.Array, name: str) -> bool:
        """Return whether each null in a nested column is a value of the path."""
        is_complete = isinstance(self.frame, Frame) and name in self.frame.complete
        return not has_null(column) or (is_complete and not pa.types.is_struct(column.type))

    def may_have(self, name: str) -> bool:
        """Return whether a record may have a column or path."""
        found = (*self.frame.names, *self.constants)
        return any(one in found for one in (name, *_prefixes(name)))

    def is_null(self, name: str) -> bool:
        """Return whether a column is null or missing in every record."""
        column = self.column(name)
        return column is not None and column.null_count == self.count

    def row(self, index: int, dependencies: ColumnDependencies) -> Row:
        """Return one record with at least the columns that an expression depends on."""
        if dependencies is None or self._rows:
            return self.rows(dependencies)[index]
        names = self.names_of(dependencies)
        values = [self._frame_values(name)[index] for name in names]
        record = {**_present(names, values), **self.constants}
        return Row(record, int(self.numbers[index]), self.boundary)

    def rows(self, dependencies: Iterable[str] | None) -> list[Row]:
        """Return the records with at least the columns that expressions depend on.

        Rows are created once, and columns are added to them when they are needed. None returns new
        rows with all columns, in the order of the file.

        Raises:
            NotColumnarError: a null may mean that the record lacks the key.
        """
        if dependencies is None:  # new rows, as those of `_rows` have columns in another order
            records = [{**record, **self.constants} for record in self.frame.records()]
            return list(map(Row, records, self.numbers.tolist(), repeat(self.boundary)))
        if not self._rows:
            numbers = self.numbers.tolist()
            self._rows.extend(
                Row(dict(self.constants), number, self.boundary) for number in numbers
            )
        for name in self.names_of(dependencies):
            if name in self._read:
                continue
            values = self._frame_values(name)
            self._read.append(name)
            if name not in self.constants:
                for row, value in zip(self._rows, values, strict=True):
                    if value is not MISSING:
                        row.record[name] = value
        return self._rows

    def names_of(self, dependencies: Iterable[str]) -> list[str]:
        """Return the columns of the frame that contain the given columns and paths."""
        return [
            name
            for name in self.frame.names
            if any(path == name or path.startswith(f"{name}.") for path in dependencies)
        ]

    def take(self, indices: NDArray[np.int64]) -> RecordBatchView:
        """Return the view of the records at some indices."""
        frame = self.frame.take(indices)
        numbers = self.numbers[indices]
        return RecordBatchView(frame, self.constants, numbers, self.boundary, self.programs)


def _present(names: Iterable[str], values: Iterable[Any]) -> dict[str, Any]:
    """Return a record without the keys that it lacks."""
    pairs = zip(names, values, strict=True)
    return {name: value for name, value in pairs if value is not MISSING}


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
