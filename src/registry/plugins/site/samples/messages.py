"""The messages of a sample: roles, contents, calls of tools and what came of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from registry import ChatMessage, ChatMessageAssistant, ChatMessageTool
from registry.api import count_text
from registry.plugins.site.samples.allowance import Allowance
from registry.plugins.site.samples.blocks import (
    LABEL_TEXT,
    VALUE_TEXT,
    data_uri_text,
    json_html,
    note_html,
    picture_html,
    text_html,
)

__all__ = ["MOST_MESSAGES", "MessageView", "message_views"]

MOST_MESSAGES = 40
"""Messages of a sample, parts of a message, and calls in one."""
_MESSAGE_TEXT = 6_000


@dataclass(frozen=True, kw_only=True)
class MessageView:
    """A message, or an input that is a str, whose role is empty."""

    role: str
    blocks: tuple[Markup, ...]


def message_views(value: str | list[ChatMessage], allowance: Allowance) -> tuple[MessageView, ...]:
    """Return the messages of an input, at most `MOST_MESSAGES`."""
    if isinstance(value, str):
        return (MessageView(role="", blocks=(text_html(value, _MESSAGE_TEXT, allowance),)),)
    return tuple(_message(message, allowance) for message in value[:MOST_MESSAGES])


def _message(message: ChatMessage, allowance: Allowance) -> MessageView:
    blocks = [_part(part, allowance) for part in message.content_list[:MOST_MESSAGES]]
    more = len(message.content_list) - len(blocks)
    if more:
        blocks.append(note_html(f"{count_text(more, 'more part')} not shown"))
    role: str = message.role
    if isinstance(message, ChatMessageAssistant):
        blocks.extend(
            json_html(call.arguments, allowance, label=f"call of {call.function}")
            for call in (message.tool_calls or ())[:MOST_MESSAGES]
        )
    if isinstance(message, ChatMessageTool):
        role = f"tool {message.function[:LABEL_TEXT]}" if message.function else role
        if message.error is not None:
            blocks.append(text_html(message.error.message, VALUE_TEXT, allowance, label="error"))
    return MessageView(role=role, blocks=tuple(blocks))


def _part(part: Any, allowance: Allowance) -> Markup:
    match part.type:
        case "text":
            return text_html(part.text, _MESSAGE_TEXT, allowance)
        case "image":
            return picture_html(part.image, allowance)
        case "reasoning":
            shown = part.summary or "" if part.redacted else part.reasoning
            return text_html(shown, _MESSAGE_TEXT, allowance, label="reasoning")
        case "tool_use":
            text = f"{part.arguments}\n→ {part.error or part.result}"
            return text_html(text, VALUE_TEXT, allowance, label=f"use of {part.name}")
        case "data":
            return json_html(part.data, allowance, label="data")
    where = getattr(part, part.type)  # audio, video and document
    shown = data_uri_text(where) if where.startswith("data:") else where
    return text_html(shown, VALUE_TEXT, allowance, label=part.type)
