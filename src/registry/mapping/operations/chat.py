"""Operations that make messages, and media for them."""

from __future__ import annotations

import base64
import os
from typing import Any

from registry.errors import MappingError
from registry.mapping.operations.base import Apply, Example, Operation, expect_type, options

__all__ = ["OPERATIONS"]

_ROLES = ("system", "user", "assistant", "tool")
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"BM", "image/bmp"),
    (b"%PDF-", "application/pdf"),
    (b"ID3", "audio/mpeg"),
)
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}
_UNKNOWN = "application/octet-stream"


def _messages(argument: Any, _: Any) -> Apply:
    chosen = options(argument, role="role", content="content", roles={})
    names: dict[str, str] = {**{role: role for role in _ROLES}, **chosen["roles"]}
    if not set(names.values()) <= set(_ROLES):
        raise ValueError(f"`roles` maps to {', '.join(_ROLES)}")

    def apply(value: Any, row: Any) -> list[dict[str, Any]]:
        if isinstance(value, str):
            return [{"role": "user", "content": value}]
        return [message(item) for item in expect_type(value, list, "text or a list of messages")]

    def message(item: Any) -> dict[str, Any]:
        expect_type(item, dict, "a list of messages")
        role, content = item.get(chosen["role"]), item.get(chosen["content"])
        if not isinstance(role, str) or role not in names:
            raise MappingError(f"the role is none of {', '.join(names)}", value=role)
        kept = {key: item[key] for key in item if key not in (chosen["role"], chosen["content"])}
        return {**kept, "role": names[role], "content": content}

    return apply


def _data_uri(argument: Any, _: Any) -> Apply:
    if argument is not None and not isinstance(argument, str):
        raise ValueError("takes a media type such as image/png as text")

    def apply(value: Any, row: Any) -> str:
        if isinstance(value, str) and value.startswith("data:"):
            return value
        data = _bytes_of(value)
        media_type = argument or _media_type(data)
        return f"data:{media_type};base64,{base64.b64encode(data).decode()}"

    return apply


def _bytes_of(value: Any) -> bytes:
    """Return bytes, those of `{bytes, path}` as `datasets` has images, or those of a local file.

    A path must be absolute: a relative one would depend on where the program runs.
    """
    data, path = value, value
    if isinstance(value, dict):
        data, path = value.get("bytes"), value.get("path")
    if isinstance(data, bytes):
        return data
    if not isinstance(path, str) or not os.path.isabs(path):
        message = "needs the bytes of an image, {bytes, path}, or an absolute path"
        raise MappingError(message, value=value)
    try:
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise MappingError(f"can't read the file: {error}", value=value) from error


def _media_type(data: bytes) -> str:
    if data[:4] == b"RIFF":
        return _RIFF.get(data[8:12], _UNKNOWN)
    return next((name for magic, name in _MAGIC if data.startswith(magic)), _UNKNOWN)


OPERATIONS = (
    Operation(
        "messages",
        "Messages of text, or of a list of maps whose keys and roles have other names.",
        _messages,
        Example(
            {"messages": {"role": "from", "content": "value", "roles": {"human": "user"}}},
            [{"from": "human", "value": "Hello"}],
            [{"role": "user", "content": "Hello"}],
        ),
    ),
    Operation(
        "data_uri",
        "The bytes of an image or sound, or of a file, as a data URI of the type that they show.",
        _data_uri,
        Example("data_uri", b"GIF89a", "data:image/gif;base64,R0lGODlh"),
    ),
)
