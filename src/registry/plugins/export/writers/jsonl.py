"""`jsonl`: a JSON object per line, as Inspect AI's json_dataset reads it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, BinaryIO

from registry.plugins.export.writers.records import record_of

if TYPE_CHECKING:
    from registry.plugins.export.exported import Exported

__all__ = ["json_line", "write"]

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
