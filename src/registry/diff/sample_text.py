"""Fields of samples, as stored, as bytes to compare and as text to read."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from registry.base.digest import canonical_json, encode_value
from registry.samples.digest import messages_data
from registry.samples.fields import field_data
from registry.samples.letters import letter_of
from registry.samples.messages import ChatMessage
from registry.samples.sample import Sample

__all__ = ["field_bytes", "field_text", "target_items"]

# What JSON of another type, or a quoted str, begins with.
_AMBIGUOUS = re.compile(
    r'["\[{]|(?:null|true|false|NaN|-?Infinity|[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*$'
)


def field_bytes(sample: Sample, field: str) -> bytes:
    """Return bytes that are equal for two samples exactly if the field is; empty for None."""
    value = getattr(sample, field)
    if value is None:
        return b""
    if isinstance(value, str):
        # A prefix that no JSON begins with, so that the str "[1]" differs from the list.
        return b"=" + value.encode("utf-8", "surrogatepass")
    if field == "input":
        return canonical_json(messages_data(value))
    return canonical_json(field_data(field, value))


def field_text(sample: Sample, field: str) -> str:
    """Return a field for people to read."""
    value = getattr(sample, field)
    match field:
        case _ if value is None or isinstance(value, str):
            return value or ""
        case "input":
            return "\n".join(map(_message_text, value))
        case "choices":
            return "\n".join(f"{letter_of(n)}) {choice}" for n, choice in enumerate(value))
        case "target":
            return "\n".join(target_items(value))
    data = field_data(field, value)
    if isinstance(data, dict):
        return "\n".join(
            f"{_plain(key)}: {_value_text(item)}" for key, item in sorted(data.items())
        )
    return _sorted_json(data)


def target_items(targets: Sequence[str]) -> list[str]:
    """Return the targets of a sample with several, each as a line of its own."""
    return [_plain(one) for one in targets]


def _plain(text: str) -> str:
    """Return a text that is one line and looks like no other value, or its JSON."""
    is_plain = text.strip() == text != "" and _AMBIGUOUS.match(text) is None and "\n" not in text
    return text if is_plain else _sorted_json(text)


def _value_text(value: Any) -> str:
    """Return a value as text that no other value has: lines below the first are indented."""
    if not isinstance(value, str) or not value.strip() or _AMBIGUOUS.match(value):
        return _sorted_json(value)
    return value.replace("\n", "\n  ")


def _message_text(message: ChatMessage) -> str:
    data = message.model_dump(exclude={"id", "role", "source"}, exclude_none=True)
    if not isinstance(message.content, str):
        return f"{message.role}: {_sorted_json(data)}"
    del data["content"]
    return f"{message.role}: {message.content}{f' {_sorted_json(data)}' if data else ''}"


def _sorted_json(value: Any) -> str:
    # Sorted, as the order of keys does not matter; not escaped to ASCII, as people read it.
    return json.dumps(encode_value(value), ensure_ascii=False, sort_keys=True)
