"""Records of a frame as expressions see them: by column, and one by one where it must be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.arrays import whole_numbers
from registry.decode.frame import Frame, NotColumnarError
from registry.mapping.row import Row

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["View"]


@dataclass(frozen=True)
class View:
    """Consecutive records of a source, with the constant columns of the source."""

    frame: Frame
    constants: Mapping[str, Any]
    """Column → value in each record, before the record's own."""
    numbers: NDArray[np.int64]
    """Number of each record, from 1."""
    _rows: dict[frozenset[str], list[Row]] = field(default_factory=dict)

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
        if any(head in self.constants or head in names for head in _heads(name)):
            return self._inner(name)
        return pa.nulls(self.count, pa.large_string())

    def _inner(self, name: str) -> pa.Array | None:
        """Return what a path of keys leads to within a column of objects."""
        head, *path = name.split(".")
        if head in self.constants or head not in self.frame.batch.schema.names:
            return None
        column = self.frame.batch.column(head)
        for key in path:
            if not pa.types.is_struct(column.type) or column.type.get_field_index(key) < 0:
                return None
            column = pc.struct_field(column, column.type.get_field_index(key))
        return column

    def rows(self, wanted: Iterable[str] | None) -> list[Row]:
        """Return the records, with the columns that are wanted.

        Raises:
            NotColumnarError: whether a record has a column can't be told.
        """
        names = [name for name in self.frame.batch.schema.names if _is_read(name, wanted)]
        key = frozenset(names)
        if key not in self._rows:
            self._rows[key] = self._read_rows(names)
        return self._rows[key]

    def _read_rows(self, names: list[str]) -> list[Row]:
        part = self.frame.batch.select(names)
        if not self.frame.null_is_value and any(_has_null(column) for column in part.columns):
            raise NotColumnarError("a null, or a key that is missing")
        records = part.to_pylist() if names else [{} for _ in range(self.count)]
        if self.constants:
            records = [{**record, **self.constants} for record in records]
        return list(map(Row, records, self.numbers.tolist()))

    def kept(self, places: NDArray[np.int64]) -> View:
        """Return the view of some of the records."""
        batch = self.frame.batch.take(whole_numbers(places))
        return View(Frame(batch, self.frame.null_is_value), self.constants, self.numbers[places])


def _has_null(column: pa.Array) -> bool:
    return bool(column.null_count)


def _heads(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def _is_read(name: str, wanted: Iterable[str] | None) -> bool:
    return wanted is None or any(one == name or one.startswith(f"{name}.") for one in wanted)
