"""Bytes of a file → whole columns, where they are exactly what the records hold.

Where a file is outside of that, `NotColumnarError` says so and the records are read one by one,
from the first that no frame held; that road also words what is wrong with the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from registry.decode.frame import Frame, NotColumnarError, Wanted

if TYPE_CHECKING:
    from registry.decode.stream import SourceBytes
    from registry.manifest.source import Source

__all__ = ["Frame", "NotColumnarError", "Wanted", "decode_tables"]


class TableDecoder(Protocol):
    """Yields the records of a file as frames."""

    def __call__(self, file: SourceBytes, source: Source, wanted: Wanted) -> Iterator[Frame]: ...


def _csv(file: SourceBytes, source: Source, wanted: Wanted) -> Iterator[Frame]:
    from registry.decode.csv_tables import read_csv_tables

    return read_csv_tables(file, source, wanted)


def _json(file: SourceBytes, source: Source, wanted: Wanted) -> Iterator[Frame]:
    from registry.decode.json_tables import read_json_tables

    return read_json_tables(file, source, wanted)


def _parquet(file: SourceBytes, source: Source, wanted: Wanted) -> Iterator[Frame]:
    from registry.decode.arrow_tables import read_parquet_tables

    return read_parquet_tables(file, source, wanted)


def _arrow(file: SourceBytes, source: Source, wanted: Wanted) -> Iterator[Frame]:
    from registry.decode.arrow_tables import read_arrow_tables

    return read_arrow_tables(file, source, wanted)


TABLE_DECODERS: dict[str, TableDecoder] = {
    "csv": _csv,
    "json": _json,
    "parquet": _parquet,
    "hf": _arrow,
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
    return TABLE_DECODERS[source.type](file, source, wanted)
