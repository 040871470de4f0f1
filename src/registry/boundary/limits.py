"""How much work one dataset may cause."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from registry.base.conversion import convert

__all__ = ["MAX_TEXT", "UNLIMITED", "Limits"]

MAX_TEXT = 1 << 28
"""Characters of a string that an expression makes, such as a template that repeats a column."""

_UNITS = {"kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The budget of one dataset; `limits` of the root index raises it."""

    unpacked_bytes: int = 1 << 36
    """Bytes a file has, or unpacks to; for a glob in an archive, all its members together."""
    # Packed text is up to some 30 times as small. What is 200 times as small is there to do harm.
    ratio: int = 200
    """How many times as large as its packed bytes a file may be, if it is larger than 1 GiB."""
    line_bytes: int = 1 << 26
    """Bytes of a line, and of a CSV row."""
    document_bytes: int = 1 << 29
    """Bytes of a JSON file that is not JSON Lines, which is read as a whole."""
    sample_bytes: int = 1 << 28
    """Bytes of a sample."""
    records: int = 100_000_000
    """Records that are read, and samples that are made of them."""
    seconds: int = 7200
    """Time to decode and map the records, and for each transfer of a file."""
    files: int = 100_000
    """Files and folders that a glob may have to look at."""
    extends: int = 32
    """Ancestors of a dataset."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Limits:
        """Return the limits that `limits` of an index gives; sizes may have a unit, `100MB`."""
        return convert({key: _number(value) for key, value in given.items()}, cls)

    def message(self, key: str, what: str, unit: str) -> str:
        """Return the message for an exceeded limit.

        Args:
            key: Its name.
            what: What exceeds it, with a verb: `a line has`.
            unit: What it counts.
        """
        limit: int = getattr(self, key)
        raised = f"`limits: {{{key}: …}}` in the root index raises the limit"
        return f"{what} more than {limit:,} {unit} ({raised})"


def _number(value: int | str) -> int:
    """Return a number, or the bytes of a size with a unit."""
    if isinstance(value, int):
        return value
    digits = value.rstrip("KMGiBk")
    return int(digits) * _UNITS[value.removeprefix(digits)]


UNLIMITED = Limits(**dict.fromkeys(Limits.__struct_fields__, sys.maxsize))
"""The limits of files that the user names in a call."""
