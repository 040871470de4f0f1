"""Store conversations as JSON strings, without loss of which fields of a message were set.

Only the fields that were set are written, so that `model_dump(exclude_unset=True)` of a cached
message returns the same as that of the original. Fields that identify the class are always written.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import msgspec
from pydantic import TypeAdapter

from registry.base.digest import from_json, to_json
from registry.samples.messages import ChatMessage

__all__ = [
    "conversation_data",
    "conversation_from_json",
    "conversation_to_json",
    "plain_conversation_json",
]

_DISCRIMINATORS = frozenset({"role", "type"})
"""Fields that identify the class of a message or a content part."""
_NESTED = frozenset({"content", "citations", "tool_calls", "view"})
"""Fields whose values are models."""
_ID_LENGTH = 22
"""Characters of an id that is derived from the content."""
_UNSET = "unset"
"""Key for the name of a discriminator that was not set; no model has a field of this name."""

# Role → what follows the content in the JSON that its message's id is derived from, and in its own.
_PLAIN_ROLES = {
    "system": (b",{}]", b',"source":"input","role":"system","unset":"role"}'),
    "user": (b",{}]", b',"source":"input","role":"user","unset":"role"}'),
    "assistant": (
        b',{"tool_calls":null}]',
        b',"source":"input","role":"assistant","tool_calls":null,"unset":"role"}',
    ),
}
_encode = msgspec.json.Encoder().encode


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


def conversation_data(text: str) -> list[dict[str, Any]]:
    """Return the fields of a stored conversation's messages, without any model."""
    # Without a tag there is nothing to restore, which takes most of the time.
    tagged = '"$' in text
    data: list[dict[str, Any]] = from_json(text) if tagged else msgspec.json.decode(text)
    _drop_marks(data)
    return data


def plain_conversation_json(messages: Sequence[Any]) -> bytes | None:
    """Return the JSON of a conversation from the dicts of its messages, without any model.

    It is that of the messages that `mapping.coerce.to_input` creates; None if models must be
    created: for anything but texts and images of systems, users and assistants.
    """
    parts = []
    for index, message in enumerate(messages):
        if type(message) is not dict:
            return None
        role = message.get("role")
        if type(role) is not str or role not in _PLAIN_ROLES:
            return None
        content = _content_json(message.get("content"))
        if content is None or (role == "assistant" and message.get("tool_calls") is not None):
            return None
        canonical, text = content
        after, rest = _PLAIN_ROLES[role]
        identity = f'[{index},"{role}",'.encode() + canonical + after
        identifier = sha256(identity).hexdigest()[:_ID_LENGTH].encode()
        parts.append(b'{"id":"' + identifier + b'","content":' + text + rest)
    return b"[" + b",".join(parts) + b"]" if parts else None


def _content_json(content: Any) -> tuple[bytes, bytes] | None:
    """Return the content of a message as canonical JSON, and as its model writes it."""
    try:
        if type(content) is str:
            text = _encode(content)
            return text, text
        if type(content) is not list:
            return None
        canonical, parts = [], []
        for part in content:
            kind = part.get("type") if type(part) is dict and len(part) == 2 else None
            if kind == "text" and type(part.get("text")) is str:
                text = _encode(part["text"])
                canonical.append(b'{"text":' + text + b',"type":"text"}')
                parts.append(b'{"type":"text","text":' + text + b"}")
            elif kind == "image" and type(part.get("image")) is str:
                text = _encode(part["image"])
                canonical.append(b'{"image":' + text + b',"type":"image"}')
                parts.append(b'{"type":"image","image":' + text + b"}")
            else:
                return None
    except UnicodeEncodeError:  # half of a surrogate pair: the models say so
        return None
    # The keys of canonical JSON are sorted; those of a part have the order of its model.
    return b"[" + b",".join(canonical) + b"]", b"[" + b",".join(parts) + b"]"


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


def _drop_marks(data: Any) -> None:
    """Remove the names of discriminators that were not set, in place."""
    if isinstance(data, list | tuple):
        for inner in data:
            _drop_marks(inner)
    elif isinstance(data, dict):
        data.pop(_UNSET, None)
        for name in _NESTED & data.keys():
            _drop_marks(data[name])
