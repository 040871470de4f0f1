"""A frame: consecutive records of a file, as Arrow columns or as lists of Python values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from registry.base.process_state import cached_property

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = [
    "MISSING",
    "AnyFrame",
    "Frame",
    "NotColumnarError",
    "ValueFrame",
    "Wanted",
    "heads_of",
    "python_values",
]

Wanted = frozenset[str] | None
"""Names and paths of the columns to read, as the manifest writes them; None for all columns."""


def heads_of(wanted: frozenset[str]) -> set[str]:
    """Return the columns that paths may start with: `a.b.c` may be one into `a` or into `a.b`."""
    return {
        ".".join(parts[:count])
        for parts in (path.split(".") for path in wanted)
        for count in range(1, len(parts) + 1)
    }


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
    """One row per record, which has all columns: a null is a value."""

    @property
    def count(self) -> int:
        """Number of records."""
        return int(self.batch.num_rows)

    @cached_property
    def size(self) -> int:
        """At most how many bytes the records have."""
        return int(self.batch.nbytes)

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        names: list[str] = self.batch.schema.names
        return names

    def array(self, name: str) -> pa.Array:
        """Return a column."""
        return self.batch.column(name)

    def values(self, name: str) -> list[Any]:
        """Return the values of a column.

        Raises:
            NotColumnarError: Python can't represent a value.
        """
        return python_values(self.batch.column(name))

    def records(self) -> list[dict[str, Any]]:
        """Return the records with all columns; a NotColumnarError as that of `values`."""
        return python_values(self.batch)

    def take(self, indices: NDArray[np.int64]) -> Frame:
        """Return the records at some indices; a NotColumnarError for a type without `take`."""
        from pyarrow import ArrowNotImplementedError

        from registry.base.arrow import int64_array

        try:
            return Frame(self.batch.take(int64_array(indices)))
        except ArrowNotImplementedError as error:
            raise NotColumnarError("a column whose type `take` does not support") from error


def python_values(data: pa.RecordBatch | pa.Array) -> list[Any]:
    """Return values as Python's; a NotColumnarError for one that Python can't represent."""
    try:
        values: list[Any] = data.to_pylist()
    # Dates after the year 9999, nanoseconds without pandas, strings that are not UTF-8.
    except (OverflowError, ValueError) as error:
        raise NotColumnarError("a value that Python can't represent") from error
    return values


class ValueFrame:
    """Records as lists of the values that JSON has."""

    def __init__(
        self,
        count: int,
        columns: Mapping[str, list[Any]],
        records: Sequence[dict[str, Any]] | None = None,
        *,
        size: int | None = None,
        kinds: Mapping[str, set[type]] | None = None,
    ) -> None:
        """Take the records.

        Args:
            count: Number of records.
            columns: Column → value per record, MISSING where the record does not have the key.
            records: The records with all columns, if they were decoded as a whole.
            size: Number of bytes that they were decoded from, if it is known.
            kinds: Column → the types of its values, where they are known.
        """
        self.count = count
        """Number of records."""
        self.size = size
        """At most how many bytes the records have; None if it is unknown."""
        self.kinds = kinds or {}
        """Column → the types of its values, where they are known."""
        self._columns = dict(columns)
        self._records = records

    @property
    def names(self) -> list[str]:
        """Names of the columns that any record has, in the order of the first record with each."""
        if self._records is not None and not self._columns:
            names = dict.fromkeys(chain.from_iterable(self._records))
            self._columns = {
                name: [record.get(name, MISSING) for record in self._records] for name in names
            }
        return list(self._columns)

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
