"""Generated operations that convert and choose values."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.mapping.row import MISSING
from tests.mapping.generated.both import assert_same
from tests.mapping.generated.odd_values import ODD

STEPS: list[Any] = [
    {"default": "x"}, {"default": []}, {"default": {"a": [1]}}, {"default": None}, {"default": 0},
    {"coalesce": "b"}, {"coalesce": ["b", {"const": ""}, "c"]}, "nonempty",
    {"equals": 1}, {"equals": [1, True]}, {"test": {"not_equals": "a", "empty": False}},
    {"map": {"a": 1, "0": "zero", "true": "T", "null": None, "1.0": 1}},
    {"map": {"a": "b", "*": "c"}}, {"map": {"a": ["b"], "*": {}}},
    "parse", {"parse": "literal"}, "dump", {"dump": {"ascii": True, "indent": 2}},
    {"dump": {"literal": True}}, "int", "float", "str", "letter", {"letter": {"base": 1}},
    {"letter_in": "b"}, {"letter_in": {"const": ["0", "a", 1, True]}},
]  # fmt: skip
ROWS = [
    {**({} if a is MISSING else {"a": a}), **({} if b is MISSING else {"b": b})}
    for a in ODD
    for b in ODD[:: 1 if type(a) is str else 5]
]


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_operation_of_odd_values(step: Any) -> None:
    assert_same({"from": "a", "do": [step]}, ROWS)
    texts = [{"a": str(row["a"])} for row in ROWS if "a" in row]
    assert_same({"from": {"template": "{a}"}, "do": [step]}, texts)
    assert_same({"from": {"from": "a", "do": [{"default": []}]}, "do": [step]}, ROWS)
    assert_same({"from": {"from": "a", "do": ["int"]}, "do": [step]}, ROWS)


@pytest.mark.parametrize(
    ("step", "value", "result"),
    [
        ({"map": {"1": "Yes", "*": "No"}}, 1, "Yes"),
        ({"map": {"true": "Yes"}}, True, "Yes"),
        ("parse", '{"b": [1.0, null]}', {"b": [1.0, None]}),
        ("dump", {"ä": [1, None]}, '{"ä": [1, null]}'),
        ("letter", "3", "D"),
        ({"letter": {"base": 1}}, 27, "1"),
        ({"letter_in": {"const": ["a", "b"]}}, "b", "B"),
        ({"letter_in": {"const": [1, 2]}}, 2, "B"),
        ("int", " 12 ", 12),
        ("str", 1.5, "1.5"),
        ({"coalesce": ["b", "c"]}, "", None),
        ({"parse": "literal"}, "['a', {'b': None}]", ["a", {"b": None}]),
    ],
)
def test_usual_values_are_decided_by_the_function(step: Any, value: Any, result: Any) -> None:
    assert assert_same({"from": "a", "do": [step]}, [{"a": value}], fast=True) == [result]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(deadline=None, max_examples=200)
@given(st.lists(JSON, max_size=3), st.booleans())
def test_any_json_is_written_and_parsed_as_by_the_evaluator(values: list[Any], ascii: bool) -> None:
    assert_same(
        {"from": "a", "do": [{"dump": {"ascii": ascii}}]}, [{"a": value} for value in values]
    )
    for indent in (0, 2):
        step = {"dump": {"ascii": ascii, "indent": indent}}
        assert_same({"from": "a", "do": [step]}, [{"a": value} for value in values])
    texts = [{"a": json.dumps(value, ensure_ascii=ascii)} for value in values]
    assert_same({"from": "a", "do": ["parse"]}, texts)
    assert_same({"from": "a", "do": [{"parse": "literal"}]}, texts)
    literals = [{"a": repr(value)} for value in values]
    assert_same({"from": "a", "do": [{"parse": "literal"}]}, literals)


@settings(deadline=None, max_examples=200)
@given(st.text("[]{}'\",:0123456789.eE+-truefalsnNabi \\_()#\n\t\u2028\ufeffä", max_size=12))
def test_any_text_is_parsed_as_by_the_evaluator(text: str) -> None:
    rows = [{"a": text}, {"a": f"[{text}]"}, {"a": f"['{text}']"}, {"a": f"{{'a': {text}}}"}]
    assert_same({"from": "a", "do": [{"parse": "literal"}]}, rows)
    assert_same({"from": "a", "do": ["parse"]}, [*rows, {"a": f'"{text}"'}])
