"""Bytes of a file → columns, where these hold exactly what the records do.

Where they would not, `NotColumnarError` is raised, and the rest of the file, from the first record
that no frame held, is read record by record; that also words the error of an invalid file.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from registry.decode.frame import Frame, NotColumnarError, Wanted

if TYPE_CHECKING:
    from registry.decode.stream import SourceBytes
    from registry.manifest.source import Source

__all__ = ["Frame", "NotColumnarError", "Wanted", "decode_tables"]

# Imported on use: each of them loads a part of pyarrow that takes time.
TABLE_DECODERS = {
    "csv": ("csv_tables", "read_csv_tables"),
    "json": ("json_tables", "read_json_tables"),
    "parquet": ("arrow_tables", "read_parquet_tables"),
    "hf": ("arrow_tables", "read_arrow_tables"),
}


def decode_tables(file: SourceBytes, source: Source, wanted: Wanted) -> Iterator[Frame]:
    """Yield the records of one file of a source as columns, in the file's order.

    Args:
        file: The file.
        source: Its type and options.
        wanted: Columns to read, None for all; those that the file lacks are left out.

    Raises:
        NotColumnarError: what follows can't be read this way exactly.
    """
    if source.type not in TABLE_DECODERS:
        raise NotColumnarError(f"{source.type} is decoded record by record")
    module, function = TABLE_DECODERS[source.type]
    decoder = getattr(importlib.import_module(f"registry.decode.{module}"), function)
    frames: Iterator[Frame] = decoder(file, source, wanted)
    return frames
