"""Frames of Arrow columns and of values give the same values of the same records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from registry.decode.frame import MISSING, Frame, NotColumnarError, ValueFrame

RECORDS: list[dict[str, Any]] = [{"a": "x", "b": {"c": 1}}, {"b": None}, {"a": None, "n": [1]}]


def whole() -> ValueFrame:
    return ValueFrame(3, {}, RECORDS)


def of_columns() -> ValueFrame:
    names = ["a", "b", "n"]
    return ValueFrame(
        3, {name: [record.get(name, MISSING) for record in RECORDS] for name in names}
    )


@pytest.mark.parametrize("make", [whole, of_columns])
def test_values_know_a_null_from_a_missing_key(make: Any) -> None:
    frame = make()
    assert (frame.count, frame.names) == (3, ["a", "b", "n"])
    assert frame.values("a") == ["x", MISSING, None]
    assert frame.values("other") == [MISSING] * 3
    assert frame.records() == RECORDS
    assert frame.take(np.array([2, 0])).records() == [RECORDS[2], RECORDS[0]]


def test_only_columns_of_one_type_are_arrow_columns() -> None:
    frame = of_columns()
    column = frame.array("a")
    assert column is not None
    assert column.to_pylist() == ["x", None, None]
    assert frame.array("b") is None
    assert frame.array("n") is None


def test_records_without_wanted_columns_are_empty() -> None:
    assert ValueFrame(2, {}).records() == [{}, {}]
    assert ValueFrame(0, {}).records() == []


def test_a_null_that_may_be_a_missing_key_is_looked_up() -> None:
    batch = pa.RecordBatch.from_pydict({"a": ["x", None, None]})
    frame = Frame(batch, null_is_value=False, exact=whole)
    assert frame.values("a") == ["x", MISSING, None]
    assert frame.take(np.array([1, 2])).values("a") == [MISSING, None]
    assert Frame(batch).values("a") == ["x", None, None]
    assert frame.records() == [{"a": "x"}, {}, {"a": None}]
    unknown = Frame(batch, null_is_value=False)
    for read in (lambda: unknown.values("a"), unknown.records):
        with pytest.raises(NotColumnarError, match="a null, or a missing key"):
            read()
