"""The columns of a dataset in Arrow: the same, with the same types, for every dataset.

The types of texts and of metadata are also those of a samples file, see `store.schema`.

A field of a sample that has two types has two columns, one of which is null in each row: a type
that depends on the data would break a query as soon as the data change. Offsets have 64 bits, as in
the cache, whose columns are used without a copy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import pyarrow as pa

from registry.samples.fields import FIELDS

__all__ = [
    "COLUMNS",
    "COLUMN_TYPES",
    "MESSAGE",
    "METADATA_TYPES",
    "METADATA_TYPE_OF",
    "MetadataForm",
    "MetadataType",
    "frame_schema",
]

MetadataForm = Literal["json", "struct"]
"""`json` for text that is the same type in every dataset, `struct` for a child per key."""

MetadataType = Literal["str", "str_list", "int", "float", "bool", "json"]
"""Common type of the values of a metadata key; `json` for any other values, as JSON text."""

# Large: the 32-bit offsets of `string` limit a batch to 2 GiB of text.
_TEXT = pa.large_string()
_TEXTS = pa.large_list(_TEXT)

METADATA_TYPES: dict[MetadataType, pa.DataType] = {
    "str": _TEXT,
    "str_list": _TEXTS,
    "int": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
    "json": _TEXT,
}
"""Type of the values of a key → type of their column, or child of a struct."""

METADATA_TYPE_OF: dict[type, MetadataType] = {
    str: "str",
    int: "int",
    float: "float",
    bool: "bool",
}
"""Type of a value in Python, other than a list → its type in metadata."""

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

COLUMN_TYPES: dict[str, pa.DataType] = {
    "text": _TEXT,
    "json": _TEXT,
    "texts": _TEXTS,
    "int": pa.int64(),
}
"""Kind of a column, see `Field.columns` → its type."""

# An id that is a number is its digits.
_TYPES = {
    name: pa.large_list(MESSAGE) if name == "messages" else COLUMN_TYPES[kind]
    for field in FIELDS
    for name, kind in field.columns
    if kind != "int"
}
COLUMNS = tuple(_TYPES)
"""Names of the columns, in order."""


def frame_schema(metadata_kinds: Mapping[str, MetadataType] | None = None) -> pa.Schema:
    """Return the columns of a dataset; metadata is a struct if the kinds of its keys are given."""
    types = dict(_TYPES)
    if metadata_kinds is not None:
        children = [pa.field(key, METADATA_TYPES[kind]) for key, kind in metadata_kinds.items()]
        types["metadata"] = pa.struct(children)
    return pa.schema(list(types.items()))
