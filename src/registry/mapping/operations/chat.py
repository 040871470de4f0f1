"""Operations that create chat messages and data URIs."""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING, Any

from registry.errors import MappingError, ReachError
from registry.mapping.conditions import is_empty
from registry.mapping.operations.base import (
    Operation,
    OperationExample,
    Step,
    expect_type,
    options,
)
from registry.mapping.operations.conversation import (
    CONTENT_KEYS,
    ROLE_KEYS,
    ROLE_NAMES,
    ROLES,
    Conversation,
)

if TYPE_CHECKING:
    from registry.boundary.boundary import Boundary

__all__ = ["OPERATIONS", "media_type_of"]

# First bytes of a file → media type.
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"BM", "image/bmp"),
    (b"%PDF-", "application/pdf"),
    (b"ID3", "audio/mpeg"),
)
# A RIFF container starts with "RIFF" and a length; bytes 8 to 12 name its content.
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}


def _messages(argument: Any, _: Any) -> Step:
    chosen = options(argument, role=None, content=None, roles={}, system=None)
    if not isinstance(chosen["roles"], dict) or any(
        role not in ROLES for role in chosen["roles"].values()
    ):
        raise ValueError(f"`roles` is a mapping from a role's name to {', '.join(ROLES)}")
    role_keys = (chosen["role"],) if chosen["role"] else ROLE_KEYS
    content_keys = (chosen["content"],) if chosen["content"] else CONTENT_KEYS
    roles = {**ROLE_NAMES, **chosen["roles"]}

    def messages(value: Any, system: Any = None) -> list[dict[str, Any]]:
        first = [] if is_empty(system) else [{"role": "system", "content": system}]
        if isinstance(value, str):
            return [*Conversation().read(first), {"role": "user", "content": value}]
        items = expect_type(value, list, "a string or a list of messages")
        return [
            *Conversation().read(first),
            *Conversation(role_keys, content_keys, roles).read(items),
        ]

    return Step(messages)


def _data_uri(argument: Any, _: Any) -> Step:
    if argument is not None and not isinstance(argument, str):
        raise ValueError("takes a media type such as image/png, a string")

    def uri(value: Any, boundary: Boundary) -> str:
        if isinstance(value, str) and value.startswith("data:"):
            return value
        data = _bytes_of(value, boundary)
        media_type = argument or media_type_of(data)
        return f"data:{media_type};base64,{base64.b64encode(data).decode()}"

    return Step(uri, is_heavy=True)


def media_type_of(data: bytes) -> str:
    """Return the media type that the first bytes of a file show."""
    magic = (name for start, name in _MAGIC if data.startswith(start))
    riff = _RIFF.get(data[8:12]) if data[:4] == b"RIFF" else None
    return riff or next(magic, "application/octet-stream")


def _bytes_of(value: Any, boundary: Boundary) -> bytes:
    """Return the bytes of an image: the value itself, or in a file at an absolute path."""
    data, path = value, value
    if isinstance(value, dict):  # `{bytes, path}`, the form of images in `datasets`
        data, path = value.get("bytes"), value.get("path")
    if isinstance(data, bytes):
        return data
    # A relative path would depend on the working directory.
    if not isinstance(path, str) or not os.path.isabs(path):
        message = "needs the bytes of an image, {bytes, path}, or an absolute path"
        raise MappingError(message, value=value)
    try:
        with boundary.open_file(path) as file:
            if os.fstat(file.fileno()).st_size > boundary.limits.sample_bytes:
                raise ValueError(boundary.limits.message("sample_bytes", "it has", "bytes"))
            return file.read()
    except ReachError as error:
        raise MappingError(str(error)) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise MappingError(f"can't read the file: {reason}", value=value) from error


OPERATIONS = (
    Operation(
        "messages",
        "Chat messages from a string, or from a list in the form of OpenAI, Anthropic, ShareGPT or "
        "Inspect, with tool calls and results; `role`, `content` and `roles` name other keys and "
        "roles, and `system` is an expression for a first message of the system.",
        _messages,
        OperationExample(
            "messages",
            [{"from": "human", "value": "Hello"}],
            [{"role": "user", "content": "Hello"}],
        ),
        expressions=lambda argument: (
            [argument["system"]]
            if isinstance(argument, dict) and argument.get("system") is not None
            else []
        ),
    ),
    Operation(
        "data_uri",
        "A data URI of the bytes of an image, sound or file; its media type is detected.",
        _data_uri,
        OperationExample("data_uri", b"GIF89a", "data:image/gif;base64,R0lGODlh"),
        reads_files=True,
    ),
)
