"""`jsonl`: a JSON object per line, as Inspect AI's json_dataset reads it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, BinaryIO

from registry.api import SETTINGS, encode_value, field_data

if TYPE_CHECKING:
    from registry import ChatMessage, Sample
    from registry.plugins.export.exported import Exported

__all__ = ["json_line", "message_data", "record_of", "write"]

# Created once: `json.dumps` with options creates a new encoder on each call.
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_ENCODE_ASCII = json.JSONEncoder(separators=(",", ":")).encode


def write(exported: Exported, file: BinaryIO) -> None:
    """Write a line per sample."""
    file.writelines(json_line(record_of(sample)) for sample in exported.samples())


def json_line(record: Any) -> bytes:
    """Return JSON data as a line."""
    try:
        return f"{_ENCODE(record)}\n".encode()
    except UnicodeEncodeError:  # a lone surrogate has no UTF-8, but an escape
        return f"{_ENCODE_ASCII(record)}\n".encode()


def record_of(sample: Sample) -> dict[str, Any]:
    """Return a sample as JSON data.

    Every record has the first five keys, the other fields only where they are set. A value that
    JSON lacks, such as a date in the metadata, is an object with one key that starts with `$`.
    """
    text = sample.input
    record = {
        "input": text if isinstance(text, str) else [message_data(message) for message in text],
        "target": sample.target,
        "choices": sample.choices,
        "id": sample.id,
        "metadata": encode_value(sample.metadata),
    }
    rare = {name: _setting(name, getattr(sample, name)) for name in SETTINGS}
    return record | {key: value for key, value in rare.items() if value is not None}


def message_data(message: ChatMessage) -> dict[str, Any]:
    """Return a message as JSON data, without its id, which is random if the source has none."""
    data = message.model_dump(exclude={"id"}, exclude_none=True)
    # What every reader of a prompt sets.
    if data.get("source") == "input":
        del data["source"]
    encoded: dict[str, Any] = encode_value({"role": data.pop("role"), **data})
    return encoded


def _setting(name: str, value: Any) -> Any:
    if name == "sandbox" and value is not None and value.config is None:
        return value.type
    return encode_value(field_data(name, value))
