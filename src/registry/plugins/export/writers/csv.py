"""`csv`: the columns as text; lists are JSON, a missing value is empty, an empty text is quoted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.csv as pc

from registry.plugins.export.writers.jsonl import json_line
from registry.plugins.export.writers.tables import row_groups, schema_of

if TYPE_CHECKING:
    from registry.plugins.export.exported import Exported

__all__ = ["write"]

_TEXT = pa.large_string()


def write(exported: Exported, file: BinaryIO) -> None:
    """Write a header and a row per sample."""
    schema = pa.schema([pa.field(name, _TEXT) for name in schema_of(exported).names])
    options = pc.WriteOptions(include_header=True, delimiter=",", quoting_style="needed")
    with pc.CSVWriter(file, schema, write_options=options) as writer:
        for group in row_groups(exported):
            columns = [_text(column) for column in group.columns]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))


def _text(column: pa.Array) -> pa.Array:
    """Return a column as text; lists become JSON."""
    if column.type == _TEXT:
        return column
    if column.null_count == len(column):
        return pa.nulls(len(column), _TEXT)
    return pa.array([_json(value) for value in column.to_pylist()], _TEXT)


def _json(value: Any) -> str | None:
    return None if value is None else json_line(value).decode().rstrip("\n")
