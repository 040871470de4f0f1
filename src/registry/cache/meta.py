"""What `meta.json` of an entry holds: its fingerprint, its files and what its kind adds."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from registry.base.conversion import convert

__all__ = ["META", "EntryKind", "check_meta"]

EntryKind = Literal["samples", "views", "records", "exports"]
META = "meta.json"


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
