"""Checksums of what the cache stores: of ranges of bytes, and of whole JSON files.

They find damage (a flipped bit, a cut or foreign file), not an attack: for that there are the
sha256 in `meta.json` and in `datasets.lock`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
from xxhash import xxh3_64_intdigest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from _typeshed import ReadableBuffer

__all__ = ["checksum", "seal", "unseal"]

_HEAD = b'{"checksum":"%016x",'
_HEAD_SIZE = len(_HEAD % 0)
# `json.dumps` with options creates an encoder on each call.
_SORTED = json.JSONEncoder(sort_keys=True)


def checksum(data: ReadableBuffer) -> int:
    """Return the xxh3 of bytes as an int of 64 bits; it is computed as fast as memory is read."""
    return xxh3_64_intdigest(data)


def seal(data: Mapping[str, Any]) -> bytes:
    """Return a dict, which must not be empty, as JSON whose first value is its checksum."""
    body = _SORTED.encode(data).encode()[1:]
    return _HEAD % checksum(body) + body


def unseal(text: bytes) -> dict[str, Any]:
    """Return the dict that `seal` wrote.

    Raises:
        ValueError: the text is not what `seal` wrote.
    """
    # Before it is parsed: foreign JSON may be nested so deeply that parsing fails otherwise.
    if text[:_HEAD_SIZE] != _HEAD % checksum(memoryview(text)[_HEAD_SIZE:]):
        raise ValueError("the checksum differs")
    data: dict[str, Any]
    try:
        data = msgspec.json.decode(text)
    except msgspec.DecodeError:  # NaN, or half of a surrogate pair
        data = json.loads(text)
    del data["checksum"]
    return data
