"""A frame: consecutive records of a file, as Arrow columns or as lists of Python values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from registry.base.processes.forks import cached_property

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = [
    "FEW_RECORDS",
    "MISSING",
    "AnyFrame",
    "Frame",
    "NotColumnarError",
    "ValueFrame",
    "Wanted",
    "has_null",
    "python_values",
]

FEW_RECORDS = 1 << 10
"""Up to so many records take less time as lists of values than the calls that columns take."""

Wanted = frozenset[str] | None
"""Names and paths of the columns to read, as the manifest writes them; None for all columns."""


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"

    def __deepcopy__(self, memo: Any) -> _Missing:
        return self


MISSING: Final = _Missing()
"""The value of a column that the record does not have; null is a value."""


class NotColumnarError(Exception):
    """The records can't be read as columns with exactly the same values; the message says why."""


@dataclass(frozen=True)
class Frame:
    """Records as Arrow columns: `to_pylist` of a column returns the values of the records."""

    batch: pa.RecordBatch
    """One row per record."""
    null_is_value: bool = True
    """False if a null may also mean that the record does not have the key."""
    exact: Callable[[], ValueFrame] | None = field(default=None, compare=False)
    """Decodes the columns that have nulls to values, which tell a null from a missing key."""
    others: ValueFrame | None = None
    """Columns of the same records that have no Arrow type."""
    complete: frozenset[str] = frozenset()
    """Columns and paths that each record has, so that their nulls are values."""

    @property
    def count(self) -> int:
        """Number of records."""
        return int(self.batch.num_rows)

    @cached_property
    def size(self) -> int:
        """At most how many bytes the records have."""
        return int(self.batch.nbytes) + (self.others.size or 0 if self.others is not None else 0)

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        names: list[str] = self.batch.schema.names
        return names if self.others is None else [*names, *self.others.names]

    def holds_values(self, name: str) -> bool:
        """Return whether a column is a list of Python values."""
        return self.others is not None and name in self.others.names

    def array(self, name: str) -> pa.Array | None:
        """Return a column, null where a record does not have the key; None if Arrow lacks it."""
        if self.others is not None and name in self.others.names:
            return self.others.array(name)
        return self.batch.column(name)

    def values(self, name: str) -> list[Any]:
        """Return the values of a column, MISSING where a record does not have the key.

        Raises:
            NotColumnarError: Python can't represent a value, or a null may be a missing key.
        """
        if self.others is not None and name in self.others.names:
            return self.others.values(name)
        column = self.batch.column(name)
        if self._may_lack_key(name):
            if self.exact is None:
                raise NotColumnarError("a null, or a missing key")
            return self.exact().values(name)
        return python_values(column)

    def records(self) -> list[dict[str, Any]]:
        """Return the records with all columns; a NotColumnarError as that of `values`."""
        if self.null_is_value and self.others is None:
            return python_values(self.batch)
        columns = {name: self.values(name) for name in self.names}
        return ValueFrame(self.count, columns).records()

    def take(self, indices: NDArray[np.int64]) -> Frame:
        """Return the records at some indices; a NotColumnarError for a type without `take`."""
        from pyarrow import ArrowNotImplementedError

        from registry.base.arrow.arrays import int64_array

        try:
            batch = self.batch.take(int64_array(indices))
        except ArrowNotImplementedError as error:
            raise NotColumnarError("a column whose type `take` does not support") from error
        exact = self.exact
        taken = None if exact is None else lambda: exact().take(indices)
        others = None if self.others is None else self.others.take(indices)
        return Frame(batch, self.null_is_value, taken, others, self.complete)

    def _may_lack_key(self, name: str) -> bool:
        """Return whether a null of a column, or in its objects, may be a missing key."""
        from pyarrow import types

        column = self.batch.column(name)
        if self.null_is_value or (name in self.complete and not types.is_struct(column.type)):
            return False
        return has_null(column)

    def means_value(self, name: str) -> bool:
        """Return whether a null in a column or at a path is a value, as every record has it."""
        if self.null_is_value:
            return name in self.batch.schema.names
        return name in self.complete


def has_null(column: pa.Array) -> bool:
    """Return whether a column has a null, or a struct in it has one."""
    from pyarrow import types

    if column.null_count or not types.is_struct(column.type):
        return bool(column.null_count)
    return any(map(has_null, column.flatten()))


def python_values(data: pa.RecordBatch | pa.Array) -> list[Any]:
    """Return values as Python's; a NotColumnarError for one that Python can't represent."""
    try:
        values: list[Any] = data.to_pylist()
    # Dates after the year 9999, nanoseconds without pandas, strings that are not UTF-8.
    except (OverflowError, ValueError) as error:
        raise NotColumnarError("a value that Python can't represent") from error
    return values


class ValueFrame:
    """Records as lists of the values that JSON has; a column becomes Arrow's when it is needed."""

    def __init__(
        self,
        count: int,
        columns: Mapping[str, list[Any]],
        records: Sequence[dict[str, Any]] | None = None,
        *,
        size: int | None = None,
    ) -> None:
        """Take the records.

        Args:
            count: Number of records.
            columns: Column → value per record, MISSING where the record does not have the key.
            records: The records with all columns, if they were decoded as a whole.
            size: Number of bytes that they were decoded from, if it is known.
        """
        self.count = count
        """Number of records."""
        self.size = size
        """At most how many bytes the records have; None if it is unknown."""
        self._columns = dict(columns)
        self._records = records
        self._arrays: dict[str, pa.Array | None] = {}

    @property
    def names(self) -> list[str]:
        """Names of the columns that any record has, in the order of the first record with each."""
        if self._records is not None and not self._columns:
            names = dict.fromkeys(chain.from_iterable(self._records))
            self._columns = {
                name: [record.get(name, MISSING) for record in self._records] for name in names
            }
        return list(self._columns)

    def holds_values(self, name: str) -> bool:
        """Return whether a column is a list of Python values."""
        return True

    def array(self, name: str) -> pa.Array | None:
        """Return a column, null where a record does not have the key; None if Arrow lacks it."""
        if name not in self._arrays:
            from registry.base.arrow.arrays import array_of  # pyarrow is slow to import

            self._arrays[name] = array_of(self.values(name), missing=MISSING)
        return self._arrays[name]

    def values(self, name: str) -> list[Any]:
        """Return the values of a column, MISSING where a record does not have the key."""
        return self._columns[name] if name in self.names else [MISSING] * self.count

    def records(self) -> list[dict[str, Any]]:
        """Return the records with all columns."""
        if self._records is not None:
            return list(self._records)
        names = self.names
        return [
            {name: value for name, value in zip(names, values, strict=True) if value is not MISSING}
            for values in zip(*self._columns.values(), strict=True)
        ] or [{} for _ in range(self.count)]

    def take(self, indices: NDArray[np.int64]) -> ValueFrame:
        """Return the records at some indices."""
        places = indices.tolist()
        columns = {
            name: [values[place] for place in places] for name, values in self._columns.items()
        }
        records = self._records
        taken = None if records is None else [records[place] for place in places]
        return ValueFrame(len(places), columns, taken, size=self.size)


AnyFrame: TypeAlias = Frame | ValueFrame
"""Records as Arrow columns, or as lists of Python values."""
