"""Values as JSON without loss, and the digests of them.

JSON keeps text, numbers, booleans, null, lists and objects. What Python (or Parquet) has beyond
that is written as an object with one key that starts with `$`, so that it comes back as it was.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["canonical_json", "decode_value", "digest_of", "encode_value", "from_json", "to_json"]

_PLAIN = (str, int, bool, type(None))

# Subclasses before their bases: a datetime is a date too.
_TAGGED: tuple[tuple[type, str, Callable[[Any], Any], Callable[[Any], Any]], ...] = (
    (float, "$float", float.__repr__, float),
    (datetime, "$datetime", datetime.isoformat, datetime.fromisoformat),
    (date, "$date", date.isoformat, date.fromisoformat),
    (time, "$time", time.isoformat, time.fromisoformat),
    (
        timedelta,
        "$timedelta",
        lambda value: [value.days, value.seconds, value.microseconds],
        lambda parts: timedelta(*parts),
    ),
    (Decimal, "$decimal", str, Decimal),
    (bytes, "$bytes", lambda value: base64.b64encode(value).decode(), base64.b64decode),
)
_DECODERS = {tag: decode for _, tag, _, decode in _TAGGED}


def encode_value(value: Any) -> Any:
    """Return `value` as plain JSON data; a TypeError says why it has no form."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, list):
        return [encode_value(item) for item in value]
    if isinstance(value, tuple):
        return {"$tuple": [encode_value(item) for item in value]}
    if isinstance(value, dict):
        return _encode_dict(value)
    for kind, tag, encode, _ in _TAGGED:
        if isinstance(value, kind):
            # What pyarrow gives for times in nanoseconds, of types that Python's lie beneath.
            if getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0):
                raise TypeError("a time finer than microseconds can't be kept")
            return {tag: encode(value)}
    if isinstance(value, str):  # a subclass, such as an enum's member
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    raise TypeError(f"a value of type {type(value).__name__} can't be kept")


def _encode_dict(value: dict[Any, Any]) -> dict[str, Any]:
    if all(isinstance(key, str) and not key.startswith("$") for key in value):
        return {key: encode_value(item) for key, item in value.items()}
    return {"$dict": [[encode_value(key), encode_value(item)] for key, item in value.items()]}


def decode_value(data: Any) -> Any:
    """Return what `encode_value` was given."""
    if isinstance(data, list):
        return [decode_value(item) for item in data]
    if not isinstance(data, dict):
        return data
    if len(data) == 1:
        ((tag, inner),) = data.items()
        if tag == "$tuple":
            return tuple(decode_value(inner))
        if tag == "$dict":
            return {decode_value(key): decode_value(item) for key, item in inner}
        if tag in _DECODERS:
            return _DECODERS[tag](inner)
    return {key: decode_value(item) for key, item in data.items()}


# `json.dumps` makes an encoder at each call.
_IN_ORDER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_SORTED = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def to_json(value: Any) -> str:
    """Return `value` as JSON text that `from_json` turns back, keys in their order."""
    return _IN_ORDER.encode(encode_value(value))


def from_json(text: str) -> Any:
    """Return the value that `to_json` was given."""
    return decode_value(json.loads(text))


def canonical_json(value: Any) -> bytes:
    """Return `value` as canonical JSON: keys sorted, no blanks, UTF-8."""
    return _SORTED.encode(encode_value(value)).encode("utf-8", "surrogatepass")


def digest_of(value: Any) -> str:
    """Return `sha256:…` of the canonical JSON of `value`."""
    return "sha256:" + hashlib.sha256(canonical_json(value)).hexdigest()
