"""Decode the bytes of a file to columns with exactly the same values as the records.

If they would differ, or the file is invalid, `NotColumnarError` is raised. The caller then reads
the file from the first record that was in no frame record by record, which reports any error.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from registry.decode.frame import AnyFrame, Frame, NotColumnarError, Wanted

if TYPE_CHECKING:
    from registry.decode.stream import SourceBytes
    from registry.manifest.source import Source

__all__ = ["AnyFrame", "Frame", "NotColumnarError", "Wanted", "decode_tables"]

# Imported on first use: each module loads a part of pyarrow, which takes time.
TABLE_DECODERS = {
    "csv": ("csv_tables", "read_csv_tables"),
    "json": ("json_batches", "read_json_batches"),
    "parquet": ("arrow_tables", "read_parquet_tables"),
    "hf": ("arrow_tables", "read_arrow_tables"),
}


def decode_tables(file: SourceBytes, source: Source, wanted: Wanted) -> Iterator[AnyFrame]:
    """Yield the records of one file of a source as columns, in the file's order.

    Args:
        file: The file.
        source: Its type and options.
        wanted: Columns to read, None for all; columns that the file lacks are omitted.

    Raises:
        NotColumnarError: the rest of the file must be read record by record.
    """
    if source.type not in TABLE_DECODERS:
        raise NotColumnarError(f"{source.type} is decoded record by record")
    module, function = TABLE_DECODERS[source.type]
    decoder = getattr(importlib.import_module(f"registry.decode.{module}"), function)
    frames: Iterator[AnyFrame] = decoder(file, source, wanted)
    return frames
