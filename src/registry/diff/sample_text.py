"""Fields of samples as bytes to compare, and as text to read; no folder of a machine in them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from registry.base.digest import canonical_json, encode_value
from registry.samples.letters import letter_of
from registry.samples.messages import ChatMessage
from registry.samples.sample import Sample

__all__ = ["FIELDS", "field_bytes", "field_text"]

FIELDS = ("input", "choices", "target", "metadata", "sandbox", "files", "setup")
"""What a sample says; its id only names it."""


def field_bytes(sample: Sample, field: str, folder: str) -> bytes:
    """Return what is the same for two samples whose field is; empty for None.

    Args:
        sample: The sample.
        field: One of its fields.
        folder: The catalog's, which is taken off the paths of files.
    """
    value = getattr(sample, field)
    if value is None:
        return b""
    if isinstance(value, str):
        data = b"=" + value.encode("utf-8", "surrogatepass")
    else:
        data = canonical_json(_plain(field, value))
    return data.replace(os.fsencode(folder) + b"/", b"") if folder else data


def field_text(sample: Sample, field: str, folder: str) -> str:
    """Return a field for people to read; the arguments are those of `field_bytes`."""
    value = getattr(sample, field)
    if value is None:
        return ""
    text = value if isinstance(value, str) else _TEXTS.get(field, _json_text)(value)
    return text.replace(folder + "/", "") if folder else text


def _plain(field: str, value: Any) -> Any:
    """Return a value as JSON data: messages without their ids, which say nothing."""
    if field == "input":
        return [message.model_dump(exclude={"id"}, exclude_none=True) for message in value]
    if field == "sandbox":
        return [value.type, value.config]
    return value


def _input_text(messages: list[ChatMessage]) -> str:
    return "\n".join(_message_text(message) for message in messages)


def _message_text(message: ChatMessage) -> str:
    said = message.model_dump(exclude={"id", "role", "source"}, exclude_none=True)
    if isinstance(message.content, str):
        del said["content"]
        more = f" {_json_text(said)}" if said else ""
        return f"{message.role}: {message.content}{more}"
    return f"{message.role}: {_json_text(said)}"


def _choices_text(choices: list[str]) -> str:
    return "\n".join(f"{letter_of(n)}) {choice}" for n, choice in enumerate(choices))


def _sandbox_text(value: Any) -> str:
    return _json_text([value.type, value.config])


def _json_text(value: Any) -> str:
    """Return a value with its keys sorted, so that their order makes no difference."""
    import json

    return json.dumps(encode_value(value), ensure_ascii=False, sort_keys=True)


_TEXTS: Mapping[str, Callable[[Any], str]] = {
    "input": _input_text,
    "choices": _choices_text,
    "sandbox": _sandbox_text,
}
