"""Infer pictures beside the text of a question, which become parts of its message."""

from __future__ import annotations

import re
from typing import Any

from registry.mapping.operations.chat import media_type_of
from registry.scaffold.columns import Columns, Inference

__all__ = ["with_pictures"]

_PATHS = {
    "image": re.compile(r"\S.*\.(?:png|jpe?g|gif|webp|bmp)", re.IGNORECASE),
    "audio": re.compile(r"\S.*\.(?:wav|mp3)", re.IGNORECASE),
}
"""Kind → names of files, which are beside the data, and URLs."""


def with_pictures(question: Inference, columns: Columns) -> Inference:
    """Return the input with the columns of pictures or sounds, if there are any.

    They have the bytes of these, or the paths of files beside the data.
    """
    parts = []
    for column in columns.free():
        values = columns.filled(column)
        lists = bool(values) and all(isinstance(value, list) for value in values)
        items = [item for value in values for item in value] if lists else values
        kinds = {_kind(item) for item in items}
        kind = kinds.pop() if len(kinds) == 1 else ""
        if kind not in _PATHS or (isinstance(items[0], str) and lists):
            continue
        columns.use(column)
        operations = [{"each": ["data_uri"]}] if lists else ["data_uri"]
        is_path = isinstance(items[0], str)
        value: Any = column if is_path else {"from": column, "do": operations}
        if len(values) < len(columns.records):
            is_there = {"value": column, "empty": False}
            value = {"if": is_there, "then": value, "else": {"const": None}}
        parts.append({kind: value})
    if not parts:
        return question
    message = {"role": "user", "content": [*parts, {"text": question.expression}]}
    names = dict.fromkeys("pictures" if "image" in one else "sounds" for one in parts)
    return Inference({"messages": [message]}, f"{' and '.join(names)} before the text")


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return next((kind for kind, path in _PATHS.items() if path.fullmatch(value)), "")
    data = value.get("bytes") if isinstance(value, dict) else value
    return media_type_of(data).partition("/")[0] if isinstance(data, bytes) else ""
