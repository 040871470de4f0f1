"""Generated expressions other than templates and pipes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.mapping.generated.both import assert_same
from tests.mapping.generated.odd_values import odd_records

COLUMNS = ["a", "b", "a.text", "c"]
EXPRESSIONS: list[Any] = [
    "a",
    "a.text",
    [],
    ["a"],
    ["a", {"const": 1}, ["b"], {"from": "c", "do": [{"default": []}]}],
    [{"const": 1}, {"template": "x"}],
    {"object": {"x": "a", 1: {"object": {"y": "a.text"}}, "z": {"const": [1]}}},
    {"if": {"value": "a", "empty": False}, "then": "b"},
    {"if": {"value": "a", "in": ["a", "0"]}, "then": {"const": 1}, "else": {"const": 2}},
    {"if": {"value": "a", "less": "b"}, "then": {"template": "{a}"}, "else": "b.x"},
    {
        "messages": [
            {"role": "system", "content": "a"},
            {"role": "user", "content": [{"text": "a"}, {"image": "b"}, {"audio": "c"}]},
            {"role": "user", "content": [{"video": "a"}]},
            {"role": "assistant", "content": {"template": "{?b}!{/}"}},
            {"role": "user", "content": ["b" and {"document": "b"}]},
        ]
    },
    {"from": "a", "do": []},
    {"from": {"from": "a", "do": [{"default": "b"}]}, "do": ["nonempty"]},
]


@pytest.mark.parametrize("raw", EXPRESSIONS, ids=str)
def test_expression_of_odd_values(raw: Any) -> None:
    assert_same(raw, odd_records(COLUMNS, 500, 3))


USUAL = {"a": "x", "b": ["p", "q"], "c": {"text": "t"}}


@pytest.mark.parametrize("raw", EXPRESSIONS[:8] + EXPRESSIONS[-2:], ids=str)
def test_usual_values_are_decided_by_the_function(raw: Any) -> None:
    assert_same(raw, [USUAL], fast="a.text" not in str(raw) or raw == "a.text" or None)


def test_parts_of_a_message() -> None:
    raw = EXPRESSIONS[10]
    (found,) = assert_same(raw, [{"a": "x", "b": ["y", ""], "c": "z"}], fast=True)
    assert found[1]["content"] == [
        {"type": "text", "text": "x"},
        {"type": "image", "image": "y"},
        {"type": "audio", "audio": "z", "format": "mp3"},
    ]
    assert [message["role"] for message in found] == ["system", "user", "user", "assistant", "user"]
    assert assert_same(raw, [{"a": "", "b": None, "c": ""}], fast=True) == [[]]
