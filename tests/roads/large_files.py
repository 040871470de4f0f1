"""Let small files take the ways of large ones, or few records theirs."""

from __future__ import annotations

import pytest

from registry.decode import json_tables
from registry.decode.frame import FEW_RECORDS
from registry.decode.shapes import columns
from registry.mapping.columnar import record_batch

__all__ = ["as_few_records", "as_large_files"]


def as_large_files(patch: pytest.MonkeyPatch) -> None:
    """Read lines by their shapes, and map whole columns, however few they are."""
    patch.setattr(columns, "_LEAST_BYTES", 0)
    patch.setattr(json_tables, "FEW_RECORDS", -1)
    patch.setattr(record_batch, "FEW_RECORDS", -1)


def as_few_records(patch: pytest.MonkeyPatch) -> None:
    """Read and map the lines of a file of one block as lists of values, if they are few."""
    patch.setattr(json_tables, "FEW_RECORDS", FEW_RECORDS)
    patch.setattr(record_batch, "FEW_RECORDS", FEW_RECORDS)
