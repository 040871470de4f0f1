"""Coerce the values of a record to the fields of a sample.

Every function follows Inspect AI's loaders; `docs/explanation/design.md` lists where ours differ.
Those with an argument `loads` parse JSON: manifests, unlike the loaders, give `parse_exact`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from registry.base.digest import digest_of
from registry.decode.exact_json import InexactError, parse_exact
from registry.errors import MappingError
from registry.samples.messages import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
)
from registry.samples.sample import SandboxEnvironmentSpec

if TYPE_CHECKING:
    from registry.samples.checkpoint import CheckpointSampleConfig

__all__ = [
    "COERCIONS",
    "EXACT_COERCIONS",
    "is_missing",
    "message_identity",
    "to_checkpoint",
    "to_choices",
    "to_description",
    "to_files",
    "to_id",
    "to_input",
    "to_message",
    "to_metadata",
    "to_sandbox",
    "to_setup",
    "to_target",
]

_Loads = Callable[[str], Any]

# An id is stored as int64.
_LARGEST_ID = 2.0**63

# Role → class, and the keys that it accepts besides the content.
_MESSAGES: dict[str, tuple[Callable[..., ChatMessage], tuple[str, ...]]] = {
    "system": (ChatMessageSystem, ()),
    "user": (ChatMessageUser, ()),
    "assistant": (ChatMessageAssistant, ("tool_calls",)),
    "tool": (ChatMessageTool, ("tool_call_id", "function", "error")),
}


def is_missing(value: Any) -> bool:
    """Return whether a value is null or NaN."""
    # pandas and `datasets` write a missing cell as NaN.
    return value is None or (isinstance(value, float) and math.isnan(value))


def to_input(value: Any) -> str | list[ChatMessage]:
    """Return the prompt: a str unchanged, a list of `{role, content}` dicts as messages."""
    # This message, and the one for a missing content, are Inspect's: its users may match them.
    if is_missing(value) or not value:
        raise MappingError("No input in dataset", field="input", value=value)
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        message = "must be a string or a list of {role, content} messages"
        raise MappingError(message, field="input", value=value)
    return [to_message(item, index) for index, item in enumerate(value)]


def to_message(value: Any, index: int) -> ChatMessage:
    """Return the message at a place of a conversation, whose id depends on place and content."""
    field = f"input[{index}]"
    if not isinstance(value, dict):
        raise MappingError("a message must be a dict", field=field, value=value)
    content = value.get("content")
    if content is None:
        message = "content not specified for chat input"
        if "tool_calls" in value or "function_call" in value:
            message += " (add `do: [messages]`, which reads tool calls beside no content)"
        raise MappingError(message, field=field, value=value)
    role = value.get("role")
    if not isinstance(role, str) or role not in _MESSAGES:
        message = f"role must be one of {', '.join(_MESSAGES)}"
        raise MappingError(message, field=field, value=role)
    make, _ = _MESSAGES[role]
    identity = message_identity(index, value)
    extra = identity[-1]
    try:
        # Derived from the content, where Inspect draws random ids: a cached sample must be the
        # same on every machine. 22 characters, as Inspect's ids have.
        identifier = digest_of(identity).removeprefix("sha256:")[:22]
        return make(id=identifier, content=content, source="input", **extra)
    except ValidationError as error:
        # The first is enough: a part of no known type is wrong for each type there is.
        first = error.errors(include_url=False)[0]
        where = ".".join(str(key) for key in first["loc"])
        message = (
            f"not a message: {where}: {first['msg']} (`do: [messages]` reads the forms of OpenAI,"
            " Anthropic and ShareGPT)"
        )
        raise MappingError(message, field=field, value=value) from error
    except (TypeError, ValueError) as error:  # TypeError: a value without a JSON form
        raise MappingError(f"not a message: {error}", field=field, value=value) from error


def message_identity(index: int, item: dict[str, Any]) -> list[Any]:
    """Return what the id of a message is derived from, given its place in the conversation."""
    _, names = _MESSAGES[item["role"]]
    return [index, item["role"], item["content"], {name: item.get(name) for name in names}]


def to_target(value: Any) -> str | list[str]:
    """Return the answer: "" if it is missing, a list as a list of str, any other value as a str."""
    if is_missing(value):
        return ""
    return [str(item) for item in value] if isinstance(value, list) else str(value)


def to_choices(value: Any) -> list[str] | None:
    """Return the choices: the items of a list, or a str split at commas, else at whitespace."""
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
    """Return the identifier: an int or a str unchanged, a float such as 1.0 as an int."""
    if isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, int | str):
        return value
    # pandas writes a column of integers and nulls as floats, so many Parquet files have them.
    if isinstance(value, float) and value.is_integer() and abs(value) < _LARGEST_ID:
        return int(value)
    raise MappingError("an id must be an integer or a string", field="id", value=value)


def to_metadata(value: Any, loads: _Loads = json.loads) -> dict[str, Any] | None:
    """Return the metadata: a dict, or a str parsed as a JSON object."""
    if is_missing(value):
        return None
    data = _from_json(value, "metadata", loads) if isinstance(value, str) else value
    if data is None or isinstance(data, dict):
        return data
    raise MappingError("must be a dict, or a JSON string of one", field="metadata", value=value)


def to_sandbox(value: Any, loads: _Loads = json.loads) -> SandboxEnvironmentSpec | None:
    """Return the sandbox: a type, or a list (or JSON) of a type and its configuration file."""
    if is_missing(value):
        return None
    if isinstance(value, str) and not value.strip().startswith("["):
        return SandboxEnvironmentSpec(value)
    data = _from_json(value, "sandbox", loads) if isinstance(value, str) else value
    if isinstance(data, list) and len(data) == 2:
        return SandboxEnvironmentSpec(str(data[0]), str(data[1]))
    message = "must be a string, or a list of two: type and configuration file"
    raise MappingError(message, field="sandbox", value=value)


def to_files(value: Any, loads: _Loads = json.loads) -> dict[str, str] | None:
    """Return the files: a dict of str, or a str parsed as a JSON object."""
    if is_missing(value):
        return None
    data = _from_json(value, "files", loads) if isinstance(value, str) else value
    if isinstance(data, dict) and all(isinstance(item, str) for item in data.values()):
        return data
    message = "must be a dict of strings, or a JSON string of one"
    raise MappingError(message, field="files", value=value)


def to_setup(value: Any) -> str | None:
    """Return the setup script."""
    return None if is_missing(value) else str(value)


def to_description(value: Any) -> str | None:
    """Return the description; an empty str, as in a CSV cell, is none."""
    if is_missing(value):
        return None
    if isinstance(value, str):
        return value or None
    # Inspect's message: its users may match it.
    message = f"Sample 'description' field must be a string (got {type(value).__name__})"
    raise MappingError(message, field="description", value=value)


def to_checkpoint(value: Any, loads: _Loads = json.loads) -> CheckpointSampleConfig | None:
    """Return the checkpoint settings: a dict, or a str parsed as JSON, without a trigger."""
    if is_missing(value) or (isinstance(value, str) and not value.strip()):
        return None
    from registry.samples.checkpoint import CheckpointTrigger, validate_checkpoint

    try:
        data = loads(value) if isinstance(value, str) else value
        trigger = data.get("trigger") if isinstance(data, dict) else None
        if trigger is None or isinstance(trigger, CheckpointTrigger):
            return validate_checkpoint(data)
    except (ValueError, RecursionError) as error:
        message = "Could not parse 'checkpoint' field as a sample checkpoint configuration"
        raise MappingError(f"{message}: {error}", field="checkpoint", value=value) from error
    raise MappingError(
        "A dataset record cannot set the checkpoint 'trigger': intervals of turns, tokens and cost"
        ' are all {"every": N} (leave it out, and set the trigger of the task)',
        field="checkpoint",
        value=trigger,
    )


def _from_json(text: str, field: str, loads: _Loads) -> Any:
    try:
        return loads(text)
    except (ValueError, RecursionError) as error:
        what = "can't be read exactly" if isinstance(error, InexactError) else "not JSON"
        raise MappingError(f"{what}: {error}", field=field, value=text) from error


COERCIONS: dict[str, Callable[[Any], Any]] = {
    "input": to_input,
    "target": to_target,
    "choices": to_choices,
    "id": to_id,
    "sandbox": to_sandbox,
    "files": to_files,
    "setup": to_setup,
    "checkpoint": to_checkpoint,
    "description": to_description,
}
"""Field of a sample → the function that coerces a value to it; metadata takes any keys."""

_FROM_JSON = {"sandbox": to_sandbox, "files": to_files, "checkpoint": to_checkpoint}
EXACT_COERCIONS: dict[str, Callable[[Any], Any]] = {
    **COERCIONS,
    **{name: partial(to_field, loads=parse_exact) for name, to_field in _FROM_JSON.items()},
}
"""The same for manifests: JSON in a text is read as that of a source is, exactly or not at all."""
