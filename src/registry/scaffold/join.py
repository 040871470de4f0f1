"""Infer which columns of two files have the same keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from registry.scaffold.guess import IDS

__all__ = ["infer_join", "joined_records"]

Records = Sequence[Mapping[str, Any]]


def infer_join(records: Records, table: Records) -> tuple[str, str] | None:
    """Return the column of the records and that of the table whose keys are equal, or None.

    Each row of the table has a key of its own, and each record a row.
    """
    found = []
    for key in _columns(table):
        rows = [_hashable(row.get(key)) for row in table]
        if None in rows or len(set(rows)) < len(rows):
            continue
        found += [
            (own, key)
            for own in _columns(records)
            if {_hashable(record.get(own)) for record in records} <= set(rows)
        ]
    # Equal names say more than names of ids, and both more than values that happen to be equal.
    return max(found, key=lambda one: (one[0] == one[1], *map(_is_id, one)), default=None)


def joined_records(records: Records, table: Records, on: str, key: str, into: str) -> Records:
    """Return the records with the columns of their rows, as dotted paths."""
    rows = {_hashable(row.get(key)): row for row in table}
    return [
        {
            **record,
            **{
                f"{into}.{name}": value
                for name, value in rows.get(_hashable(record.get(on)), {}).items()
                if name != key
            },
        }
        for record in records
    ]


def _columns(records: Records) -> list[str]:
    return list(dict.fromkeys(name for record in records[:1000] for name in record if name))


def _hashable(value: Any) -> Any:
    """Return a key that equals others of its type only; None for what is no key."""
    return (type(value), value) if isinstance(value, str | int) and value != "" else None


def _is_id(name: str) -> bool:
    return name.casefold() in IDS or name.casefold().endswith("id")
