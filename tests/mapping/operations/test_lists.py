"""Operations on lists and dicts: results and errors."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.mapping.operations.one_step import argument_error, check_error, check_result, error_of


@pytest.mark.parametrize(
    ("step", "value", "result"),
    [
        ({"index": 0}, "abc", "a"),
        ({"index": -3}, [1, 2, 3], 1),
        ({"slice": [None, None]}, [1, 2], [1, 2]),
        ({"slice": [5, 9]}, "abc", ""),
        ({"slice": [-2, None]}, "abc", "bc"),
        ({"join": ""}, [], ""),
        ({"join": "-"}, ["a", 1, 2.5], "a-1-2.5"),
        ({"each": ["strip", {"index": 0}]}, [" ab", "c "], ["a", "c"]),
        ({"each": ["strip"]}, [], []),
        ("drop_null", [None, "", math.nan, 0, False], ["", 0, False]),
        ("drop_null", {"a": None, "b": 1}, {"b": 1}),
        ({"drop_null": {"blank": True}}, [" \t", "a"], ["a"]),
        ({"pluck": "a"}, [], []),
        ("items", {"a": [1], "b": None}, [[1], None]),
        ("len", "", 0),
        ("len", {"a": 1}, 1),
        ({"slice": [-9, 2]}, [1, 2, 3], [1, 2]),
        ("unique", [1, True, 1.0, {"a": 1}, {"a": 1}], [1, True, {"a": 1}]),
        ("keys", {}, []),
        ({"items": ": "}, {"a": 1}, ["a: 1"]),
        ({"drop_null": {"blank": True}}, {"a": " ", "b": 0}, {"b": 0}),
    ],
)  # fmt: skip
def test_an_operation_returns(step: Any, value: Any, result: Any) -> None:
    check_result(step, value, result)


@pytest.mark.parametrize(
    ("step", "value", "operation", "message"),
    [
        ({"index": 1}, ["a"], "index(1)", "no item 1 among 1"),
        ({"index": -2}, "a", "index(-2)", "no item -2 among 1"),
        ({"index": 0}, {"0": 1}, "index(0)", "needs a list or a string"),
        ({"slice": [0, 1]}, 5, "slice([0, 1])", "needs a list or a string"),
        ({"join": ""}, "ab", "join()", "needs a list of strings"),
        ("drop_null", "a", "drop_null", "needs a list or a dict"),
        ({"each": ["strip"]}, "a", "each(['strip'])", "needs a list"),
        ({"pluck": "a"}, {"a": 1}, "pluck(a)", "needs a list of dicts"),
        ("keys", [], "keys", "needs a dict"),
        ("len", 5, "len", "needs a list, a dict or a string"),
        ("unique", "aa", "unique", "needs a list"),
        ("items", [], "items", "needs a dict"),
    ],
)  # fmt: skip
def test_a_value_of_the_wrong_type_is_refused(
    step: Any, value: Any, operation: str, message: str
) -> None:
    check_error(step, value, operation, message)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"index": "a"}, "takes an integer"),
        ({"index": True}, "takes an integer"),
        ({"index": 1.0}, "takes an integer"),
        ({"slice": [1]}, "takes [start, end], integers or null"),
        ({"slice": [True, 2]}, "takes [start, end], integers or null"),
        ({"each": ["stripp"]}, "no operation 'stripp' did you mean 'strip'?"),
        ({"join": None}, "takes the separator, a string"),
        ({"pluck": 1}, "takes the key, a string"),
        ({"items": 1}, "takes the separator of key and value, a string"),
        ({"each": [5]}, "5 is not an operation (write a name, or {name: argument})"),
        ({"drop_null": True}, "takes a mapping of blank, got True"),
        ({"len": 0}, "takes no argument, got 0"),
    ],
)  # fmt: skip
def test_an_invalid_argument_is_refused_before_any_record(step: Any, message: str) -> None:
    name = step if isinstance(step, str) else next(iter(step))
    assert argument_error(step).removeprefix(f"operation {name}: ") == message


@pytest.mark.parametrize(
    ("step", "value", "shown"),
    [
        ({"join": ""}, ["a", None], None),
        ({"each": ["strip"]}, ["a", 5, None], None),
        ({"pluck": "a"}, [{"a": 1}, {"b": 2}], {"b": 2}),
        ({"pluck": "a"}, [{"a": 1}, 2], 2),
        ({"items": ")"}, {"a": None}, None),
    ],
)
def test_an_invalid_item_is_the_value_of_the_error(step: Any, value: Any, shown: Any) -> None:
    assert error_of(step, value).value == shown
