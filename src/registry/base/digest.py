"""Convert values to JSON without loss, and compute their digests.

JSON has strings, numbers, booleans, null, arrays and objects. Any other type of Python or Parquet
is written as an object with one key that starts with `$`, from which it is restored exactly.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Level = tuple[Sequence[Any], set[type], Sequence[list[Any]], Sequence[dict[Any, Any]]]
    """Values, their types, and those of them that are lists and dicts."""

__all__ = [
    "are_plain",
    "canonical_json",
    "decode_value",
    "digest_of",
    "encode_value",
    "from_json",
    "levels",
    "to_json",
]

_PLAIN = (str, int, bool, type(None))
_JSON = frozenset({*_PLAIN, float, list, dict})
_MOST_LEVELS = 256
"""Data may be nested in itself."""

# Subclasses before their bases: a datetime is also a date. Only NaN and infinities are tagged
# floats, as JSON lacks them.
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


def levels(values: Sequence[Any]) -> Iterator[Level]:
    """Yield values, then all that their lists and dicts have, and so on, while there is any."""
    # By levels, so that loops over the items of all values run in C.
    while values:
        kinds = set(map(type, values))
        lists, dicts = _of_type(list, values, kinds), _of_type(dict, values, kinds)
        yield values, kinds, lists, dicts
        values = [*chain.from_iterable(lists), *chain.from_iterable(map(dict.values, dicts))]


def _of_type(kind: type, values: Sequence[Any], kinds: set[type]) -> Sequence[Any]:
    if kinds == {kind}:
        return values
    return [value for value in values if type(value) is kind] if kind in kinds else ()


def are_plain(values: Sequence[Any]) -> bool:
    """Return whether `encode_value` would return values unchanged; a False may be wrong."""
    for depth, (items, kinds, _, dicts) in enumerate(levels(values)):
        if not kinds <= _JSON or depth == _MOST_LEVELS:
            return False
        if float in kinds and not all(map(math.isfinite, _of_type(float, items, kinds))):
            return False
        keys = set(chain.from_iterable(dicts))
        if not set(map(type, keys)) <= {str} or any(key.startswith("$") for key in keys):
            return False
    return True


def encode_value(value: Any) -> Any:
    """Return `value` as plain JSON data.

    Raises:
        TypeError: the value, or one inside it, has a type that can't be restored from JSON.
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, list):
        return [encode_value(item) for item in value]
    if isinstance(value, tuple):
        return {"$tuple": [encode_value(item) for item in value]}
    if isinstance(value, dict):
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {key: encode_value(item) for key, item in value.items()}
        return {"$dict": [[encode_value(key), encode_value(item)] for key, item in value.items()]}
    for tagged, tag, encode, _ in _TAGGED:
        if isinstance(value, tagged):
            # For nanoseconds, pyarrow returns pandas' subclasses of datetime and timedelta, whose
            # `isoformat` would be restored without them.
            if getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0):
                raise TypeError("a time finer than microseconds can't be stored")
            return {tag: encode(value)}
    # Subclasses, such as members of a StrEnum or IntEnum, are stored as their base type.
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    raise TypeError(f"a value of type {type(value).__name__} can't be stored")


def decode_value(data: Any) -> Any:
    """Return the value that `encode_value` encoded."""
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


# Created once: `json.dumps` with options creates a new encoder on each call.
_IN_ORDER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_SORTED = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def to_json(value: Any) -> str:
    """Return `value` as a JSON string for `from_json`; keys keep their order."""
    return _IN_ORDER.encode(encode_value(value))


def from_json(text: str) -> Any:
    """Return the value that `to_json` wrote."""
    return decode_value(json.loads(text))


def canonical_json(value: Any) -> bytes:
    """Return `value` as canonical JSON: keys sorted, no whitespace, UTF-8."""
    # A lone surrogate, which JSON allows in a string, has no UTF-8, but must have a digest too.
    return _SORTED.encode(encode_value(value)).encode("utf-8", "surrogatepass")


def digest_of(value: Any) -> str:
    """Return `sha256:…` of the canonical JSON of `value`."""
    return "sha256:" + hashlib.sha256(canonical_json(value)).hexdigest()
