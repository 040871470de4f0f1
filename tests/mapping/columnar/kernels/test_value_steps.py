"""Operations that choose and convert values return what they return for each value."""

from __future__ import annotations

from typing import Any

import pytest

from tests.mapping.columnar.kernels.by_value import check, has_no_kernel


@pytest.mark.parametrize(
    ("table", "values"),
    [
        ({"a": "x", "b": "y"}, ["a", "b", "a"]),
        ({"a": 1, "*": 2}, ["a", "é", ""]),
        ({"true": "Yes", "false": "No"}, [True, False]),
        ({"0": False, "-1": True}, [0, -1]),
        ({"0": ["a", "b"], "1": []}, [1, 0]),
        ({"a": None, "*": "x"}, ["a", "b"]),
        ({"a": "x", "b": 1}, ["a", "a"]),
        ({"*": "x"}, ["", "*"]),
        ({"*": 0.5}, [1, 2]),
    ],
)
def test_table_gives_the_entry_of_each_value(table: Any, values: list[Any]) -> None:
    check({"map": table}, values)


@pytest.mark.parametrize(
    ("table", "values"),
    [({"a": "x"}, ["a", "b"]), ({"a": "x", "b": 1}, ["a", "b"]), ({"1.0": "x"}, [1.0])],
)
def test_other_tables_are_left_to_records(table: Any, values: list[Any]) -> None:
    has_no_kernel({"map": table}, values)


def test_null_in_a_pipe_is_a_key() -> None:
    check([{"default": None}, {"map": {"null": "none", "*": "some"}}], ["", "x"])
    check([{"default": None}, {"map": {"*": "any"}}], ["", "x"])
    check([{"default": None}, "nonempty"], ["", "x"])
    check([{"default": None}, {"equals": None}], ["", "x"])
    has_no_kernel([{"default": None}, "str"], ["", "x"])


@pytest.mark.parametrize(
    ("instead", "values"),
    [
        ("x", ["", "a", None]),
        (None, ["", "a", None]),
        ("", ["", "a", None]),
        (0, [1, None]),
        (0.0, [0.5, float("nan"), None]),
        (["x"], [["a"], [], None]),
        ({"a": 1}, ["a", "b"]),
    ],
)
def test_default_replaces_empty_values(instead: Any, values: list[Any]) -> None:
    check({"default": instead}, values)
    check("nonempty", values)


def test_default_of_another_type_is_left_to_records() -> None:
    has_no_kernel({"default": 0}, ["a", None])
    has_no_kernel({"default": {}}, ["a", None])


def test_first_value_that_is_not_empty_is_chosen() -> None:
    check({"coalesce": ["a", "b"]}, ["", "x", "", ""], a=[None, "y", "y", ""], b=["z"] * 3 + [""])
    check({"coalesce": {"from": "a", "do": {"index": 0}}}, ["", "x"], a=[["z"], []])
    has_no_kernel({"coalesce": "a"}, ["", "x"], a=[1, 2])


@pytest.mark.parametrize("values", [[0, 25], ["0", " 25\n", "7"], [1, 2]])
def test_indices_become_letters(values: list[Any]) -> None:
    check("letter", values)


@pytest.mark.parametrize("values", [[-1], [26], ["26"], ["007"], ["x"], [""], [True], [0.0]])
def test_other_indices_are_left_to_records(values: list[Any]) -> None:
    has_no_kernel("letter", values)


def test_letters_may_start_at_one() -> None:
    check({"letter": {"base": 1}}, ["1", "26"])
    has_no_kernel({"letter": {"base": 1}}, ["0"])


def test_first_equal_label_gives_the_letter() -> None:
    check({"letter_in": "l"}, ["a", "b", ""], l=[["b", "a", "a"], ["b", None], ["x", ""]])
    check({"letter_in": {"const": ["a", "b"]}}, ["b", "a"])
    check({"letter_in": ["x", "y"]}, ["b", "a"], x=["a", "a"], y=["b", "b"])
    for labels in ([["b"], ["b"]], [["a"], []], [None, ["b"]]):
        has_no_kernel({"letter_in": "l"}, ["a", "b"], l=labels)
    has_no_kernel({"letter_in": "l"}, [1], l=[[1]])


@pytest.mark.parametrize("values", [["0", "-0", "007", "-999999999999999999"], [5, -5]])
def test_plain_digits_become_integers(values: list[Any]) -> None:
    check("int", values)


@pytest.mark.parametrize(
    "values", [["0", "-0", "2.50", "-0.1", "123456789012345.123456789012345"], [0.1]]
)
def test_plain_decimals_become_floats(values: list[Any]) -> None:
    check("float", values)


@pytest.mark.parametrize("text", ["", " 1", "+1", "1_0", "٣", "1\n", "1" * 19, "1.5", "x"])
def test_other_numbers_are_left_to_records(text: str) -> None:
    has_no_kernel("int", ["1", text])


@pytest.mark.parametrize("text", ["", " 1", ".5", "1.", "1e3", "nan", "1" * 16, "٣"])
def test_other_decimals_are_left_to_records(text: str) -> None:
    has_no_kernel("float", ["1", text])


@pytest.mark.parametrize(
    "values", [[1, -1], [True, False], [0.5, -0.0, 1e300, float("nan")], ["é"]]
)
def test_values_become_strings(values: list[Any]) -> None:
    check("str", values)
