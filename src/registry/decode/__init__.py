"""Decode the bytes of a file to records, or to columns: a row of each table for each format."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Protocol

from registry.decode.arrow_files import read_arrow, read_parquet
from registry.decode.csv_records import read_csv
from registry.decode.frame import NotColumnarError
from registry.decode.json_records import read_json

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from registry.decode.frame import AnyFrame, Wanted
    from registry.decode.stream import SourceBytes
    from registry.manifest.source import Source
    from registry.samples.sample import DatasetRecord

__all__ = ["DECODERS", "TABLE_DECODERS", "decode", "decode_tables"]


class Decoder(Protocol):
    """Yields the records of a file."""

    def __call__(
        self, file: SourceBytes, source: Source, *, strict: bool
    ) -> Iterator[DatasetRecord]: ...


DECODERS: dict[str, Decoder] = {
    "csv": read_csv,
    "json": read_json,
    "parquet": read_parquet,
    "hf": read_arrow,
}

# Imported on first use: each module loads a part of pyarrow, which takes time.
TABLE_DECODERS = {
    "csv": ("csv_tables", "read_csv_tables"),
    "json": ("json_batches", "read_json_batches"),
    "parquet": ("arrow_files", "read_parquet_tables"),
    "hf": ("arrow_files", "read_arrow_tables"),
}


def decode(file: SourceBytes, source: Source, *, strict: bool = True) -> Iterator[DatasetRecord]:
    """Yield the records of one file of a source, in the file's order.

    Args:
        file: The file.
        source: Its type and options.
        strict: Refuse files that would lose data. The loaders are not strict, like Inspect's.

    Raises:
        DecodeError: the file does not have the format of the source; with its line if known.
    """
    return DECODERS[source.type](file, source, strict=strict)


def decode_tables(file: SourceBytes, source: Source, wanted: Wanted) -> Generator[AnyFrame]:
    """Yield the records of one file of a source as columns, in the file's order.

    The columns have exactly the values of the records. If they would differ, or the file is
    invalid, the caller reads the rest record by record, which reports any error.

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
    frames: Generator[AnyFrame] = decoder(file, source, wanted)
    return frames
