"""Conditions of `where`, `if` and operations: their results, and invalid operands."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

import pytest

from registry.errors import MappingError
from registry.manifest.expressions import Comparisons, parse_comparisons, parse_condition
from registry.mapping.conditions import compile_comparisons, equal, is_empty, key_of
from registry.mapping.evaluate import compile_condition
from registry.mapping.row import MISSING, Row


def holds(raw: Any, record: dict[str, Any]) -> bool:
    return compile_condition(parse_condition(raw))(Row(record))


@pytest.mark.parametrize(
    ("value", "empty"),
    [
        *[(MISSING, True), (None, True), (math.nan, True), ("", True), ([], True), ({}, True)],
        *[(0, False), (False, False), (" ", False), ([None], False), ({"a": None}, False)],
    ],
)
def test_missing_null_and_zero_length_values_are_empty(value: Any, empty: bool) -> None:
    assert is_empty(value) is empty
    assert compile_comparisons(parse_comparisons({"empty": True}))(value) is empty
    assert compile_comparisons(parse_comparisons({"empty": False}))(value) is not empty


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, 1.0, True),
        ("a", "a", True),
        ([1], [1.0], True),
        ([1], [True], False),
        ([{"a": 0}], [{"a": False}], False),
        ([math.nan], [math.nan], False),
        (None, None, True),
        (True, True, True),
        (True, 1, False),
        (0, False, False),
        ("1", 1, False),
        (math.nan, math.nan, False),
        (Decimal("sNaN"), 1, False),
    ],
)
def test_booleans_do_not_equal_numbers(left: Any, right: Any, same: bool) -> None:
    assert equal(left, right) is same
    assert (key_of(left) == key_of(right)) is same


@pytest.mark.parametrize(
    ("comparisons", "message"),
    [
        ({"in": "abc"}, "`in` takes a list"),
        ({"not_in": 1}, "`not_in` takes a list"),
        ({"empty": 1}, "`empty` takes true or false"),
        ({"regex": 1}, "`regex` takes a pattern, a string"),
        ({"regex": "("}, "not a regular expression: missing ), unterminated subpattern"),
        ({"less": True}, "`less` takes a number or a string"),
        ({"at_least": None}, "`at_least` takes a number or a string"),
        ({"greater": [1]}, "`greater` takes a number or a string"),
    ],
)
def test_an_operand_of_the_wrong_type_is_refused(comparisons: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        compile_comparisons(parse_comparisons(comparisons))


@pytest.mark.parametrize(
    ("comparisons", "value"),
    [({"less": 3}, "2"), ({"less": "3"}, 2), ({"at_most": 3}, True), ({"greater": 1}, [2])],
)
def test_values_of_different_types_have_no_order(comparisons: Any, value: Any) -> None:
    ((_, operand),) = comparisons.items()
    with pytest.raises(MappingError) as caught:
        compile_comparisons(parse_comparisons(comparisons))(value)
    assert caught.value.message == f"can't be compared with {operand!r}"
    assert caught.value.value == value


IS_X = {"value": "a", "equals": "x"}
IS_Y = {"value": "b.c", "equals": "y"}


@pytest.mark.parametrize(
    ("raw", "x_and_y", "x_only"),
    [
        ([IS_X, IS_Y], True, False),
        ({"any": [{"not": IS_X}, IS_Y]}, True, False),
        ({"any": []}, False, False),
        ({"all": []}, True, True),
    ],
)
def test_conditions_are_combined(raw: Any, x_and_y: bool, x_only: bool) -> None:
    assert holds(raw, {"a": "x", "b": {"c": "y"}}) is x_and_y
    assert holds(raw, {"a": "x"}) is x_only


def test_later_conditions_are_not_evaluated_once_one_decides() -> None:
    unordered = {"value": "a", "less": 1}
    assert holds({"any": [IS_X, unordered]}, {"a": "x"})
    assert not holds([{"not": IS_X}, unordered], {"a": "x"})


def test_condition_without_a_value_is_invalid() -> None:
    with pytest.raises(ValueError, match=r"^a condition needs `value`$"):
        compile_condition(Comparisons((("equals", 1),)))
