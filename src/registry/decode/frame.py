"""Consecutive records of a file as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Frame", "NotColumnarError", "Wanted"]

Wanted = frozenset[str] | None
"""Names of columns to read, as expressions write them; None for all there are."""


class NotColumnarError(Exception):
    """Records whose columns would not hold exactly what the records do."""


@dataclass(frozen=True)
class Frame:
    """Records as columns: `to_pylist` of a column gives what the records hold under its name."""

    batch: pa.RecordBatch
    """One row a record."""
    null_is_value: bool = True
    """False where a null may also stand for a key that the record does not have."""
