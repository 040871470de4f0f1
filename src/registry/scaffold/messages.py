"""Infer inputs that are messages: of conversations, and of pictures or sounds before a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from registry.errors import MappingError
from registry.mapping.operations.chat import media_type_of
from registry.mapping.operations.conversation import (
    CONTENT_KEYS,
    ROLE_KEYS,
    ROLE_NAMES,
    Conversation,
)
from registry.scaffold.columns import MESSAGES, TARGETS, Columns, Inference

__all__ = ["TOOLS", "infer_conversation", "with_pictures"]

TOOLS = ("tools", "functions", "function", "available_tools")
"""Columns with the functions that a conversation may call."""
_SYSTEM = ("system", "system_prompt", "system_message")
_PATHS = {
    "image": re.compile(r"\S.*\.(?:png|jpe?g|gif|webp|bmp)", re.IGNORECASE),
    "audio": re.compile(r"\S.*\.(?:wav|mp3)", re.IGNORECASE),
}
"""Kind → names of files, which are beside the data, and URLs."""

Messages = list[dict[str, Any]]


def infer_conversation(columns: Columns) -> tuple[Inference, Inference | None] | None:
    """Return the input, and the target if each conversation ends with what the model should say.

    Returns None if no column has messages.
    """
    if "input" in columns.given:
        names = [columns.given["input"]]
    else:
        known = columns.find(MESSAGES)
        names = [*([known] if known else []), *columns.free()]
    column = next((name for name in names if _are_conversations(columns.filled(name))), None)
    if column is None:
        return None
    values = columns.filled(column)
    # A list of turns, each of them a list of messages, of which there is one.
    is_nested = all(len(value) == 1 and isinstance(value[0], list) for value in values)
    first: list[Any] = [{"index": 0}] if is_nested else []
    conversations = [value[0] if is_nested else value for value in values]
    try:
        read = [Conversation().read(value) for value in conversations]
    except MappingError:  # the build says which message has no known form
        read = []
    columns.use(column)
    step = _step(columns, conversations, read)
    has_target = columns.find(TARGETS, "target") is not None
    ends = {messages[-1]["role"] for messages in read if messages}
    if ends != {"assistant"} or has_target or min(map(len, conversations)) < 2:
        ended = sum(messages[-1]["role"] == "assistant" for messages in read if messages)
        is_mixed = not has_target and 0 < ended < len(read)
        note = (
            f"{ended:,} of {len(read):,} conversations end with the assistant" if is_mixed else ""
        )
        expression = _with(column, [*first, *step])
        return Inference(expression, "messages of a conversation", note=note), None
    question = [*first, {"slice": [0, -1]}, *step]
    operations, reason = _answer([value[-1] for value in conversations], [one[-1] for one in read])
    return (
        Inference(_with(column, question), "the messages before the last"),
        Inference(_with(column, [*first, *operations]), reason),
    )


def _are_conversations(values: Sequence[Any]) -> bool:
    if not values or not all(isinstance(value, list) and value for value in values):
        return False
    flat = [value[0] if isinstance(value[0], list) else value for value in values]
    return all(flat) and all(_is_message(one) for value in flat for one in value)


def _is_message(one: Any) -> bool:
    if not isinstance(one, dict):
        return False
    role = next((one[key] for key in ROLE_KEYS if key in one), None)
    has_content = not one.keys().isdisjoint((*CONTENT_KEYS, "tool_calls", "function_call"))
    return isinstance(role, str) and role in ROLE_NAMES and has_content


def _step(columns: Columns, conversations: Sequence[Any], read: Sequence[Messages]) -> list[Any]:
    """Return the operation that reads the messages, if they are not Inspect's already."""
    system = columns.find(_SYSTEM)
    has_own = any(messages and messages[0]["role"] == "system" for messages in read)
    if system is not None and not has_own:
        columns.use(system)
        return [{"messages": {"system": system}}]
    return [] if read and read == list(conversations) else ["messages"]


def _answer(last: Sequence[Any], read: Sequence[dict[str, Any]]) -> tuple[list[Any], str]:
    """Return the operations that give what the model should say in the last message."""
    keys = [
        next((key for key in one if one[key] == made["content"]), None)
        for one, made in zip(last, read, strict=True)
    ]
    are_calls = [bool(made.get("tool_calls")) for made in read]
    texts = [made["content"] for made in read]
    is_text = not any(are_calls) and all(isinstance(one, str) for one in texts)
    if is_text and keys[0] and set(keys) == {keys[0]}:
        steps = [{"index": -1}, {"index": {"const": keys[0]}}]
        return steps, "the last message, which is the assistant's"
    if all(are_calls) and not any(texts):
        steps = ["messages", {"index": -1}, {"index": {"const": "tool_calls"}}, "dump"]
        return steps, "the calls of the last message, as JSON"
    return ["messages", {"index": -1}, "dump"], "the last message, as JSON"


def _with(column: str, operations: list[Any]) -> Any:
    return {"from": column, "do": operations} if operations else column


def with_pictures(question: Inference, columns: Columns) -> Inference:
    """Return the input with the columns of pictures or sounds, if there are any.

    They have the bytes of these, or the paths of files beside the data.
    """
    parts = []
    for column in columns.free():
        values = columns.filled(column)
        lists = bool(values) and all(isinstance(value, list) for value in values)
        items = [item for value in values for item in value] if lists else values
        kinds = {_kind(item) for item in items}
        kind = kinds.pop() if len(kinds) == 1 else ""
        if kind not in _PATHS or (isinstance(items[0], str) and lists):
            continue
        columns.use(column)
        operations = [{"each": ["data_uri"]}] if lists else ["data_uri"]
        is_path = isinstance(items[0], str)
        value: Any = column if is_path else {"from": column, "do": operations}
        if len(values) < len(columns.records):
            is_there = {"value": column, "empty": False}
            value = {"if": is_there, "then": value, "else": {"const": None}}
        parts.append({kind: value})
    if not parts:
        return question
    message = {"role": "user", "content": [*parts, {"text": question.expression}]}
    names = dict.fromkeys("pictures" if "image" in one else "sounds" for one in parts)
    return Inference({"messages": [message]}, f"{' and '.join(names)} before the text")


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return next((kind for kind, path in _PATHS.items() if path.fullmatch(value)), "")
    data = value.get("bytes") if isinstance(value, dict) else value
    return media_type_of(data).partition("/")[0] if isinstance(data, bytes) else ""
