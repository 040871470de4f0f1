"""Batches of records, of some and of the items of their lists, and the size of values."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.boundary.boundary import MAX_TEXT, Boundary
from registry.errors import MappingError
from registry.manifest.expressions import parse_expression
from registry.mapping import batch as module
from registry.mapping import compose, regex
from registry.mapping.batch import Records, check_size, join, sample_size, size_of, sizes_of
from registry.mapping.evaluate import compile_expression
from registry.mapping.operations import numbers, text
from registry.mapping.row import MISSING, Row
from registry.samples.messages import ChatMessageUser

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


MOST = 1 << 20
"""The limit in these tests: strings of the true one take seconds and gigabytes."""
LONG = "x" * (1 << 12)
STEPS: dict[str, Any] = {
    "template": {"template": "{q}" * 300},
    "join": {"from": {"const": ["a"] * 300}, "do": [{"join": LONG}]},
    "lettered": {"from": {"const": [LONG] * 20}, "do": [{"lettered": {"format": "{item}" * 20}}]},
    "hash": {"hash": ["q"] * 300},
    "replace": {"from": "q", "do": [{"replace": {"x": "y" * 300}}]},
    "replace again": {"from": "q", "do": [{"replace": {"x": "xx"}}] * 10},
    "sub": {"from": "q", "do": [{"sub": {"pattern": "x", "to": "y" * 300}}]},
    "dump": {"from": ["q"] * 300, "do": ["dump"]},
}


@pytest.mark.parametrize("raw", STEPS.values(), ids=STEPS)
def test_expressions_make_no_string_that_fills_the_memory(
    monkeypatch: pytest.MonkeyPatch, raw: Any
) -> None:
    for limited in (module, regex, compose, text, numbers):
        monkeypatch.setattr(limited, "MAX_TEXT", MOST)
    with pytest.raises(MappingError, match="more than 1,048,576 characters"):
        compile_expression(parse_expression(raw))(Row({"q": LONG}, 1))


def test_join_is_that_of_str() -> None:
    assert join(", ", iter(["a", "b"])) == "a, b"
    assert join(", ", []) == ""
    check_size(MAX_TEXT)
    with pytest.raises(MappingError):
        check_size(MAX_TEXT + 1)


@pytest.mark.parametrize(
    ("value", "least"),
    [
        ("abc", 3),
        (["abc"] * 4, 12),
        ({"key": {"inner": "abc"}}, 11),
        (b"abc", 3),
        ([ChatMessageUser(content="abcdef")], 6),
        (None, 1),
        (True, 1),
    ],
)
def test_sizes_count_all_strings_in_a_value(value: Any, least: int) -> None:
    assert least <= size_of(value) < least + 200


def test_size_of_a_sample_is_that_of_its_fields() -> None:
    fields = {
        "input": [ChatMessageUser(content="abc")],
        "choices": ["a", "bc"],
        "target": "A",
        "id": 3,
    }
    fields |= {"metadata": {"key": ["xyz", {"k": None}]}, "setup": None}
    expected = sum(size_of(value) for value in fields.values() if value is not None)
    assert sample_size(fields) == expected
    assert size_of(["a", "bc", ["d"]]) == 1 + 2 + (1 + 8) + 8


_DATA = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3), st.binary(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(st.text(max_size=2), st.integers()), inner, max_size=3),
        st.tuples(inner),
    ),
    max_leaves=8,
)


@given(st.lists(_DATA, max_size=4))
def test_sizes_of_values_are_the_sum_of_each(values: list[Any]) -> None:
    assert sizes_of(values) == sum(map(size_of, values))


def test_lists_that_share_items_are_not_copied() -> None:
    shared: list[Any] = ["ab"] * 2000
    tracemalloc.start()
    assert sizes_of([[shared] * 1000]) == 8 + 1000 * (8 + 2 * 2000)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1 << 20
