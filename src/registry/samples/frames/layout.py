"""The columns of a dataset in Arrow: the same, with the same types, for every dataset.

A field of a sample that has two types has two columns, one of which is null in each row: a type
that depends on the data would break a query as soon as the data change. Offsets have 64 bits, as in
the cache, whose columns are used without a copy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import pyarrow as pa

from registry.samples.fields import FIELDS

__all__ = ["COLUMNS", "MESSAGE", "METADATA_TYPES", "MetadataForm", "MetadataKind", "frame_schema"]

MetadataForm = Literal["json", "struct"]
"""`json` for text that is the same type in every dataset, `struct` for a child per key."""

MetadataKind = Literal["str", "str_list", "int", "float", "bool", "json"]
"""Common type of the values of a key; `json` for any other values, as JSON text."""

_TEXT = pa.large_string()
_TEXTS = pa.large_list(_TEXT)

METADATA_TYPES: dict[MetadataKind, pa.DataType] = {
    "str": _TEXT,
    "str_list": _TEXTS,
    "int": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
    "json": _TEXT,
}
"""Type of the values of a key → type of its child in the struct."""

MESSAGE = pa.struct(
    [
        # The two that every tool for conversations knows come first.
        pa.field("role", _TEXT),
        pa.field("content", _TEXT),
        pa.field("id", _TEXT),
        pa.field("rest", _TEXT),
    ]
)
"""A message; `rest` has what the other members can't say, as JSON."""

_KINDS: dict[str, pa.DataType] = {"text": _TEXT, "json": _TEXT, "texts": _TEXTS}
# An id that is a number is its digits.
_TYPES = {
    name: pa.large_list(MESSAGE) if name == "messages" else _KINDS[kind]
    for field in FIELDS
    for name, kind in field.columns
    if kind in _KINDS
}
COLUMNS = tuple(_TYPES)
"""Names of the columns, in order."""


def frame_schema(metadata_kinds: Mapping[str, MetadataKind] | None = None) -> pa.Schema:
    """Return the columns of a dataset; metadata is a struct if the kinds of its keys are given."""
    types = dict(_TYPES)
    if metadata_kinds is not None:
        children = [pa.field(key, METADATA_TYPES[kind]) for key, kind in metadata_kinds.items()]
        types["metadata"] = pa.struct(children)
    return pa.schema(list(types.items()))
