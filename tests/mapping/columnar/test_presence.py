"""Columns found without records: a column that is found exists, one that is not may exist."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from registry.decode.frame import Frame
from registry.mapping.columnar.presence import see_columns
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.mapping.missing_columns import UnseenColumns
from registry.mapping.named_columns import NamedColumns

COLUMNS = pa.RecordBatch.from_pylist(
    [{"a": "x", "n": None, "s": {"k": 1, "n": None}}], schema=pa.schema(
        [("a", pa.string()), ("n", pa.string()), ("s", pa.struct([("k", pa.int64()), ("n", pa.string())]))]
    ),
)  # fmt: skip


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (("a",), True),
        (("n",), True),
        (("k",), True),  # a constant
        (("none",), False),
        (("none", "a"), True),
        (("s.k",), True),
        (("s.n",), False),  # decided by records
        (("s.none",), False),
        (("a.k",), False),
    ],
    ids=str,
)
def test_columns_with_values_are_found(names: Any, found: bool) -> None:
    unseen = UnseenColumns([NamedColumns((), names)])
    see_columns(unseen, RecordBatchView(Frame(COLUMNS), {"k": 1}, np.arange(1, 2)))
    assert (not unseen.uses) is found
