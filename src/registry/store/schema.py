"""Samples as Arrow rows, without loss; `sample_rows` turns them back.

Text, choices and numbers have columns of their own, and so have the values of a metadata map
whose type is the same in every sample; conversations, other metadata and the like are JSON (see
`canonical`) in a text column, null where the sample has None.
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

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = Sequence[int] | NDArray[np.int64]
    """Numbers of records, from 1."""

__all__ = [
    "FIELDS",
    "FILE_COLUMNS",
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
    "has_sample_columns",
    "json_keys",
    "metadata_column",
    "metadata_type_of",
    "schema_of",
    "struct_of",
    "with_all_columns",
]

FIELDS = ("input", "choices", "target", "id", "metadata", "sandbox", "files", "setup")
"""Fields of a sample, in its order."""

FILE_COLUMNS = ("messages", "sandbox", "files", "setup")
"""Columns that may name files beside the source."""

MetadataType = Literal["str", "str_list", "int", "float", "bool", "json"]
"""What the values of one key of the metadata are: all of a type, or anything, kept as JSON."""

_TEXT = pa.large_string()
METADATA_TYPES: dict[MetadataType, pa.DataType] = {
    "str": _TEXT,
    "str_list": pa.large_list(_TEXT),
    "int": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
    "json": _TEXT,
}
"""Kind → type of its column."""

_METADATA_TYPE_OF: dict[type, MetadataType] = {
    str: "str",
    int: "int",
    float: "float",
    bool: "bool",
}
_AS_JSON = {b"form": b"json"}
_COLUMNS = (
    pa.field("input", _TEXT),
    pa.field("messages", _TEXT),
    pa.field("choices", pa.large_list(_TEXT)),
    pa.field("target", _TEXT),
    pa.field("targets", pa.large_list(_TEXT)),
    pa.field("id", _TEXT),
    pa.field("id_number", pa.int64()),
    pa.field("metadata", _TEXT),
    pa.field("sandbox", _TEXT),
    pa.field("files", _TEXT),
    pa.field("setup", _TEXT),
    pa.field("record", pa.int64()),
)
METADATA_VALUES = "metadata_values"
"""Column of the metadata's values, a struct."""

_INT64 = 1 << 63


class MetadataTypeMismatchError(Exception):
    """Metadata is not of the kinds that its columns were made for."""

    def __init__(self, key: str | None) -> None:
        super().__init__(key)
        self.key = key
        """The key whose value is of another kind; None where the keys are others."""


def schema_of(metadata_types: Mapping[str, MetadataType]) -> pa.Schema:
    """Return the columns of a samples file.

    `messages` or `input`, `targets` or `target`, `id_number` or `id`, `metadata_values` (a struct
    with the keys of `metadata_types`) or `metadata`; the others are null. `record` is the number
    of the source's record, from 1.
    """
    if not metadata_types:
        return pa.schema(_COLUMNS)
    children = [
        pa.field(key, METADATA_TYPES[kind], metadata=_AS_JSON if kind == "json" else None)
        for key, kind in metadata_types.items()
    ]
    return pa.schema([*_COLUMNS, pa.field(METADATA_VALUES, pa.struct(children))])


def full_schema(schema: pa.Schema) -> pa.Schema:
    """Return the columns of a file with those that it leaves out, as they are null in each row."""
    extra = [field for field in schema if field.name == METADATA_VALUES]
    return pa.schema([*_COLUMNS, *extra])


def has_sample_columns(schema: pa.Schema) -> bool:
    """Return whether a file's columns are some of those of a samples file."""
    known = full_schema(schema)
    names = schema.names
    return bool(pa.schema([field for field in known if field.name in names]).equals(schema))


