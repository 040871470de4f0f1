"""Samples as tables: JSON Lines, CSV, Parquet and Arrow, all from the same rows and buffers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from registry.api import SETTINGS, Progress, encode_value, field_data, frame_schema
from registry.plugins.export.exported import PROVENANCE_KEY, Exported, provenance_text

if TYPE_CHECKING:
    from registry import ChatMessage, Sample

__all__ = [
    "json_line",
    "message_data",
    "record_of",
    "regrouped",
    "row_groups",
    "schema_of",
    "write_arrow",
    "write_csv",
    "write_jsonl",
    "write_parquet",
]


_UNIT_ROWS = 256
_GROUP_UNITS = 256
"""Units of the largest row group: 65,536 rows."""
_GROUP_BYTES = 64 << 20
"""Text of a row group, after which no unit is added; one group is in memory at a time."""

# Created once: `json.dumps` with options creates a new encoder on each call.
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_ENCODE_ASCII = json.JSONEncoder(separators=(",", ":")).encode

_STRING = pa.large_string()


def schema_of(exported: Exported) -> pa.Schema:
    """Return the columns of docs/reference/interop.md, with the provenance in the metadata."""
    return frame_schema().with_metadata({PROVENANCE_KEY: provenance_text(exported.provenance)})


def row_groups(exported: Exported) -> Iterator[pa.RecordBatch]:
    """Yield the samples in groups whose rows depend on nothing but the samples."""
    schema, done = schema_of(exported), 0
    for group in regrouped(exported.dataset.batches()):
        done += group.num_rows
        exported.report(Progress("write", done, len(exported.dataset)))
        yield group.cast(schema)


def regrouped(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of batches of any sizes in groups that do not depend on these sizes."""
    group: list[pa.RecordBatch] = []
    size = 0
    for unit in _units(batches):
        group.append(unit)
        size += sum(map(_text_bytes, unit.columns))
        if len(group) == _GROUP_UNITS or size >= _GROUP_BYTES:
            yield pa.concat_batches(group)
            group, size = [], 0
    if group:
        yield pa.concat_batches(group)


def _units(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows in units of the same number of rows; the last may have fewer."""
    parts: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            part = batch.slice(start, _UNIT_ROWS - rows)
            start, rows = start + part.num_rows, rows + part.num_rows
            parts.append(part)
            if rows == _UNIT_ROWS:
                yield _plain(parts)
                parts, rows = [], 0
    if parts:
        yield _plain(parts)


def _plain(parts: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Return parts as one batch with buffers of its own: none of bytes below a null, or beside."""
    rows = sum(part.num_rows for part in parts)
    return pa.concat_batches(parts).take(pa.array(np.arange(rows)))


def _text_bytes(column: pa.Array) -> int:
    """Return the bytes of all strings in a column, at any depth."""
    kind = column.type
    if pa.types.is_large_string(kind):
        return int(pc.sum(pc.binary_length(column)).as_py() or 0)
    if pa.types.is_struct(kind):
        return sum(map(_text_bytes, column.flatten()))
    return _text_bytes(column.flatten()) if pa.types.is_large_list(kind) else 0


def write_jsonl(exported: Exported, file: BinaryIO) -> None:
    """Write a line per sample."""
    file.writelines(json_line(record_of(sample)) for sample in exported.samples())


def json_line(record: Any) -> bytes:
    """Return JSON data as a line."""
    try:
        return f"{_ENCODE(record)}\n".encode()
    except UnicodeEncodeError:  # a lone surrogate has no UTF-8, but an escape
        return f"{_ENCODE_ASCII(record)}\n".encode()


def record_of(sample: Sample) -> dict[str, Any]:
    """Return a sample as JSON data.

    Every record has the first five keys, the other fields only where they are set. A value that
    JSON lacks, such as a date in the metadata, is an object with one key that starts with `$`.
    """
    text = sample.input
    record = {
        "input": text if isinstance(text, str) else [message_data(message) for message in text],
        "target": sample.target,
        "choices": sample.choices,
        "id": sample.id,
        "metadata": encode_value(sample.metadata),
    }
    rare = {name: _setting(name, getattr(sample, name)) for name in SETTINGS}
    return record | {key: value for key, value in rare.items() if value is not None}


def message_data(message: ChatMessage) -> dict[str, Any]:
    """Return a message as JSON data, without its id, which is random if the source has none."""
    data = message.model_dump(exclude={"id"}, exclude_none=True)
    # What every reader of a prompt sets.
    if data.get("source") == "input":
        del data["source"]
    encoded: dict[str, Any] = encode_value({"role": data.pop("role"), **data})
    return encoded


def _setting(name: str, value: Any) -> Any:
    if name == "sandbox" and value is not None and value.config is None:
        return value.type
    return encode_value(field_data(name, value))


def write_csv(exported: Exported, file: BinaryIO) -> None:
    """Write a header and a row per sample."""
    schema = pa.schema([pa.field(name, _STRING) for name in schema_of(exported).names])
    options = pa_csv.WriteOptions(include_header=True, delimiter=",", quoting_style="needed")
    with pa_csv.CSVWriter(file, schema, write_options=options) as writer:
        for group in row_groups(exported):
            columns = [_text(column) for column in group.columns]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))


def _text(column: pa.Array) -> pa.Array:
    """Return a column as text; lists become JSON."""
    if column.type == _STRING:
        return column
    if column.null_count == len(column):
        return pa.nulls(len(column), _STRING)
    return pa.array(
        [
            (None if value is None else json_line(value).decode().rstrip("\n"))
            for value in column.to_pylist()
        ],
        _STRING,
    )


def write_parquet(exported: Exported, file: BinaryIO) -> None:
    """Write a row group per group of rows."""
    # The bytes must not follow a change of the defaults.
    writer = pq.ParquetWriter(
        file,
        schema_of(exported),
        version="2.6",
        compression="zstd",
        compression_level=3,
        use_dictionary=True,
        data_page_version="1.0",
        write_statistics=True,
        store_schema=True,
    )
    with writer:
        for group in row_groups(exported):
            writer.write_table(pa.Table.from_batches([group]), row_group_size=group.num_rows)


def write_arrow(exported: Exported, file: BinaryIO) -> None:
    """Write a batch per row group."""
    # The defaults, named: the bytes must not follow a change of them.
    options = pa.ipc.IpcWriteOptions(
        metadata_version=pa.ipc.MetadataVersion.V5, allow_64bit=False, compression=None
    )
    with pa.ipc.new_file(file, schema_of(exported), options=options) as writer:
        for group in row_groups(exported):
            writer.write_batch(group)
