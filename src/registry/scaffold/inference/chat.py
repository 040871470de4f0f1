"""Infer the input of a conversation: messages, in the words of chat templates or of ShareGPT."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from registry.scaffold.inference.columns import Columns, Inference
from registry.scaffold.sniff.columns import MESSAGES, TARGETS

__all__ = ["infer_conversation"]

_ROLE_KEYS = ("role", "from", "speaker")
_CONTENT_KEYS = ("content", "value", "text", "message")
_ROLES = {
    **{role: role for role in ("system", "user", "assistant", "tool")},
    "human": "user",
    "prompter": "user",
    **dict.fromkeys(("gpt", "chatgpt", "bot", "model", "ai", "bing", "bard"), "assistant"),
}


def infer_conversation(columns: Columns) -> tuple[Inference, Inference | None] | None:
    """Return the input, and the target if each conversation ends with what the model should say.

    Returns None if no column has messages.
    """
    column = columns.find(MESSAGES, "input")
    values = columns.values(column) if column is not None else []
    messages = [one for value in values if isinstance(value, list) for one in value]
    if column is None or not messages or not all(isinstance(value, list) for value in values):
        return None
    keys = _keys(messages)
    if keys is None:
        return None
    role, content = keys
    roles = {message[role] for message in messages}
    columns.use(column)
    operations = _operations(role, content, roles)
    ends = {_ROLES[value[-1][role]] for value in values if value}
    has_target = columns.find(TARGETS, "target") is not None
    if ends != {"assistant"} or has_target or min(map(len, values)) < 2:
        return Inference(_with(column, operations), "messages of a conversation"), None
    reason = "the messages before the last"
    question = Inference(_with(column, [{"slice": [0, -1]}, *operations]), reason)
    answer = _with(column, [{"pluck": content}, {"index": -1}])
    return question, Inference(answer, "the last message, which is the assistant's")


def _keys(messages: list[Any]) -> tuple[str, str] | None:
    """Return the keys of role and content that every message has, with roles that are known."""
    for role in _ROLE_KEYS:
        for content in _CONTENT_KEYS:
            if all(_is_message(message, role, content) for message in messages):
                return role, content
    return None


def _is_message(message: Any, role: str, content: str) -> bool:
    return (
        isinstance(message, Mapping)
        and isinstance(message.get(role), str)
        and message[role] in _ROLES
        and isinstance(message.get(content), str)
    )


def _operations(role: str, content: str, roles: set[str]) -> list[Any]:
    renamed = {name: _ROLES[name] for name in sorted(roles) if _ROLES[name] != name}
    if (role, content) == ("role", "content") and not renamed:
        return []
    options: dict[str, Any] = {"role": role, "content": content}
    return [{"messages": {**options, "roles": renamed} if renamed else options}]


def _with(column: str, operations: list[Any]) -> Any:
    return {"from": column, "do": operations} if operations else column
