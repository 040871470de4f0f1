"""Decode the bytes of a file to records: a module and a row of the table for each format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from registry.decode.arrow_records import read_arrow, read_parquet
from registry.decode.csv_records import read_csv
from registry.decode.json_records import read_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.decode.stream import SourceBytes
    from registry.manifest.source import Source
    from registry.samples.sample import DatasetRecord

__all__ = ["DECODERS", "decode"]


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
