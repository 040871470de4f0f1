"""Generated operations that create chat messages."""

from __future__ import annotations

from typing import Any

import pytest

from registry.mapping.row import MISSING
from tests.mapping.generated.both import assert_same
from tests.mapping.generated.odd_values import ODD

ITEMS: list[dict[Any, Any]] = [
    {"role": "user", "content": "a"},
    {"content": ["a"], "role": "tool", "tool_call_id": "1"},
    {"role": "assistant", "x": 1},
    {"from": "human", "value": "b"},
    {"from": "human", "role": "user", "content": "c"},
    {"role": "human", "content": "c", 1: 2},
    {"role": ["user"], "content": ""},
    {"role": None},
]
STEPS: list[Any] = [
    "messages",
    {"messages": {"role": "from", "content": "value", "roles": {"human": "user"}}},
    {"messages": {"roles": {"human": "user", "user": "system"}}},
    {"messages": {"content": "x"}},
    {"messages": {"role": "content"}},
]


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_messages(step: Any) -> None:
    lists = [[item] for item in ITEMS] + [ITEMS, [ITEMS[0], ITEMS[1]], []]
    rows = [{"a": value} for value in [*ODD, *lists] if value is not MISSING]
    assert_same({"from": "a", "do": [step]}, [*rows, {}])


def test_usual_messages_are_converted_by_the_function() -> None:
    rows: list[dict[str, Any]] = [{"a": "hi"}, {"a": []}, {"a": ITEMS[:3]}, {"a": [ITEMS[3]]}]
    assert_same({"from": "a", "do": ["messages"]}, rows[:3], fast=True)
    assert assert_same({"from": "a", "do": [STEPS[1]]}, rows[3:], fast=True) == [
        [{"role": "user", "content": "b"}]
    ]
