"""A frame: consecutive records of a file as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Frame", "NotColumnarError", "Wanted"]

Wanted = frozenset[str] | None
"""Names and paths of the columns to read, as the manifest writes them; None for all columns."""


class NotColumnarError(Exception):
    """The records can't be read as columns with exactly the same values; the message says why."""


@dataclass(frozen=True)
class Frame:
    """Records as columns: `to_pylist` of a column returns the values of the records."""

    batch: pa.RecordBatch
    """One row per record."""
    null_is_value: bool = True
    """False if a null may also mean that the record does not have the key."""
