"""Batches of records, of some of them, and of the items of their lists."""

from __future__ import annotations

from typing import Any

from registry.boundary.boundary import Boundary
from registry.mapping.evaluation.batch import Records
from registry.mapping.row import MISSING

RECORDS: list[dict[str, Any]] = [
    {"a": 1, "m": {"x": 2}},
    {"a": None},
    {"item": "own", "item.x": "own"},
]


def batch() -> Records:
    return Records(RECORDS, [4, 5, 6], Boundary())


def test_values_are_those_of_the_records() -> None:
    assert batch().values("a") == [1, None, MISSING]
    assert batch().values("m.x") == [2, MISSING, MISSING]
    assert batch().kinds("a") == {int, type(None), type(MISSING)}


def test_taken_records_keep_their_numbers() -> None:
    part = batch().take([2, 0])
    assert (part.values("a"), part.row_numbers) == ([MISSING, 1], [6, 4])
    assert part.records() == [RECORDS[2], RECORDS[0]]


def test_items_have_the_columns_of_their_record() -> None:
    items = batch().of_items([["p", {"x": 1}], [], ["q"]], ("item", "index"))
    assert items.values("a") == [1, 1, MISSING]
    assert items.values("item") == ["p", {"x": 1}, "q"]
    assert items.values("item.x") == [MISSING, 1, MISSING]  # never the record's own column
    assert items.values("index") == [0, 1, 0]
