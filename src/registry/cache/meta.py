"""What `meta.json` of an entry holds: its fingerprint, its files and what its kind adds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec
from msgspec import Struct
from xxhash import xxh3_64_intdigest

from registry.base.conversion import convert

if TYPE_CHECKING:
    from collections.abc import Mapping

    from _typeshed import ReadableBuffer

__all__ = [
    "CACHE_FOLDERS",
    "ENTRY_KINDS",
    "KINDS",
    "META",
    "EntryKind",
    "Kind",
    "check_meta",
    "checksum",
    "seal",
    "unseal",
]

EntryKind = Literal["samples", "views", "records", "exports"]
Kind = Literal[EntryKind, "blobs"]
ENTRY_KINDS: tuple[EntryKind, ...] = get_args(EntryKind)
KINDS: tuple[Kind, ...] = get_args(Kind)
CACHE_FOLDERS = (*KINDS, "sources", "index", "tmp", "locks", "quarantine")
"""Folders of the cache, see `cache.cache`."""
META = "meta.json"
_HEAD = b'{"checksum":"%016x",'
_HEAD_SIZE = len(_HEAD % 0)
# `json.dumps` with options creates an encoder on each call.
_SORTED = json.JSONEncoder(sort_keys=True)


# Needed at each open: creating a class of msgspec takes 0.01 ms, one of pydantic 1 ms.
class _File(Struct):
    size: int
    sha256: str


class _Entry(Struct):
    """Contents of `meta.json` that every entry has."""

    fingerprint: str
    files: dict[str, _File]


class _Count(Struct):
    """Samples of one kind, see `build.quality`."""

    count: int
    first: list[dict[str, Any]]


class _Samples(_Entry):
    name: str
    samples: int
    source: str
    batches: str
    columns: list[str]
    quality: dict[str, _Count]
    limit: int | None


class _View(_Entry):
    first_bad: int | None
    checksums: dict[str, str]
    """File name without suffix → checksums of the parts of its array, packed."""
    samples: str
    """Fingerprint of its samples."""


class _Records(_Entry):
    rows: int


class _Export(_Entry):
    name: str
    """Dataset that it was made for."""
    samples: str
    """Fingerprint of its samples."""


_META_TYPES: dict[EntryKind, type[_Entry]] = {
    "samples": _Samples,
    "views": _View,
    "records": _Records,
    "exports": _Export,
}


def check_meta(data: Any, kind: EntryKind, fingerprint: str) -> dict[str, int]:
    """Return the size of each file of an entry.

    Raises:
        ValueError: the data is that of another entry.
        ValidationError: it is not that of an entry of this kind.
    """
    found = convert(data, _META_TYPES[kind])
    if found.fingerprint != fingerprint:
        raise ValueError(f"it describes {found.fingerprint}")
    return {name: file.size for name, file in found.files.items()}


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
