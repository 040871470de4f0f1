"""Frames of Arrow columns and of values give the same values of the same records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from registry.decode.frame import MISSING, ValueFrame

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


def test_records_without_wanted_columns_are_empty() -> None:
    assert ValueFrame(2, {}).records() == [{}, {}]
    assert ValueFrame(0, {}).records() == []
