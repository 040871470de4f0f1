"""Convert samples to Arrow rows without loss; `rows` restores them.

Strings, choices and ids have their own columns, and so does each key of the metadata if every
sample has the same keys with values of the same types. Conversations, other metadata, sandboxes and
files are JSON (see `base.digest`) in a string column. A null represents None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from pydantic import BaseModel

from registry.base.digest import to_json
from registry.errors import MappingError
from registry.samples.messages import ChatMessage
from registry.samples.sample import Sample, SandboxEnvironmentSpec
from registry.store.conversations import conversation_to_json
from registry.store.json_texts import to_json_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from registry.samples.checkpoint import CheckpointSampleConfig

    Numbers = Sequence[int] | NDArray[np.int64]
    """Numbers of records, from 1."""

__all__ = [
    "FIELDS",
    "METADATA_TYPES",
    "METADATA_VALUES",
    "MetadataType",
    "MetadataTypeMismatchError",
    "batch_from",
    "batch_of",
    "common_keys",
    "field_columns",
    "fields_of",
    "full_schema",
    "json_keys",
    "metadata_column",
    "metadata_type_of",
    "schema_of",
    "struct_of",
    "with_all_columns",
]

FIELDS = (
    "input",
    "choices",
    "target",
    "id",
    "description",
    "metadata",
    "sandbox",
    "files",
    "setup",
    "checkpoint",
)
"""Fields of a sample, in the order of its model."""

MetadataType = Literal["str", "str_list", "int", "float", "bool", "json"]
"""Common type of the values of a metadata key; `json` for any other values, stored as JSON."""

# Large: the 32-bit offsets of `string` limit a batch to 2 GiB of text.
_TEXT = pa.large_string()
METADATA_TYPES: dict[MetadataType, pa.DataType] = {
    "str": _TEXT,
    "str_list": pa.large_list(_TEXT),
    "int": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
    "json": _TEXT,
}
"""Type of the values → type of their column."""

_METADATA_TYPE_OF: dict[type, MetadataType] = {
    str: "str",
    int: "int",
    float: "float",
    bool: "bool",
}
# In the schema of the file, so that a reader knows which strings to parse.
_AS_JSON = {b"form": b"json"}
_COLUMNS = (
    pa.field("input", _TEXT),
    pa.field("messages", _TEXT),
    pa.field("choices", pa.large_list(_TEXT)),
    pa.field("target", _TEXT),
    pa.field("targets", pa.large_list(_TEXT)),
    pa.field("id", _TEXT),
    pa.field("id_number", pa.int64()),
    pa.field("description", _TEXT),
    pa.field("metadata", _TEXT),
    pa.field("sandbox", _TEXT),
    pa.field("files", _TEXT),
    pa.field("setup", _TEXT),
    pa.field("checkpoint", _TEXT),
    pa.field("record", pa.int64()),
)
METADATA_VALUES = "metadata_values"
"""Column of the metadata, a struct with a child per key."""

_INT64 = 1 << 63


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
    if not metadata_types:
        return pa.schema(_COLUMNS)
    children = [
        pa.field(key, METADATA_TYPES[one], metadata=_AS_JSON if one == "json" else None)
        for key, one in metadata_types.items()
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
    """Return the common type of the values of a metadata key; `str` if all of them are None."""
    # The exact types: a bool is also an int, and a subclass would be restored as its base class.
    types = set(map(type, values)) - {NoneType}
    optional = {str, NoneType}
    if types == {list} and all(set(map(type, value or ())) <= optional for value in values):
        return "str_list"
    return _METADATA_TYPE_OF.get(types.pop(), "json") if len(types) == 1 else "json"


def fields_of(sample: Sample) -> dict[str, Any]:
    """Return the fields of a sample, which must not be changed."""
    # Samples of an older Inspect AI, which a mapper may return, lack the fields added since.
    return {"description": None, "checkpoint": None, **sample.__dict__}


def batch_of(
    fields: Mapping[str, Sequence[Any]],
    records: Numbers,
    metadata_types: Mapping[str, MetadataType],
) -> pa.RecordBatch:
    """Return samples as rows.

    Args:
        fields: Field → its values, one per sample; a missing field is None.
        records: Number of each sample's record.
        metadata_types: Metadata key → type of its values; empty to store metadata as JSON.

    Raises:
        MappingError: a value can't be stored; the error has its record and field.
        MetadataTypeMismatchError: metadata has different keys or types.
    """
    columns: dict[str, pa.Array] = {"record": pa.array(records, pa.int64())}
    for name, values in fields.items():
        if name == "metadata" and metadata_types:
            if None in values or set(map(tuple, values)) - {tuple(metadata_types)}:
                raise MetadataTypeMismatchError(None)
            parts = [
                metadata_column(key, metadata_type, [item[key] for item in values], records)
                for key, metadata_type in metadata_types.items()
            ]
            columns[METADATA_VALUES] = struct_of(parts, metadata_types)
        else:
            columns |= field_columns(name, values, records)
    return batch_from(columns, len(records), metadata_types)


def common_keys(metadata: Sequence[Any]) -> list[str]:
    """Return the keys of the samples' metadata, in order; an empty list if samples differ."""
    keys = list(metadata[0] or ()) if metadata else []
    same = all(item is not None and list(item) == keys for item in metadata)
    return keys if same and all(type(key) is str for key in keys) else []


