"""Convert the values of samples to columns without loss; `rows` restores them.

msgspec encodes data that JSON has, but also changes values that it lacks without a word: a tuple
becomes an array, NaN becomes null. So only values that are known to be plain are passed to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from registry.base.arrow import to_array
from registry.base.digest import are_plain, to_json
from registry.errors import MappingError
from registry.samples.fields import FIELDS, NAMES, Field
from registry.samples.frames.layout import METADATA_TYPES, MetadataType
from registry.samples.messages import ChatMessage
from registry.samples.sample import Sample
from registry.store.conversations import conversation_to_json
from registry.store.schema import (
    METADATA_VALUES,
    MetadataTypeMismatchError,
    batch_from,
    metadata_type_of,
    struct_of,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = Sequence[int] | NDArray[np.int64]
    """Numbers of records, from 1."""

__all__ = [
    "batch_of",
    "common_keys",
    "field_columns",
    "fields_of",
    "metadata_column",
    "to_json_texts",
]

_TEXT = pa.large_string()
_INT64 = 1 << 63

_encode = msgspec.json.Encoder().encode


def fields_of(sample: Sample) -> dict[str, Any]:
    """Return the fields of a sample, which must not be changed."""
    # Samples of an older Inspect AI, which a mapper may return, lack the fields added since.
    return _NONE | sample.__dict__


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


Converter = Callable[[Sequence[Any]], dict[str, pa.Array]]
"""Returns the columns of a field's values."""


def field_columns(field: str, values: Sequence[Any], records: Numbers) -> dict[str, pa.Array]:
    """Return the columns of a field.

    Args:
        field: The field.
        values: Its values.
        records: Number of each value's record.

    Raises:
        MappingError: a value can't be stored; the error has its record.
    """
    types = set(map(type, values))
    if types == {NoneType}:
        return {}
    if types == {str} and field in _TEXT_FIELDS:
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
    if set(map(type, values)) == {list}:
        return {"target": pa.nulls(len(values), _TEXT), "targets": _string_lists(values)}
    several = [value if isinstance(value, list) else None for value in values]
    single = [None if isinstance(value, list) else value for value in values]
    return {"target": _strings(single), "targets": _string_lists(several)}


def _id_columns(values: Sequence[int | str | None]) -> dict[str, pa.Array]:
    numbers = [value if isinstance(value, int) else None for value in values]
    if any(value is not None and not -_INT64 <= value < _INT64 for value in numbers):
        raise OverflowError  # pyarrow's own error differs between types of ints
    if None not in numbers:
        return {"id": pa.nulls(len(values), _TEXT), "id_number": to_array(numbers, pa.int64())}
    names = [None if isinstance(value, int) else value for value in values]
    return {"id": _strings(names), "id_number": to_array(numbers, pa.int64())}


_TEXT_FIELDS = frozenset(field.name for field in FIELDS if field.kind == "text")
"""Fields whose strings are in the column of the same name."""
_NONE = dict.fromkeys(NAMES)


def _converter(field: Field) -> Converter:
    """Return the converter of a field with one column."""
    name, convert = field.name, field.to_data
    if field.kind == "text":
        return lambda values: {name: _strings(values)}
    if convert is None:
        return lambda values: {name: to_json_texts(values)}
    return lambda values: {
        name: _strings([None if one is None else to_json(convert(one)) for one in values])
    }


_CONVERTERS: dict[str, Converter] = {
    **{field.name: _converter(field) for field in FIELDS},
    "input": _input_columns,
    "choices": lambda values: {"choices": _string_lists(values)},
    "target": _target_columns,
    "id": _id_columns,
}


def _strings(values: Sequence[Any]) -> pa.Array:
    return to_array(values, _TEXT)


def _string_lists(values: Sequence[Any]) -> pa.Array:
    return to_array(values, pa.large_list(_TEXT))


def metadata_column(
    key: str,
    metadata_type: MetadataType,
    values: Sequence[Any],
    records: Numbers,
    *,
    typed: bool = False,
) -> pa.Array:
    """Return the column of one key of the metadata.

    Args:
        key: The key.
        metadata_type: Type of the values.
        values: The values.
        records: Number of each value's record.
        typed: Whether their type is known to be the given one.

    Raises:
        MappingError: a value can't be stored.
        MetadataTypeMismatchError: a value has a different type.
    """
    if (
        metadata_type != "json"
        and not typed
        and metadata_type_of(values) != metadata_type
        and any(value is not None for value in values)
    ):
        raise MetadataTypeMismatchError(key)

    def convert(values: Sequence[Any]) -> dict[str, pa.Array]:
        if metadata_type == "json":
            return {key: to_json_texts(values)}
        return {key: to_array(values, METADATA_TYPES[metadata_type])}

    try:
        return _convert(convert, "metadata", values, records)[key]
    except MappingError as error:
        if isinstance(error.__cause__, OverflowError):  # an int beyond 64 bits, stored as JSON
            raise MetadataTypeMismatchError(key) from error
        raise


def to_json_texts(values: Sequence[Any]) -> pa.Array:
    """Return values as a column of JSON texts for `from_json`; None is null.

    Raises:
        TypeError: a value can't be restored from JSON.
        UnicodeEncodeError: a string has half of a surrogate pair.
    """
    if len(values) > 1 and values[0] is values[-1] and len(set(map(id, values))) == 1:
        return pa.repeat(to_json_texts(values[:1])[0], len(values))
    if are_plain(values):
        texts = [None if value is None else _encode(value) for value in values]
        return to_array(texts, pa.large_binary()).view(pa.large_string())
    return to_array([None if one is None else to_json(one) for one in values], pa.large_string())
