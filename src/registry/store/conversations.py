"""Conversations as JSON text, with what was set of their messages and what was left at its default.

A message is what was set of it, and so are its parts; what tells their classes is always written.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter

from registry.base.digest import from_json, to_json
from registry.samples.messages import ChatMessage

__all__ = ["conversation_from_json", "conversation_to_json"]

_KINDS = frozenset({"role", "type"})
"""Fields that tell of which class a message or a part is."""
_NESTED = frozenset({"content", "citations", "tool_calls", "view"})
"""Fields that hold models."""
_UNSET = "unset"
"""Key of the field that is written though it was not set; no model has a field of this name."""


def conversation_to_json(messages: Sequence[ChatMessage]) -> str:
    """Return a conversation as text."""
    data = [message.model_dump() for message in messages]
    _leave_out(messages, data)
    return to_json(data)


def conversation_from_json(text: str) -> list[ChatMessage]:
    """Return the conversation that a text was made of."""
    data = from_json(text)
    messages = _adapter().validate_python(data)
    _restore(messages, data)
    return messages


@functools.cache
def _adapter() -> TypeAdapter[list[ChatMessage]]:
    """Return what reads conversations; it takes long to make, and most datasets have none."""
    return TypeAdapter(list[ChatMessage])


def _leave_out(value: Any, data: Any) -> None:
    """Take out of the data of a value, in place, what was not set of it."""
    if isinstance(data, list | tuple):
        for one, inner in zip(value, data, strict=True):
            _leave_out(one, inner)
    elif isinstance(data, dict):
        # Tool calls are dataclasses, which don't know what was set.
        for name in data.keys() - getattr(value, "model_fields_set", data.keys()):
            if name in _KINDS:
                data[_UNSET] = name
            else:
                del data[name]
        for name in _NESTED & data.keys():
            _leave_out(getattr(value, name), data[name])


def _restore(value: Any, data: Any) -> None:
    """Have a value, made of data, know what was not set of it."""
    if isinstance(data, list | tuple):
        for one, inner in zip(value, data, strict=True):
            _restore(one, inner)
    elif isinstance(data, dict):
        if _UNSET in data:
            value.model_fields_set.discard(data[_UNSET])
        for name in _NESTED & data.keys():
            _restore(getattr(value, name), data[name])
