"""Metadata as a struct: the keys of all samples, each with the common type of its values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import NoneType
from typing import Any

import pyarrow as pa

from registry.base.digest import to_json
from registry.samples.frames.layout import METADATA_TYPES, MetadataKind

__all__ = ["metadata_kinds", "metadata_struct"]

_KINDS: dict[type, MetadataKind] = {str: "str", int: "int", float: "float", bool: "bool"}
_INT64 = 1 << 63


def metadata_kinds(items: Iterable[Mapping[str, Any] | None]) -> dict[str, MetadataKind]:
    """Return the keys of metadata in the order of their first use, with the types of their values.

    Values of several types, and of any but str, int, float, bool and lists of str, are `json`.
    """
    found: dict[str, set[MetadataKind]] = {}
    for item in items:
        for key, value in (item or {}).items():
            kinds = found.setdefault(key, set())
            if value is not None:
                kinds.add(_kind_of(value))
    return {key: _common(kinds) for key, kinds in found.items()}


def _kind_of(value: Any) -> MetadataKind:
    kind = type(value)
    if kind is list:
        return "str_list" if set(map(type, value)) <= {str, NoneType} else "json"
    if kind is int and not -_INT64 <= value < _INT64:
        return "json"
    return _KINDS.get(kind, "json")


def _common(kinds: set[MetadataKind]) -> MetadataKind:
    """Return the kind of a column: that of all its values."""
    return kinds.pop() if len(kinds) == 1 else "json"


def metadata_struct(
    items: Sequence[Mapping[str, Any] | None], kinds: Mapping[str, MetadataKind]
) -> pa.Array:
    """Return metadata as a struct column; a key that a sample lacks is null."""
    if not kinds:  # without a child, only the values say how many rows there are
        return pa.array([None if item is None else {} for item in items], pa.struct([]))
    children = [
        _child([(item or {}).get(key) for item in items], kind) for key, kind in kinds.items()
    ]
    fields = [pa.field(key, METADATA_TYPES[kind]) for key, kind in kinds.items()]
    mask = pa.array([item is None for item in items], pa.bool_())
    return pa.StructArray.from_arrays(children, fields=fields, mask=mask)


def _child(values: Sequence[Any], kind: MetadataKind) -> pa.Array:
    if kind == "json":
        values = [None if value is None else to_json(value) for value in values]
    return pa.array(values, METADATA_TYPES[kind])
