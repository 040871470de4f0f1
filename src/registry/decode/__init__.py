"""Bytes of a file → records: one module a format, one row of the table each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.decode.csv import read_csv
from registry.decode.json import read_json
from registry.decode.parquet import read_arrow, read_parquet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from registry.decode.bytes import SourceBytes
    from registry.sample import DatasetRecord
    from registry.spec import Source

__all__ = ["DECODERS", "decode"]

DECODERS: dict[str, Callable[[SourceBytes, Source], Iterator[DatasetRecord]]] = {
    "csv": read_csv,
    "json": read_json,
    "parquet": read_parquet,
    "hf": read_arrow,
}


def decode(file: SourceBytes, source: Source) -> Iterator[DatasetRecord]:
    """Yield the records of one file of a source, in the file's order.

    Raises:
        DecodeError: the file is not what the source's type says; with the line where known.
    """
    return DECODERS[source.type](file, source)
