"""Conversations: messages in the words of chat templates and of ShareGPT."""

from __future__ import annotations

from typing import Any

import pytest

from registry.scaffold.inference.chat import infer_conversation
from registry.scaffold.inference.columns import Columns

ASK = {"role": "user", "content": "?"}
SAY = {"role": "assistant", "content": "!"}
SHARE = [{"from": "human", "value": "?"}, {"from": "gpt", "value": "!"}]
RENAMED = {"role": "from", "content": "value", "roles": {"gpt": "assistant", "human": "user"}}


def infer(*records: dict[str, Any]) -> tuple[Any, Any] | None:
    found = infer_conversation(Columns(records))
    if found is None:
        return None
    question, target = found
    return question.expression, None if target is None else target.expression


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([{"messages": [ASK]}], ("messages", None)),
        (
            [{"messages": [ASK, SAY]}],
            (
                {"from": "messages", "do": [{"slice": [0, -1]}]},
                {"from": "messages", "do": [{"pluck": "content"}, {"index": -1}]},
            ),
        ),
        ([{"messages": [ASK, SAY], "answer": "4"}], ("messages", None)),
        ([{"messages": [ASK, SAY]}, {"messages": [ASK]}], ("messages", None)),
        (
            [{"conversations": SHARE}],
            (
                {"from": "conversations", "do": [{"slice": [0, -1]}, {"messages": RENAMED}]},
                {"from": "conversations", "do": [{"pluck": "value"}, {"index": -1}]},
            ),
        ),
    ],
    ids=["question", "answered", "with a target", "not all answered", "ShareGPT"],
)
def test_messages_become_the_input(records: list[dict[str, Any]], expected: Any) -> None:
    assert infer(*records) == expected


@pytest.mark.parametrize(
    "value",
    [
        ["one", "two"],
        "text",
        None,
        [{"role": "narrator", "content": "?"}],
        [{"role": "user"}],
        [],
        [{"role": [], "content": "x"}],
        [3],
    ],
)
def test_other_columns_of_these_names_are_no_conversation(value: Any) -> None:
    assert infer({"messages": value, "question": "?"}) is None