def batch_from(
    columns: Mapping[str, pa.Array], count: int, metadata_types: Mapping[str, MetadataType]
) -> pa.RecordBatch:
    """Return columns as rows; missing columns are null."""
    schema = schema_of(metadata_types)
    arrays = [
        columns[field.name] if field.name in columns else pa.nulls(count, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def struct_of(
    columns: Sequence[pa.Array], metadata_types: Mapping[str, MetadataType]
) -> pa.StructArray:
    """Return the columns of the metadata keys as one struct column."""
    children = list(schema_of(metadata_types).field(METADATA_VALUES).type)
    return pa.StructArray.from_arrays(columns, fields=children)


Converter = Callable[[Sequence[Any]], dict[str, pa.Array]]
"""Returns the columns of a field's values."""


def field_columns(field: str, values: Sequence[Any], records: Numbers) -> dict[str, pa.Array]:
    """Return the columns of a field.

    Raises:
        MappingError: a value can't be stored; the error has its record.
    """
    types = set(map(type, values))
    if types == {NoneType}:
        return {}
    if types == {str} and field in _STRING_FIELDS:
        return _convert(lambda strings: {field: _strings(strings)}, field, values, records)
    return _convert(_CONVERTERS[field], field, values, records)


_FAILURES = (UnicodeEncodeError, pa.ArrowException, TypeError, OverflowError, RecursionError)


def _convert(
    convert: Converter, field: str, values: Sequence[Any], records: Numbers
) -> dict[str, pa.Array]:
    """Return the columns of all values; if that fails, raise an error for the first bad value."""
    try:
        return convert(values)
    except _FAILURES:
        # Repeat it value by value, as pyarrow does not say which one it can't convert.
        for value, record in zip(values, records, strict=True):
            try:
                convert([value])
            except _FAILURES as error:
                if isinstance(error, UnicodeEncodeError):
                    message = "contains half of a surrogate pair, which is not valid text"
                elif isinstance(error, OverflowError):
                    message = "an id must fit in 64 bits or be a str"
                else:
                    message = f"can't be cached: {error}"
                raise MappingError(message, record=record, field=field, value=value) from error
        raise


def _input_columns(values: Sequence[str | list[ChatMessage]]) -> dict[str, pa.Array]:
    prompts = [value if isinstance(value, str) else None for value in values]
    messages = [None if isinstance(value, str) else conversation_to_json(value) for value in values]
    return {"input": _strings(prompts), "messages": _strings(messages)}


def _target_columns(values: Sequence[str | list[str]]) -> dict[str, pa.Array]:
    several = [value if isinstance(value, list) else None for value in values]
    single = [None if isinstance(value, list) else value for value in values]
    return {"target": _strings(single), "targets": _string_lists(several)}


def _id_columns(values: Sequence[int | str | None]) -> dict[str, pa.Array]:
    numbers = [value if isinstance(value, int) else None for value in values]
    if any(value is not None and not -_INT64 <= value < _INT64 for value in numbers):
        raise OverflowError  # pyarrow's own error differs between types of ints
    names = [None if isinstance(value, int) else value for value in values]
    return {"id": _strings(names), "id_number": pa.array(numbers, pa.int64())}


def _sandbox_json(spec: SandboxEnvironmentSpec | None) -> str | None:
    if spec is None:
        return None
    if isinstance(spec.config, BaseModel):
        raise TypeError("a sandbox configuration in a dataset must be a file name or plain data")
    return to_json([spec.type, spec.config])


def _checkpoint_json(config: CheckpointSampleConfig | None) -> str | None:
    if config is None:
        return None
    from registry.samples.checkpoint import checkpoint_data

    return to_json(checkpoint_data(config))


_STRING_FIELDS = ("input", "target", "id", "description", "setup")
"""Fields whose strings are in the column of the same name."""

_CONVERTERS: dict[str, Converter] = {
    "input": _input_columns,
    "choices": lambda values: {"choices": _string_lists(values)},
    "target": _target_columns,
    "id": _id_columns,
    "description": lambda values: {"description": _strings(values)},
    "metadata": lambda values: {"metadata": to_json_texts(values)},
    "sandbox": lambda values: {"sandbox": _strings(list(map(_sandbox_json, values)))},
    "files": lambda values: {"files": to_json_texts(values)},
    "setup": lambda values: {"setup": _strings(values)},
    "checkpoint": lambda values: {"checkpoint": _strings(list(map(_checkpoint_json, values)))},
}


def _strings(values: Sequence[Any]) -> pa.Array:
    return pa.array(values, _TEXT)


def _string_lists(values: Sequence[Any]) -> pa.Array:
    return pa.array(values, pa.large_list(_TEXT))


def metadata_column(
    key: str,
    metadata_type: MetadataType,
    values: Sequence[Any],
    records: Numbers,
    *,
    plain: bool = False,
) -> pa.Array:
    """Return the column of one key of the metadata.

    Args:
        key: The key.
        metadata_type: Type of the values.
        values: The values.
        records: Number of each value's record.
        plain: Whether the values are known to have only types of JSON (see `to_json_texts`).

    Raises:
        MappingError: a value can't be stored.
        MetadataTypeMismatchError: a value has a different type.
    """
    if (
        metadata_type != "json"
        and metadata_type_of(values) != metadata_type
        and any(value is not None for value in values)
    ):
        raise MetadataTypeMismatchError(key)

    def convert(values: Sequence[Any]) -> dict[str, pa.Array]:
        if metadata_type == "json":
            return {key: to_json_texts(values, plain=plain)}
        return {key: pa.array(values, METADATA_TYPES[metadata_type])}

    try:
        return _convert(convert, "metadata", values, records)[key]
    except MappingError as error:
        if isinstance(error.__cause__, OverflowError):  # an int beyond 64 bits, stored as JSON
            raise MetadataTypeMismatchError(key) from error
        raise
