"""The parts of a message's content, from the values of expressions."""

from __future__ import annotations

from typing import Any

from registry.errors import MappingError
from registry.manifest.expressions import PART_KINDS
from registry.mapping.conditions import is_empty

__all__ = ["content_parts"]

# Inspect's content types for audio and video require a format; manifests have no key for it.
_MEDIA_FORMATS = {"audio": "mp3", "video": "mp4"}


def content_parts(kind: str, value: Any) -> list[dict[str, Any]]:
    """Return parts as Inspect has them; none for a value that is empty.

    Args:
        kind: Such as `text`; "" if the value itself says which parts it is.
        value: A value, or a list of them, such as the images of a record.
    """
    found: list[dict[str, Any]] = []
    for item in value if isinstance(value, list) else [value]:
        found += _content_part(*_kind_and_value(item) if kind == "" else (kind, item))
    return found


def _kind_and_value(item: Any) -> tuple[str, Any]:
    """Return the kind and the value of a part that an expression returns."""
    if is_empty(item):
        return "", None
    if isinstance(item, dict) and all(key in PART_KINDS for key in item):
        # In Parquet, all dicts of a list have the same keys, most of them null.
        given = [(kind, value) for kind, value in item.items() if value is not None]
        if len(given) < 2:
            return given[0] if given else ("", None)
    message = "a message's content must be a string, or a list of parts such as {text: …}"
    raise MappingError(message, value=item)


def _content_part(kind: str, value: Any) -> list[dict[str, Any]]:
    """Return a part as Inspect has it, in a list that is empty if the value is."""
    if is_empty(value):
        return []
    if not isinstance(value, str):
        raise MappingError(f"a message's {kind} must be a string", value=value)
    media_format = {"format": _MEDIA_FORMATS[kind]} if kind in _MEDIA_FORMATS else {}
    return [{"type": kind, kind: value, **media_format}]
