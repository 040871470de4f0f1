"""Records of a frame, read by expressions as lists of values, and by fields as Arrow columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from registry.boundary.boundary import Boundary
from registry.decode.frame import MISSING, AnyFrame, ValueFrame, python_values
from registry.mapping.batch import Batch
from registry.mapping.row import get_column, get_columns, path_splits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["RecordBatchView"]


class RecordBatchView(Batch):
    """Consecutive records of a source, with the constant columns of the source."""

    def __init__(
        self,
        frame: AnyFrame,
        constants: Mapping[str, Any],
        numbers: NDArray[np.int64],
        boundary: Boundary | None = None,
    ) -> None:
        """Take the records.

        Args:
            frame: Their own columns.
            constants: Column → value in every record; it replaces the record's own.
            numbers: Number of each record, from 1.
            boundary: Which files operations may read; None for no file.
        """
        super().__init__(len(numbers), boundary or Boundary(), size=frame.size)
        self.frame = frame
        self.constants = constants
        self.numbers = numbers
        self._values: dict[str, list[Any]] = {}
        """Values of the columns and paths that were read."""

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [*self.frame.names, *(one for one in self.constants if one not in self.frame.names)]

    @property
    def row_numbers(self) -> list[int]:
        """Number of each record in its source, from 1."""
        numbers: list[int] = self.numbers.tolist()
        return numbers

    def kinds(self, name: str) -> set[type]:
        """Return the types of the values of a column or path."""
        if isinstance(self.frame, ValueFrame) and not self.constants and name in self.frame.kinds:
            return self.frame.kinds[name]
        return super().kinds(name)

    def values(self, name: str) -> list[Any]:
        """Return what `get_column` returns for each record; MISSING without the column.

        Raises:
            NotColumnarError: Python can't represent a value.
        """
        if name not in self._values:
            heads = self._heads(name)
            self._values[name] = (
                self._path_values(name, heads) if heads else self.column_values(name)
            )
        return self._values[name]

    def column_values(self, name: str) -> list[Any]:
        """Return the values of the column of exactly this name, which is no path."""
        if name in self.constants:
            return [self.constants[name]] * self.count
        return self.frame.values(name) if name in self.frame.names else [MISSING] * self.count

    def _heads(self, name: str) -> list[str]:
        """Return the columns that a path may start in, shortest first."""
        names = self.frame.names
        return [head for head in _prefixes(name) if head in self.constants or head in names]

    def _path_values(self, name: str, heads: list[str]) -> list[Any]:
        if name in self.constants:
            return self.column_values(name)
        if len(heads) > 1 or name in self.frame.names:
            # If the path `a.b.c` may start in column `a` or `a.b`, each record decides.
            names = [*heads, *([name] if name in self.frame.names else [])]
            columns = [self.column_values(one) for one in names]
            return [get_column(_present(names, one), name) for one in zip(*columns, strict=True)]
        rest = name.removeprefix(f"{heads[0]}.")
        nested = None if heads[0] in self.constants else self._nested_column(heads[0], rest)
        # A null may be that of an object around it, which lacks the key.
        if nested is not None and not nested.null_count:
            return python_values(nested)
        return get_columns(self.column_values(heads[0]), rest)

    def records(self) -> list[dict[str, Any]]:
        """Return new dicts of all columns, in the order of the file."""
        return [{**record, **self.constants} for record in self.frame.records()]

    # What fields read that are columns of the source.

    def arrow_column(self, name: str) -> pa.Array | None:
        """Return a column of an Arrow file, null if it is missing; None if only values tell."""
        # Values of JSON are lists already, and a constant may have any type.
        if isinstance(self.frame, ValueFrame) or name in self.constants:
            return None
        heads, is_column = self._heads(name), name in self.frame.names
        if not heads:  # a column of nulls may have any type
            return self.frame.array(name) if is_column else pa.nulls(self.count, pa.large_string())
        # If the path `a.b.c` may start in column `a` or `a.b`, each record decides.
        if is_column or len(heads) > 1 or heads[0] in self.constants:
            return None
        return self._nested_column(heads[0], name.removeprefix(f"{heads[0]}."))

    def _nested_column(self, head: str, path: str) -> pa.Array | None:
        """Return the values at a path in a column; None if records must be read."""
        if isinstance(self.frame, ValueFrame):
            return None
        return _nested_column(self.frame.array(head), path)

    def may_have(self, name: str) -> bool:
        """Return whether a record may have a column or path."""
        found = (*self.frame.names, *self.constants)
        return any(one in found for one in (name, *_prefixes(name)))

    def is_null(self, name: str) -> bool:
        """Return whether a column is null or missing in every record."""
        return {type(None), type(MISSING)}.issuperset(self.kinds(name))

    def filtered(self, indices: NDArray[np.int64]) -> RecordBatchView:
        """Return the view of the records at some indices, with their own frame."""
        frame, numbers = self.frame.take(indices), self.numbers[indices]
        return RecordBatchView(frame, self.constants, numbers, self.boundary)


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
    return [head for head, _ in path_splits(name)]
