"""Generated operations on lists and dicts."""

from __future__ import annotations

from typing import Any

import pytest

from registry.manifest.expressions import parse_expression
from registry.mapping.row import MISSING
from tests.mapping.generated.both import assert_same, compiled
from tests.mapping.generated.odd_values import ODD, odd_records

STEPS: list[Any] = [
    {"index": 0}, {"index": -1}, {"index": 2**80}, {"index": "b"}, {"index": {"const": "text"}},
    {"slice": [1, None]}, {"slice": [None, -1]}, {"slice": [0, "b"]}, {"slice": ["b", "b"]},
    {"join": ", "}, {"join": "-" * 100}, "drop_null", {"drop_null": {"blank": True}},
    {"pluck": "text"}, "keys", "items", {"items": ": "}, "len", {"keep": {"greater": 0}},
    {"keep": {"not_in": ["a"], "empty": False}}, "letters_where",
    {"letters_where": {"equals": "a"}}, {"each": "lower"}, {"each": ["str", {"split": "a"}]},
    {"each": {"where": {"value": "item", "equals": "a"}}},
    {"each": {"to": {"template": "{index}{item|}{b|}"}}},
    {"each": {"where": {"value": "item.text", "empty": False}, "to": ["item.text", "b"]}},
    {"each": {"to": "item.label.text"}},
    {"dict": {"value": "index"}}, {"dict": {"key": "item.text", "value": "item.label"}},
    {"dict": {"key": {"const": "k"}, "value": "item", "item": "i", "index": "item"}},
    "unique", "sort", "zip", {"shuffle": "b"}, "lettered", "messages",
]  # fmt: skip


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_operation_of_odd_values(step: Any) -> None:
    columns = [*odd_records(["a", "b"], 400, 5)]
    rows = [{"a": value, "b": 0} for value in ODD if value is not MISSING]
    assert_same({"from": "a", "do": [step]}, [*rows, *columns])
    assert_same({"from": ["a", "b"], "do": [step]}, columns)
    assert_same({"from": {"object": {"text": "a", "label": "b"}}, "do": [step]}, columns)
    assert_same({"from": {"template": "{a|}"}, "do": [step]}, columns)


@pytest.mark.parametrize(
    ("step", "value", "result"),
    [
        ({"index": 1}, ["a", "b"], "b"),
        ({"index": "b"}, ["a", "b"], "b"),
        ({"index": {"const": "x"}}, {"x": 1}, 1),
        ({"slice": ["b", None]}, "abc", "bc"),
        ({"join": ""}, ["a", "b"], "ab"),
        ("drop_null", ["", None, float("nan"), 0], ["", 0]),
        ({"drop_null": {"blank": True}}, {"a": " ", "b": None, "c": 0}, {"c": 0}),
        ({"pluck": "x"}, [{"x": 1}], [1]),
        ({"items": "="}, {"x": 1}, ["x=1"]),
        ("letters_where", [0, 1, True, 1.0, False], ["B", "C", "D"]),
        ({"each": ["strip", {"default": "-"}]}, [" a", " "], ["a", "-"]),
        ({"each": {"where": {"value": "index", "at_least": 1}}}, ["a", "b"], ["b"]),
        ({"dict": {"value": "index"}}, ["a", "b"], {"a": 0, "b": 1}),
    ],
)
def test_usual_values_are_decided_by_the_function(step: Any, value: Any, result: Any) -> None:
    raw = {"from": "a", "do": [step]}
    assert assert_same(raw, [{"a": value, "b": 1}], fast=True) == [result]


def test_values_of_repeated_keys_are_compared() -> None:
    raw = {"from": "a", "do": [{"dict": {"value": {"from": "b", "do": [{"index": "index"}]}}}]}
    assert_same(raw, [{"a": ["x", "y", "x"], "b": [1, 2, 1.0]}], fast=True)
    assert_same(raw, [{"a": ["x", "x"], "b": [[1], [1]]}], fast=True)
    assert_same(raw, [{"a": ["x", "x"], "b": values} for values in ([1, True], [1, 2])], fast=False)


def test_items_are_those_of_the_record_and_lists_are_new() -> None:
    inner = {"x": [1]}
    record = {"a": [inner]}
    (found,) = assert_same({"from": "a", "do": [{"each": {"to": "item"}}]}, [record], fast=True)
    assert found is not record["a"]
    assert found[0] is inner


_CHAINS: list[list[Any]] = [
    [{"split": ","}, {"each": ["strip", {"split": "b"}]}, {"index": 0}, {"index": -1}],
    ["lines", {"slice": [0, 2]}, {"each": ["upper"]}, {"keep": {"not_equals": ""}}, {"join": "|"}],
    [{"split": ","}, {"each": {"where": {"value": "item", "regex": "a"}}}, {"each": ["len"]}],
    [{"split": ","}, {"each": [{"default": 1}]}, {"each": [{"equals": "a"}]}, {"index": 0}],
    [{"split": ","}, {"each": [{"index": 0}]}, {"dict": {"value": "index"}}],
    [{"each": {"to": ["item", {"const": "x"}]}}, {"each": [{"index": 0}, "strip"]}],
]


@pytest.mark.parametrize("chain", _CHAINS)
def test_operations_on_items_of_a_known_type(chain: list[Any]) -> None:
    values = [*ODD, "a,b", " a b,,c\nab", "\n", ["a", "bc"], [" a", 1]]
    assert_same({"from": "a", "do": chain}, [{"a": value} for value in values])


def test_strings_that_were_split_are_not_tested() -> None:
    raw = {"from": "a", "do": [{"split": ","}, {"each": ["strip"]}, {"index": 0}, "upper"]}
    source = compiled(parse_expression(raw)).source
    assert source.count(" is str") == 1
    assert assert_same(raw, [{"a": " x ,y"}], fast=True) == ["X"]
