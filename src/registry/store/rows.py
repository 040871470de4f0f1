"""Convert Arrow rows to samples without validation: their values were valid when written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from registry.base.digest import from_json
from registry.samples.fields import FIELDS, NAMES, Field
from registry.samples.sample import Sample

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "FILE_COLUMNS",
    "Columns",
    "ids_of",
    "metadata_of",
    "samples_of",
    "samples_of_batch",
    "values_of",
]

FILE_COLUMNS = ("messages", "sandbox", "files", "setup")
"""Columns that may contain names of files next to the source."""

Columns = Mapping[str, Sequence[Any]]
"""Column → its values in some rows; a column of nulls may be missing."""


def samples_of(columns: Columns, count: int, json_keys: Sequence[str] = ()) -> Iterator[Sample]:
    """Yield the samples of rows that `schema.batch_of` returned.

    Args:
        columns: The rows.
        count: Number of rows.
        json_keys: Keys of the metadata whose values are stored as JSON.
    """
    read = {name: reader(columns, count) for name, reader in _READERS.items()}
    read["metadata"] = metadata_of(columns, count, json_keys)
    return map(_make, *read.values())


def samples_of_batch(batch: pa.RecordBatch) -> Iterator[Sample]:
    """Yield the samples of rows that `schema.batch_of` returned, or of some of them."""
    from registry.store.schema import json_keys  # loads pyarrow, which a few samples don't need

    return samples_of(values_of(batch), batch.num_rows, json_keys(batch.schema))


def values_of(batch: pa.RecordBatch) -> Columns:
    """Return the values of rows by column; columns without any value are omitted."""
    columns = zip(batch.schema.names, batch.columns, strict=True)
    count = batch.num_rows
    return {name: column.to_pylist() for name, column in columns if column.null_count != count}


def ids_of(batch: pa.RecordBatch) -> list[str | int | None]:
    """Return the ids of the rows of a batch."""
    texts, numbers = batch.column("id"), batch.column("id_number")
    for column, other in ((texts, numbers), (numbers, texts)):
        if other.null_count == len(other):
            return list(column.to_pylist())
    pairs = zip(texts.to_pylist(), numbers.to_pylist(), strict=True)
    return [number if text is None else text for text, number in pairs]


def metadata_of(
    columns: Columns, count: int, json_keys: Sequence[str]
) -> Sequence[dict[str, Any] | None]:
    """Return the metadata of rows; the arguments are those of `samples_of`."""
    values = columns.get("metadata_values")
    if values is None:
        return _read_json("metadata", columns, count)
    # In place: `to_pylist` created these dicts, and nothing else refers to them.
    for key in json_keys:
        for item in values:
            if item[key] is not None:
                item[key] = from_json(item[key])
    return values


_FIELDS_SET = set(Sample.model_fields)
# Bypasses `BaseModel.__setattr__`, as pydantic's own `model_construct` does, which is slower as it
# iterates over all fields.
_set = object.__setattr__


def _make(*values: Any) -> Sample:
    """Return a sample with the same state as after validation."""
    sample = Sample.__new__(Sample)
    # Not strict: every field has a reader, and the check would take a tenth of the time of a loop.
    _set(sample, "__dict__", dict(zip(NAMES, values, strict=False)))
    _set(sample, "__pydantic_fields_set__", _FIELDS_SET.copy())
    _set(sample, "__pydantic_extra__", None)
    _set(sample, "__pydantic_private__", None)
    return sample


def _plain(name: str, columns: Columns, count: int) -> Sequence[Any]:
    return columns.get(name) or [None] * count


def _either(columns: Columns, first: str, second: str, count: int) -> Sequence[Any]:
    """Return the values of two columns as one; in each row, at least one of the two is null."""
    others = columns.get(second)
    if others is None:
        return _plain(first, columns, count)
    pairs = zip(_plain(first, columns, count), others, strict=True)
    return [value if other is None else other for value, other in pairs]


def _read_input(columns: Columns, count: int) -> Sequence[Any]:
    encoded = columns.get("messages")
    if encoded is None:
        return columns["input"]
    # Imported here: few datasets have conversations, whose classes take long to create.
    from registry.store.conversations import conversation_from_json

    messages = [None if text is None else conversation_from_json(text) for text in encoded]
    return _either({**columns, "messages": messages}, "input", "messages", count)


def _read_json(name: str, columns: Columns, count: int) -> Sequence[Any]:
    texts = columns.get(name)
    if texts is None:
        return [None] * count
    return [None if text is None else from_json(text) for text in texts]


def _read(field: Field, columns: Columns, count: int) -> Sequence[Any]:
    """Return the values of a field with one column."""
    if field.kind != "json":
        return _plain(field.name, columns, count)
    data = _read_json(field.name, columns, count)
    restore = field.from_data
    if restore is None or field.name not in columns:
        return data
    return [None if one is None else restore(one) for one in data]


_READERS: dict[str, Callable[[Columns, int], Sequence[Any]]] = {
    **{field.name: partial(_read, field) for field in FIELDS},
    "input": _read_input,
    "target": lambda columns, count: _either(columns, "target", "targets", count),
    "id": lambda columns, count: _either(columns, "id", "id_number", count),
}
