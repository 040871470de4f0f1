"""Messages as rows of a struct: role and text, and the rest of a message as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from registry.base.digest import canonical_json

if TYPE_CHECKING:
    from registry.samples.messages import ChatMessage

__all__ = ["message_data", "message_row"]

_NESTED = ("content", "citations")
"""Fields whose values are lists of models with a field that identifies the class."""


def message_data(message: ChatMessage) -> dict[str, Any]:
    """Return the fields of a message that were set, and those that identify its class."""
    data = message.model_dump(exclude_unset=True)
    _add_types(message, data)
    return data


def _add_types(model: Any, data: dict[str, Any]) -> None:
    """Add the discriminators that were not set to the data of a model, in place."""
    for name in ("role", "type"):
        if hasattr(model, name):
            data[name] = getattr(model, name)
    for name in _NESTED:
        models = getattr(model, name, None)
        if isinstance(models, Sequence) and not isinstance(models, str):
            for inner, values in zip(models, data[name], strict=True):
                _add_types(inner, values)


def message_row(data: Mapping[str, Any]) -> dict[str, str | None]:
    """Return a message as a row of `layout.MESSAGE`, from the data of `message_data`."""
    rest = {key: value for key, value in data.items() if value is not None}
    role, content, identifier = rest.pop("role"), rest.pop("content"), rest.pop("id", None)
    if rest.get("source") == "input":  # as every message of a dataset
        del rest["source"]
    if not isinstance(content, str):
        rest = {"content": content, **rest}
        content = "\n".join(part["text"] for part in content if part["type"] == "text")
    # Keys in a fixed order: which fields were set first says nothing.
    text = canonical_json(rest).decode() if rest else None
    return {"role": role, "content": content, "id": identifier, "rest": text}
