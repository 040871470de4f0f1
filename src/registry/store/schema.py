"""The columns of stored samples; `columns` fills them without loss, and `rows` restores samples.

Strings, choices and ids have their own columns, and so does each key of the metadata if every
sample has the same keys with values of the same types. Conversations, other metadata, sandboxes and
files are JSON (see `base.digest`) in a string column. A null represents None.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from itertools import chain
from types import NoneType
from typing import Any

import pyarrow as pa

from registry.samples.fields import FIELDS
from registry.samples.frames.layout import (
    COLUMN_TYPES,
    METADATA_TYPE_OF,
    METADATA_TYPES,
    MetadataType,
)

__all__ = [
    "METADATA_VALUES",
    "MetadataTypeMismatchError",
    "batch_from",
    "full_schema",
    "json_keys",
    "metadata_type_of",
    "schema_of",
    "struct_of",
    "with_all_columns",
]

# In the schema of the file, so that a reader knows which strings to parse.
_AS_JSON = {b"form": b"json"}
_COLUMNS = (
    *(pa.field(name, COLUMN_TYPES[kind]) for field in FIELDS for name, kind in field.columns),
    pa.field("record", pa.int64()),
)
METADATA_VALUES = "metadata_values"
"""Column of the metadata, a struct with a child per key."""


class MetadataTypeMismatchError(Exception):
    """Metadata has keys, or types of values, that do not match its columns."""

    def __init__(self, key: str | None) -> None:
        super().__init__(key)
        self.key = key
        """The key with a value of a different type; None if the keys differ."""


def schema_of(metadata_types: Mapping[str, MetadataType]) -> pa.Schema:
    """Return the columns of a samples file.

    In each row, one of `messages` and `input`, of `targets` and `target`, and of `id_number` and
    `id` is null. A file has either `metadata_values`, a struct with the keys of `metadata_types`,
    or `metadata`. `record` is the number of the record in the source, from 1.
    """
    return _schema_of(tuple(metadata_types.items()))


@functools.lru_cache(maxsize=1 << 6)  # creating one takes as long as creating a few columns
def _schema_of(metadata_types: tuple[tuple[str, MetadataType], ...]) -> pa.Schema:
    if not metadata_types:
        return pa.schema(_COLUMNS)
    children = [
        pa.field(key, METADATA_TYPES[one], metadata=_AS_JSON if one == "json" else None)
        for key, one in metadata_types
    ]
    return pa.schema([*_COLUMNS, pa.field(METADATA_VALUES, pa.struct(children))])


def full_schema(schema: pa.Schema) -> pa.Schema:
    """Return all columns of samples, including those that a file omits because they are null."""
    extra = [field for field in schema if field.name == METADATA_VALUES]
    return pa.schema([*_COLUMNS, *extra])


def with_all_columns(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch with all columns of a schema; those that it lacks are null."""
    names = batch.schema.names
    columns = [
        batch.column(field.name) if field.name in names else pa.nulls(len(batch), field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def json_keys(schema: pa.Schema) -> list[str]:
    """Return the keys of `metadata_values` whose values are stored as JSON."""
    if METADATA_VALUES not in schema.names:
        return []
    children = schema.field(METADATA_VALUES).type
    return [child.name for child in children if child.metadata == _AS_JSON]


def metadata_type_of(values: Sequence[Any]) -> MetadataType:
    """Return the common type of the values of a metadata key; `json` if all of them are None."""
    # The exact types: a bool is also an int, and a subclass would be restored as its base class.
    types = set(map(type, values)) - {NoneType}
    if types == {list}:
        items = chain.from_iterable(value for value in values if value)
        return "str_list" if set(map(type, items)) <= {str, NoneType} else "json"
    return METADATA_TYPE_OF.get(types.pop(), "json") if len(types) == 1 else "json"


def batch_from(
    columns: Mapping[str, pa.Array], count: int, metadata_types: Mapping[str, MetadataType]
) -> pa.RecordBatch:
    """Return columns as rows; missing columns are null."""
    schema = schema_of(metadata_types)
    nulls: dict[int, pa.Array] = {}  # columns of the same kind share one
    arrays = []
    for name, kind in zip(schema.names, schema.types, strict=True):
        if name not in columns and kind.id not in nulls:
            nulls[kind.id] = pa.nulls(count, kind)
        arrays.append(columns[name] if name in columns else nulls[kind.id])
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def struct_of(
    columns: Sequence[pa.Array], metadata_types: Mapping[str, MetadataType]
) -> pa.StructArray:
    """Return the columns of the metadata keys as one struct column."""
    children = list(schema_of(metadata_types).field(METADATA_VALUES).type)
    return pa.StructArray.from_arrays(columns, fields=children)
