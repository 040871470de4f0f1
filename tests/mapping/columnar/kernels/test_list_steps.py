"""Operations on columns of lists return what Python returns for each list."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from registry.mapping.columnar.kernels.arrays import NoKernelError
from registry.mapping.columnar.kernels.list_steps import lists_of_columns
from tests.mapping.columnar.kernels.by_value import TEXTS, check, has_no_kernel

LISTS = [["a", "b", "c"], ["é", " "], ["x"] * 5]


@pytest.mark.parametrize("position", [0, 1, -1, -2])
def test_index_returns_an_item_or_a_character(position: int) -> None:
    check({"index": position}, LISTS)
    check({"index": position}, ["ab", "é\U0001f600x"])


@pytest.mark.parametrize("position", [2, -3])
def test_position_outside_one_value_is_left_to_records(position: int) -> None:
    has_no_kernel({"index": position}, LISTS)
    has_no_kernel({"index": position}, ["abc", "é\U0001f600"])


def test_position_may_be_a_column() -> None:
    check({"index": "n"}, LISTS, n=[2, -1, 0])
    has_no_kernel({"index": "n"}, LISTS, n=[2, -3, 0])
    has_no_kernel({"index": "n"}, LISTS, n=["0", "1", "2"])
    has_no_kernel({"index": "n"}, TEXTS[1:4], n=[0, 0, 0])


@pytest.mark.parametrize("start", [None, 0, 1, -1, -9, 9])
@pytest.mark.parametrize("end", [None, 0, 1, -1, -9, 9])
def test_slice_clips_its_bounds(start: Any, end: Any) -> None:
    check({"slice": [start, end]}, [*LISTS, []])
    check({"slice": [start, end]}, TEXTS)


def test_bounds_may_be_columns() -> None:
    check({"slice": ["n", None]}, LISTS, n=[2, -1, 9])
    check({"slice": [1, "n"]}, LISTS, n=[0, -1, 9])


@pytest.mark.parametrize("separator", ["", ", ", "é"])
def test_join_takes_lists_of_strings(separator: str) -> None:
    check({"join": separator}, [*LISTS, []])
    has_no_kernel({"join": separator}, [["a", None]])
    has_no_kernel({"join": separator}, [[1]])


def test_items_are_kept_by_comparisons() -> None:
    lists = [["a", None, " "], [], ["é", ""]]
    steps: list[Any] = ["drop_null", {"drop_null": {"blank": True}}, {"keep": {"not_equals": "a"}}]
    for step in [*steps, "len", {"each": [{"default": "x"}]}]:
        check(step, lists)
    has_no_kernel({"each": "strip"}, lists)


def test_items_are_unique_and_sorted_within_their_list() -> None:
    lists = [["b", "a", "b", "é", "Z"], [], ["a", "\U0001f600", "\uffff", "a", "ab", ""], ["b"]]
    for step in ("unique", "sort", ["unique", "sort"], ["sort", "unique"]):
        check(step, lists)
        check(step, [["x"], []])
    check("unique", [["a"], ["b"]])
    check("unique", [["a", None, None, "a"], [None]])
    has_no_kernel("sort", [["a", None]])


def test_operations_of_items_read_no_record() -> None:
    check({"each": ["strip", {"split": ","}]}, [["a,b", " c"], []])
    check({"each": [{"index": 0}, {"slice": [0, 1]}]}, [["ab", " c"], []])
    has_no_kernel({"each": [{"index": "n"}]}, [["a"]], n=[0])
    has_no_kernel({"each": [{"letter_in": "n"}]}, [["a"]], n=["a"])
    has_no_kernel({"each": [{"coalesce": "n"}]}, [[""]], n=["a"])
    has_no_kernel({"each": {"to": {"template": "{item}"}}}, [["a"]])


def test_lists_and_strings_become_one_list() -> None:
    texts, lists = pa.array(["x", "y"]), pa.array([["a", "b"], []])
    found = lists_of_columns([texts, lists, texts], 2)
    assert found.to_pylist() == [["x", "a", "b", "x"], ["y", "y"]]
    assert lists_of_columns([lists], 2).to_pylist() == lists.to_pylist()
    assert lists_of_columns([], 2).to_pylist() == [[], []]
    for other in (pa.array([1, 2]), pa.array([["a"], None]), pa.array([[1], []])):
        with pytest.raises(NoKernelError):
            lists_of_columns([texts, other], 2)


def test_lists_of_equal_total_length_keep_their_rows() -> None:
    lists = pa.array([["a", "b"], []])
    assert lists_of_columns([lists, lists], 2).to_pylist() == [["a", "b", "a", "b"], []]
