"""Row groups of an export: the same rows and buffers, however the samples are stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.api import Progress, frame_schema
from registry.plugins.export.exported import PROVENANCE_KEY, provenance_text

if TYPE_CHECKING:
    from registry.plugins.export.exported import Exported

__all__ = ["regrouped", "row_groups", "schema_of"]

_UNIT_ROWS = 256
_GROUP_UNITS = 256
"""Units of the largest row group: 65,536 rows."""
_GROUP_BYTES = 64 << 20
"""Text of a row group, after which no unit is added; one group is in memory at a time."""


def schema_of(exported: Exported) -> pa.Schema:
    """Return the columns of docs/interop.md, with the provenance in the metadata."""
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
