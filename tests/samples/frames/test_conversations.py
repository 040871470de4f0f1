"""A message in a struct says what the message says, whether it comes from a model or the cache."""

from __future__ import annotations

import json
from typing import Any

import pytest

from registry import ChatMessageAssistant, ChatMessageSystem, ChatMessageTool, ChatMessageUser
from registry.base.digest import from_json
from registry.samples.content import (
    Citation,
    ContentCitation,
    ContentDocument,
    ContentImage,
    ContentReasoning,
    ContentText,
    DocumentCitation,
    DocumentRange,
)
from registry.samples.frames.conversations import message_data, message_row
from registry.samples.messages import ChatMessage, ToolCall, ToolCallContent, ToolCallError
from registry.store.conversations import conversation_data, conversation_to_json

CITED: list[Citation] = [
    ContentCitation(cited_text=(0, 3)),
    DocumentCitation(range=DocumentRange(type="page", start_index=0, end_index=1)),
]
CALL = ToolCall("c1", "f", {"x": [1, None]}, view=ToolCallContent(format="text"))
MESSAGES: list[ChatMessage] = [
    ChatMessageSystem(content="Be brief.", id="m1", source="input"),
    ChatMessageUser(content="Hi", id="m2", metadata={"unset": 1, "a": None}, role="user"),
    ChatMessageUser(
        content=[
            ContentText(text="one"),
            ContentImage(image="a.png", detail="low"),
            ContentText(text="two", citations=CITED, type="text"),
        ],
        id="m3",
    ),
    ChatMessageUser(content=[ContentDocument(document="a.pdf"), ContentText(text="")], id="m4"),
    ChatMessageAssistant(content="", id="m5", tool_calls=[CALL], model=None),
    ChatMessageAssistant(content=[ContentReasoning(reasoning="hm")], id="m6", source="generate"),
    ChatMessageTool(
        content="no", id="m7", tool_call_id="c1", error=ToolCallError("timeout", "late")
    ),
]


def row_of(message: ChatMessage) -> dict[str, Any]:
    return message_row(message_data(message))


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.id)
def test_rows_of_models_and_of_the_cache_are_equal(message: ChatMessage) -> None:
    (stored,) = conversation_data(conversation_to_json([message]))
    assert message_row(stored) == row_of(message)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.id)
def test_a_message_can_be_made_again_from_its_row(message: ChatMessage) -> None:
    row = row_of(message)
    rest = from_json(row["rest"]) if row["rest"] else {}
    fields = {"role": row["role"], "content": row["content"], "id": row["id"], **rest}
    again = type(message).model_validate(fields)
    assert again.model_dump(exclude={"source"}) == message.model_dump(exclude={"source"})


def test_plain_messages_have_no_rest() -> None:
    assert row_of(MESSAGES[0]) == {
        "role": "system",
        "content": "Be brief.",
        "id": "m1",
        "rest": None,
    }


def test_content_of_parts_is_their_text_and_rest_has_the_parts() -> None:
    row = row_of(MESSAGES[2])
    assert row["content"] == MESSAGES[2].text == "one\ntwo"
    parts = json.loads(row["rest"])["content"]
    assert [part["type"] for part in parts] == ["text", "image", "text"]
    assert parts[1] == {"type": "image", "image": "a.png", "detail": "low"}
