"""Values of a record as the parts of a sample: what the loaders do with each column.

Every function follows Inspect AI's loaders; `docs/design.md` lists where ours differ.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from registry.base.digest import digest_of
from registry.errors import MappingError
from registry.samples.messages import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
)
from registry.samples.sample import SandboxEnvironmentSpec

__all__ = [
    "is_missing",
    "to_choices",
    "to_files",
    "to_id",
    "to_input",
    "to_metadata",
    "to_sandbox",
    "to_setup",
    "to_target",
]

_LARGEST_ID = 2.0**63

_MESSAGES: dict[str, tuple[Callable[..., ChatMessage], tuple[str, ...]]] = {
    "system": (ChatMessageSystem, ()),
    "user": (ChatMessageUser, ()),
    "assistant": (ChatMessageAssistant, ("tool_calls",)),
    "tool": (ChatMessageTool, ("tool_call_id", "function", "error")),
}


def is_missing(value: Any) -> bool:
    """Return whether a value is null or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def to_input(value: Any) -> str | list[ChatMessage]:
    """Return the prompt: text as it is, a list of `{role, content}` as messages."""
    if is_missing(value) or not value:
        raise MappingError("No input in dataset", field="input", value=value)
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        message = "must be text or a list of {role, content} messages"
        raise MappingError(message, field="input", value=value)
    return [_read_message(message, index) for index, message in enumerate(value)]


def _read_message(value: Any, index: int) -> ChatMessage:
    field = f"input[{index}]"
    if not isinstance(value, dict):
        raise MappingError("a message must be an object", field=field, value=value)
    content = value.get("content")
    if content is None:
        raise MappingError("content not specified for chat input", field=field, value=value)
    role = value.get("role")
    if not isinstance(role, str) or role not in _MESSAGES:
        message = f"role must be one of {', '.join(_MESSAGES)}"
        raise MappingError(message, field=field, value=role)
    make, names = _MESSAGES[role]
    extra = {name: value.get(name) for name in names}
    try:
        # The same conversation has the same ids on every machine; Inspect's are random.
        identifier = digest_of([index, role, content, extra]).removeprefix("sha256:")[:22]
        return make(id=identifier, content=content, source="input", **extra)
    except (TypeError, ValueError) as error:
        raise MappingError(f"not a message: {error}", field=field, value=value) from error


def to_target(value: Any) -> str | list[str]:
    """Return the answer: missing is "", a list stays one of texts, all else becomes text."""
    if is_missing(value):
        return ""
    return [str(item) for item in value] if isinstance(value, list) else str(value)


def to_choices(value: Any) -> list[str] | None:
    """Return the choices: a list of texts, or text split at commas, else at white space."""
    if is_missing(value):
        return None
    if isinstance(value, list):
        return [str(item) for item in value if str(item).strip()]
    if not isinstance(value, str):
        return [str(value)]
    parts = value.split(",")
    parts = parts if len(parts) > 1 else value.split()
    return [part.strip() for part in parts if part.strip()]


def to_id(value: Any) -> int | str | None:
    """Return the identifier: a number or text as it is, 1.0 as 1."""
    if value is None or (isinstance(value, int | str) and not isinstance(value, bool)):
        return value
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < _LARGEST_ID:
        return int(value)
    raise MappingError("an id must be a whole number or text", field="id", value=value)


def to_metadata(value: Any) -> dict[str, Any] | None:
    """Return a metadata column: an object, or JSON text of one."""
    if is_missing(value):
        return None
    data = _from_json(value, "metadata") if isinstance(value, str) else value
    if data is None or isinstance(data, dict):
        return data
    raise MappingError("must be an object, or JSON text of one", field="metadata", value=value)


def to_sandbox(value: Any) -> SandboxEnvironmentSpec | None:
    """Return the sandbox: a type, a pair of type and file, or JSON text of a pair."""
    if is_missing(value):
        return None
    if isinstance(value, str) and not value.strip().startswith("["):
        return SandboxEnvironmentSpec(value)
    data = _from_json(value, "sandbox") if isinstance(value, str) else value
    if isinstance(data, list) and len(data) == 2:
        return SandboxEnvironmentSpec(str(data[0]), str(data[1]))
    message = "must be text, or a list of two: type and configuration file"
    raise MappingError(message, field="sandbox", value=value)


def to_files(value: Any) -> dict[str, str] | None:
    """Return the files: an object of texts, or JSON text of one."""
    if is_missing(value):
        return None
    data = _from_json(value, "files") if isinstance(value, str) else value
    if isinstance(data, dict) and all(isinstance(item, str) for item in data.values()):
        return data
    message = "must be an object of texts, or JSON text of one"
    raise MappingError(message, field="files", value=value)


def to_setup(value: Any) -> str | None:
    """Return the setup script as text."""
    return None if is_missing(value) else str(value)


def _from_json(text: str, field: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MappingError(f"not JSON: {error}", field=field, value=text) from error