def with_all_columns(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch with the columns of a schema; those that it lacks are null."""
    names = batch.schema.names
    columns = [
        batch.column(field.name) if field.name in names else pa.nulls(len(batch), field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def json_keys(schema: pa.Schema) -> list[str]:
    """Return the keys of `metadata_values` that are kept as JSON."""
    if METADATA_VALUES not in schema.names:
        return []
    children = schema.field(METADATA_VALUES).type
    return [child.name for child in children if child.metadata == _AS_JSON]


def metadata_type_of(values: Sequence[Any]) -> MetadataType:
    """Return the kind that some values of a key have in common."""
    types = set(map(type, values)) - {NoneType}
    texts = {str, NoneType}
    if types == {list} and all(set(map(type, value or ())) <= texts for value in values):
        return "str_list"
    return _METADATA_TYPE_OF.get(types.pop(), "json") if len(types) == 1 else "json"


def fields_of(sample: Sample) -> dict[str, Any]:
    """Return the fields of a sample, to be read only."""
    return sample.__dict__


def batch_of(
    fields: Mapping[str, Sequence[Any]],
    records: Numbers,
    metadata_types: Mapping[str, MetadataType],
) -> pa.RecordBatch:
    """Return samples as rows.

    Args:
        fields: Field → its values, one a sample; a field that is left out is None.
        records: Number of each sample's record.
        metadata_types: Key of the metadata → type of its values; empty where metadata is JSON as
            a whole.

    Raises:
        MappingError: a value has no form in the cache; it names record and field.
        OtherKindError: a value of the metadata is not of its kind.
    """
    columns: dict[str, pa.Array] = {"record": pa.array(records, pa.int64())}
    for name, values in fields.items():
        if name == "metadata" and metadata_types:
            _check_keys(values, metadata_types)
            items = {key: [item[key] for item in values] for key in metadata_types}
            parts = [
                metadata_column(key, metadata_types[key], items[key], records)
                for key in metadata_types
            ]
            columns[METADATA_VALUES] = struct_of(parts, metadata_types)
        else:
            columns |= field_columns(name, values, records)
    return batch_from(columns, len(records), metadata_types)


def _check_keys(metadata: Sequence[Any], metadata_types: Mapping[str, MetadataType]) -> None:
    """Raise an OtherKindError where samples have other keys, or none."""
    if None in metadata or set(map(tuple, metadata)) - {tuple(metadata_types)}:
        raise MetadataTypeMismatchError(None)


def common_keys(metadata: Sequence[Any]) -> list[str]:
    """Return the keys that each sample's metadata has, in their order; none if they differ."""
    keys = list(metadata[0] or ()) if metadata else []
    same = all(item is not None and list(item) == keys for item in metadata)
    return keys if same and all(type(key) is str for key in keys) else []


def batch_from(
    columns: Mapping[str, pa.Array], count: int, metadata_types: Mapping[str, MetadataType]
) -> pa.RecordBatch:
    """Return rows of columns; those that are left out are null."""
    schema = schema_of(metadata_types)
    arrays = [
        columns[field.name] if field.name in columns else pa.nulls(count, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def struct_of(
    columns: Sequence[pa.Array], metadata_types: Mapping[str, MetadataType]
) -> pa.StructArray:
    """Return the columns of the metadata's keys as one."""
    children = list(schema_of(metadata_types).field(METADATA_VALUES).type)
    return pa.StructArray.from_arrays(columns, fields=children)


Writer = Callable[[Sequence[Any]], dict[str, pa.Array]]


def field_columns(field: str, values: Sequence[Any], records: Numbers) -> dict[str, pa.Array]:
    """Return the columns of a field; where that fails, name the value that it fails for."""
    types = set(map(type, values))
    if types == {NoneType}:
        return {}
    if types == {str} and field in _TEXT_FIELDS:
        return _written(lambda texts: {field: _texts(texts)}, field, values, records)
    return _written(_WRITERS[field], field, values, records)


def _written(
    write: Writer, field: str, values: Sequence[Any], records: Numbers
) -> dict[str, pa.Array]:
    try:
        return write(values)
    except _FAULTS:
        for value, record in zip(values, records, strict=True):
            try:
                write([value])
            except _FAULTS as error:
                raise _unwritable(error, field, value, record) from error
        raise


_FAULTS = (UnicodeEncodeError, pa.ArrowException, TypeError, OverflowError, RecursionError)


def _unwritable(error: Exception, field: str, value: Any, record: int) -> MappingError:
    if isinstance(error, UnicodeEncodeError):
        message = "holds half of a surrogate pair, which is no text"
    elif isinstance(error, OverflowError):
        message = "an id must fit in 64 bits, or be text"
    else:
        message = f"can't be cached: {error}"
    return MappingError(message, record=record, field=field, value=value)


def _input_columns(values: Sequence[str | list[ChatMessage]]) -> dict[str, pa.Array]:
    texts = [value if isinstance(value, str) else None for value in values]
    turns = [None if isinstance(value, str) else conversation_to_json(value) for value in values]
    return {"input": _texts(texts), "messages": _texts(turns)}


def _target_columns(values: Sequence[str | list[str]]) -> dict[str, pa.Array]:
    several = [value if isinstance(value, list) else None for value in values]
    single = [None if isinstance(value, list) else value for value in values]
    return {"target": _texts(single), "targets": _text_lists(several)}


def _id_columns(values: Sequence[int | str | None]) -> dict[str, pa.Array]:
    numbers = [value if isinstance(value, int) else None for value in values]
    if any(value is not None and not -_INT64 <= value < _INT64 for value in numbers):
        raise OverflowError
    texts = [None if isinstance(value, int) else value for value in values]
    return {"id": _texts(texts), "id_number": pa.array(numbers, pa.int64())}


def _sandbox_json(spec: SandboxEnvironmentSpec | None) -> str | None:
    if spec is None:
        return None
    if isinstance(spec.config, BaseModel):
        raise TypeError("a sandbox configuration in a dataset must be a file name or plain data")
    return to_json([spec.type, spec.config])


_TEXT_FIELDS = ("input", "target", "id", "setup")
"""Fields that have a column of their own name for text."""

_WRITERS: dict[str, Writer] = {
    "input": _input_columns,
    "choices": lambda values: {"choices": _text_lists(values)},
    "target": _target_columns,
    "id": _id_columns,
    "metadata": lambda values: {"metadata": _json_texts(values)},
    "sandbox": lambda values: {"sandbox": _texts([_sandbox_json(value) for value in values])},
    "files": lambda values: {"files": _json_texts(values)},
    "setup": lambda values: {"setup": _texts(values)},
}


def _texts(values: Sequence[Any]) -> pa.Array:
    return pa.array(values, _TEXT)


def _text_lists(values: Sequence[Any]) -> pa.Array:
    return pa.array(values, pa.large_list(_TEXT))


def _json_texts(values: Sequence[Any]) -> pa.Array:
    return _texts([None if value is None else to_json(value) for value in values])


def metadata_column(
    key: str, kind: MetadataType, values: Sequence[Any], records: Numbers
) -> pa.Array:
    """Return the values of one key of the metadata.

    Raises:
        MappingError: a value has no form in the cache.
        OtherKindError: a value is not of the kind.
    """
    if (
        kind != "json"
        and metadata_type_of(values) != kind
        and any(value is not None for value in values)
    ):
        raise MetadataTypeMismatchError(key)

    def write(values: Sequence[Any]) -> dict[str, pa.Array]:
        return {
            key: _json_texts(values) if kind == "json" else pa.array(values, METADATA_TYPES[kind])
        }

    try:
        return _written(write, "metadata", values, records)[key]
    except MappingError as error:
        if isinstance(error.__cause__, OverflowError):  # a whole number beyond 64 bits
            raise MetadataTypeMismatchError(key) from error
        raise
