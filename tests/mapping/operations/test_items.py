"""Operations that evaluate expressions for each item: scopes, results and errors."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.mapping.operations.one_step import error_of, forbids, needed, refuses, returns, run

NAN = math.nan


test_an_operation_returns = returns(
    ({"each": ["strip", {"index": 0}]}, [" ab", "c "], ["a", "c"]),
    ({"each": ["strip"]}, [], []),
    ({"each": {"to": {"const": 1}}}, [None, "a"], [1, 1]),
    ({"each": {"to": "index"}}, ["a", "b"], [0, 1]),
    ({"each": {"where": {"value": "item", "empty": False}}}, [None, 0, ""], [0]),
    ({"dict": {"value": "index"}}, ["a", "b"], {"a": 0, "b": 1}),
    ({"dict": {"key": "index", "value": "item"}}, ["a", None], {"0": "a", "1": None}),
    ({"dict": {"value": {"const": None}}}, [1, 2.5], {"1": None, "2.5": None}),
    ({"dict": {"value": "item"}}, [], {}),
    ({"dict": {"value": {"const": 1}}}, ["a", "a"], {"a": 1}),
    ({"dict": {"key": {"const": "k"}, "value": "item"}}, [NAN], {"k": NAN}),
    ("zip", {"a": [1, 2], "b": [3, [4]]}, [{"a": 1, "b": 3}, {"a": 2, "b": [4]}]),
    ("zip", [[1, 2], [3, 4]], [[1, 3], [2, 4]]),
    ("zip", {}, []),
    ("zip", [], []),
    ("zip", {"a": []}, []),
)  # fmt: skip


RECORD = {
    "name": "Ann",
    "number": 2,
    "item": "the record's",
    "item.text": "the record's",
    "index": "the record's",
}
ITEMS = [{"text": "red", "n": 1}, {"text": "blue", "n": 2}, {"text": "red", "n": 2}]


@pytest.mark.parametrize(
    ("step", "result"),
    [
        ({"each": {"to": {"template": "{name} {index} {item.text}"}}}, ["Ann 0 red", "Ann 1 blue", "Ann 2 red"]),
        ({"each": {"where": {"value": "item.n", "equals": 2}, "to": "index"}}, [1, 2]),
        ({"each": {"where": [{"value": "name", "equals": "Ann"}, {"value": "index", "less": 1}]}}, ITEMS[:1]),
        ({"each": {"where": {"value": "name", "equals": "Bob"}}}, []),
        ({"each": {"to": {"template": "{item} {x.text} {i}"}, "item": "x", "index": "i"}}, ["the record's red 0", "the record's blue 1", "the record's red 2"]),
        ({"each": {"to": {"from": "item.text", "do": [{"index": "item.n"}]}}}, ["e", "u", "d"]),
        ({"each": {"to": {"row_number": 1}}}, [17, 17, 17]),
        ({"each": {"to": {"if": {"value": "item.n", "equals": 1}, "then": "item.text"}}}, ["red", None, None]),
        ({"dict": {"key": {"template": "{item.text}{item.n}"}, "value": "number"}}, {"red1": 2, "blue2": 2, "red2": 2}),
    ],
)  # fmt: skip
def test_expressions_of_an_item_read_it_and_the_record(step: Any, result: Any) -> None:
    assert run(step, ITEMS, RECORD) == result


def test_an_operation_within_another_reads_the_items_of_both() -> None:
    inner = {"each": {"to": {"template": "{row}-{item}"}}}
    step = {"each": {"to": {"from": "row", "do": [inner]}, "item": "row"}}
    error = error_of(step, [["a"]])
    assert error.message == (
        "item 0: item 0: "
        "'row' in the template needs a string (convert a list to a string under `with`)"
    )
    step["each"]["to"] = {"from": "row", "do": [{"each": {"to": ["n", "index"], "index": "i"}}]}
    assert run(step, [["a", "b"]], {"n": 5}) == [[[5, 0], [5, 0]]]


def test_the_record_is_unchanged_by_the_columns_of_items() -> None:
    record = {"a": "x"}
    assert run({"each": {"to": "a"}}, ["i", "j"], record) == ["x", "x"]
    assert record == {"a": "x"}


test_a_value_of_the_wrong_type_is_refused = refuses(
    ({"each": ["strip"]}, "a", "each(['strip'])", "needs a list"),
    ({"each": {"to": "item"}}, {"a": 1}, "each({'to': 'item'})", "needs a list"),
    ({"dict": {"value": "item"}}, "a", "dict({'value': 'item'})", "needs a list"),
    ("zip", "ab", "zip", "needs a dict or list of lists"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("step", "value", "message", "shown"),
    [
        ({"each": ["strip"]}, ["a", 5, None], "item 2: needs a string", None),
        ({"each": {"to": "item.b"}}, [{"b": 1}, {"a": 1}], "item 1: no column 'item.b' (did you mean 'item'?)", None),
        ({"each": {"to": {"template": "{item}"}}}, ["a", None], "item 1: the column 'item' of the template is null (write {item|} to leave it empty)", None),
        ({"each": {"where": {"value": "item", "less": 2}}}, [1, "a"], "item 1: can't be compared with 2", "a"),
        ({"dict": {"value": "index"}}, ["a", "a"], "the key 'a' has two values, 0 and 1", None),
        ({"dict": {"value": "index"}}, ["a", None], "item 1: needs a string", None),
        ("zip", {"a": [1], "b": 2}, "needs a dict or list of lists", 2),
        ("zip", {"a": [1], "b": []}, "the lists differ in length (a: 1, b: 0)", None),
        ("zip", [[1], [], [2]], "the lists differ in length (0: 1, 1: 0, 2: 1)", None),
    ],
)  # fmt: skip
def test_an_item_of_the_wrong_type_is_refused(
    step: Any, value: Any, message: str, shown: Any
) -> None:
    error = error_of(step, value)
    assert (error.message, error.value) == (needed(message, shown), shown)


test_an_invalid_argument_is_refused_before_any_record = forbids(
    ({"each": ["stripp"]}, "no operation 'stripp' did you mean 'strip'?"),
    ({"each": [5]}, "5 is not an operation (write a name, or {name: argument})"),
    ({"each": {}}, "takes a list of operations, or a mapping with `where`, `to` or both"),
    ({"each": {"item": "x"}}, "takes a list of operations, or a mapping with `where`, `to` or both"),
    ({"each": {"two": "x"}}, "unknown option 'two', known: where, to, item, index"),
    ({"each": {"to": "x", "item": "a.b"}}, "`item` is the name of a column, a string without dots"),
    ({"each": {"to": "x", "item": "index"}}, "`item` and `index` need different names"),
    ({"each": {"where": {"value": "item", "equal": 1}}}, "unknown comparison 'equal' (did you mean 'equals'?)"),
    ({"each": {"to": {"from": "item", "do": ["stripp"]}}}, "no operation 'stripp' did you mean 'strip'?"),
    ({"dict": {"key": "item"}}, "takes a mapping with `value`, and `key` unless the item is the key"),
    ({"dict": "item"}, "takes a mapping of key, value, item, index, got 'item'"),
    ({"dict": {"value": "x", "index": ""}}, "`index` is the name of a column, a string without dots"),
    ({"zip": 1}, "takes no argument, got 1"),
)  # fmt: skip
