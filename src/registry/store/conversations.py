"""Store conversations as JSON strings, without loss of which fields of a message were set.

Only the fields that were set are written, so that `model_dump(exclude_unset=True)` of a cached
message returns the same as that of the original. Fields that identify the class are always written.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter

from registry.base.digest import from_json, to_json
from registry.samples.messages import ChatMessage

__all__ = ["conversation_from_json", "conversation_to_json"]

_DISCRIMINATORS = frozenset({"role", "type"})
"""Fields that identify the class of a message or a content part."""
_NESTED = frozenset({"content", "citations", "tool_calls", "view"})
"""Fields whose values are models."""
_UNSET = "unset"
"""Key for the name of a discriminator that was not set; no model has a field of this name."""


def conversation_to_json(messages: Sequence[ChatMessage]) -> str:
    """Return a conversation as a JSON string."""
    data = [message.model_dump() for message in messages]
    _drop_unset(messages, data)
    return to_json(data)


def conversation_from_json(text: str) -> list[ChatMessage]:
    """Return the conversation that `conversation_to_json` wrote."""
    data = from_json(text)
    messages = _adapter().validate_python(data)
    _restore(messages, data)
    return messages


@functools.cache
def _adapter() -> TypeAdapter[list[ChatMessage]]:
    """Return the validator; created on first use, as it takes long and most datasets need none."""
    return TypeAdapter(list[ChatMessage])


def _drop_unset(value: Any, data: Any) -> None:
    """Remove the fields that were not set in a value from its data, in place."""
    if isinstance(data, list | tuple):
        for one, inner in zip(value, data, strict=True):
            _drop_unset(one, inner)
    elif isinstance(data, dict):
        # Tool calls are dataclasses, which have no `model_fields_set`.
        for name in data.keys() - getattr(value, "model_fields_set", data.keys()):
            if name in _DISCRIMINATORS:
                data[_UNSET] = name
            else:
                del data[name]
        for name in _NESTED & data.keys():
            _drop_unset(getattr(value, name), data[name])


def _restore(value: Any, data: Any) -> None:
    """Mark the discriminators that were not set as unset in `value`, which was read from `data`."""
    if isinstance(data, list | tuple):
        for one, inner in zip(value, data, strict=True):
            _restore(one, inner)
    elif isinstance(data, dict):
        if _UNSET in data:
            value.model_fields_set.discard(data[_UNSET])
        for name in _NESTED & data.keys():
            _restore(getattr(value, name), data[name])
