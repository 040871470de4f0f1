"""Inputs that are messages: of conversations, and of pictures before a text."""

from __future__ import annotations

from typing import Any

import pytest

from registry.mapping.field_mapper import map_fields
from registry.scaffold.columns import Columns, Inference
from registry.scaffold.messages import infer_conversation, with_pictures
from tests.scaffold.pipes import pipe

ASK = {"role": "user", "content": "?"}
SAY = {"role": "assistant", "content": "!"}
CALL = {"role": "assistant", "tool_calls": [{"id": "c", "name": "f", "arguments": "{}"}]}
SHARE = [{"from": "human", "value": "?"}, {"from": "gpt", "value": "!"}]


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
                pipe("messages", {"slice": [0, -1]}),
                pipe("messages", {"index": -1}, {"index": {"const": "content"}}),
            ),
        ),
        ([{"messages": [ASK, SAY], "answer": "4"}], ("messages", None)),
        ([{"messages": [ASK, SAY]}, {"messages": [ASK]}], ("messages", None)),
        (
            [{"conversations": SHARE}],
            (
                pipe("conversations", {"slice": [0, -1]}, "messages"),
                pipe("conversations", {"index": -1}, {"index": {"const": "value"}}),
            ),
        ),
        (
            [{"traj": [ASK, CALL]}],
            (
                pipe("traj", {"slice": [0, -1]}, "messages"),
                pipe("traj", "messages", {"index": -1}, {"index": {"const": "tool_calls"}}, "dump"),
            ),
        ),
        (
            [{"messages": [ASK, CALL]}, {"messages": [ASK, SAY]}],
            (
                pipe("messages", {"slice": [0, -1]}, "messages"),
                pipe("messages", "messages", {"index": -1}, "dump"),
            ),
        ),
        ([{"question": [[ASK]], "answer": "4"}], (pipe("question", {"index": 0}), None)),
        (
            [{"system": "Be brief.", "messages": [ASK]}],
            (pipe("messages", {"messages": {"system": "system"}}), None),
        ),
    ],
    ids=[
        *("question", "answered", "with a target", "not all answered", "ShareGPT", "a call"),
        *("a call or an answer", "a list of turns", "a system prompt"),
    ],
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


PNG = b"\x89PNG\r\n\x1a\n"
URI = pipe("x", "data_uri")
LIST = pipe("x", {"each": ["data_uri"]})


@pytest.mark.parametrize(
    ("values", "part"),
    [
        ([PNG, b"GIF89a"], {"image": URI}),
        ([{"bytes": PNG, "path": "a.png"}], {"image": URI}),
        ([[PNG], [PNG, PNG]], {"image": LIST}),
        ([b"ID3"], {"audio": URI}),
        (
            [PNG, None],
            {"image": {"if": {"value": "x", "empty": False}, "then": URI, "else": {"const": None}}},
        ),
        (["images/0.png", "images/a b.JPG"], {"image": "x"}),
        ([PNG, b"ID3"], None),
        (["a.png", "b"], None),
        ([b"text"], None),
        ([{"bytes": None, "path": "a.png"}], None),
        (["data:image/png;base64,AA=="], None),
    ],
)
def test_bytes_are_parts_before_the_text(values: list[Any], part: Any) -> None:
    records = [{"question": "?", "x": value} for value in values]
    found = with_pictures(Inference("question", ""), Columns(records, used={"question"})).expression
    if part is None:
        assert found == "question"
        return
    message = {"role": "user", "content": [part, {"text": "question"}]}
    assert found == {"messages": [message]}
    mapper = map_fields({"input": found})
    assert all(mapper(record).input for record in records)
