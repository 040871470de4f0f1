"""Conversations round-trip through JSON, including which fields were set."""

from __future__ import annotations

import json
from typing import Any

import pytest

from registry import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentImage,
    ContentText,
)
from registry.samples.messages import ToolCall, ToolCallContent, ToolCallError
from registry.store.conversations import conversation_from_json, conversation_to_json

CALL = ToolCall(id="1", function="f", arguments={"x": [1]}, view=ToolCallContent(format="text"))
CONVERSATIONS: dict[str, list[ChatMessage]] = {
    "empty": [],
    "of every role": [
        ChatMessageSystem(content="Be brief.", id="a"),
        ChatMessageUser(content="?", id="b", source="input", metadata={"x": 1}),
        ChatMessageAssistant(content="!", id="c", tool_calls=[CALL], model="m"),
        ChatMessageTool(content="5", id="d", error=ToolCallError(type="timeout", message="late")),
    ],
    "with parts": [
        ChatMessageUser(content=[ContentText(text="?", refusal=None), ContentImage(image="x.png")])
    ],
}


@pytest.mark.parametrize("messages", CONVERSATIONS.values(), ids=CONVERSATIONS)
def test_conversation_round_trips(messages: list[ChatMessage]) -> None:
    found = conversation_from_json(conversation_to_json(messages))
    assert found == messages
    assert list(map(repr, found)) == list(map(repr, messages))
    for options in ({}, {"exclude_unset": True}, {"exclude_defaults": True}):
        dumped = [message.model_dump(**options) for message in found]  # type: ignore[arg-type]
        assert dumped == [message.model_dump(**options) for message in messages]  # type: ignore[arg-type]


def test_only_fields_that_were_set_are_written() -> None:
    data = json.loads(conversation_to_json([ChatMessageUser(content="?", id="a")]))
    assert data == [{"id": "a", "role": "user", "content": "?", "unset": "role"}]


def test_role_that_was_set_is_restored_as_set() -> None:
    message = ChatMessageUser.model_validate({"role": "user", "content": "?", "id": "a"})
    (found,) = conversation_from_json(conversation_to_json([message]))
    assert found.model_fields_set == message.model_fields_set == {"role", "content", "id"}


@pytest.mark.parametrize(
    "metadata",
    [{"unset": "role"}, {"role": "x", "type": "y"}, {"content": {"view": 1}}, {"a": b"\xff"}],
)
def test_metadata_may_have_keys_of_messages(metadata: dict[str, Any]) -> None:
    message = ChatMessageUser(content="?", id="a", metadata=metadata)
    assert conversation_from_json(conversation_to_json([message])) == [message]
