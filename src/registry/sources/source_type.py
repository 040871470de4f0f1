"""What the reader of a type of source must do, and where it is found."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.decode.frame import Frame, Wanted
    from registry.decode.stream import SourceBytes
    from registry.manifest.source import Source
    from registry.sources.pins import SourceContext, SourcePin

__all__ = ["FormatReader", "SourceType", "reader_of"]


class SourceType(Protocol):
    """Reads one source. A new type of source implements this in a module of its own."""

    def pin(self, context: SourceContext) -> SourcePin:
        """Find out what the source holds now: the digests of its files, or a commit.

        Raises:
            SourceError: it can't be reached, or is not there.
            OfflineError: requests are switched off, and the cache does not know the source.
        """

    def probe(self, context: SourceContext) -> SourcePin | None:
        """Find out the version of the source without reading whole files.

        None if nothing tells its versions apart, or if pinning is as cheap.
        """

    def fetch(
        self, pinned: SourcePin, context: SourceContext, *, rows: int | None = None
    ) -> list[SourceBytes]:
        """Return the files of a pin, downloaded, or of a probe, where they are.

        `rows` is how many records will be read, None for all.

        Raises:
            SourceError: the source no longer holds what was pinned.
        """

    def decode(self, file: SourceBytes, *, strict: bool = True) -> Iterator[dict[str, Any]]:
        """Yield the records of a file, in its order.

        With `strict`, data that would be lost is an error.

        Raises:
            DecodeError: the file is not what the source's type says.
        """

    def decode_tables(self, file: SourceBytes, wanted: Wanted) -> Iterator[Frame]:
        """Yield the records of a file as columns, in its order.

        Raises:
            NotColumnarError: the records that follow can only be read with `decode`. A type
                without columnar decoding raises it at once.
        """


def reader_of(source: Source) -> SourceType:
    """Return the reader of a source; its module is imported only now."""
    module, _, name = source.reader.partition(":")
    return cast("SourceType", getattr(import_module(module), name)(source))


class FormatReader:
    """Decodes a source's files with the decoder that `registry.decode` has for its type."""

    def __init__(self, source: Source) -> None:
        self._format = source

    def decode(self, file: SourceBytes, *, strict: bool = True) -> Iterator[dict[str, Any]]:
        """Yield the records of a file."""
        from registry.decode import decode

        return decode(file, self._format, strict=strict)

    def decode_tables(self, file: SourceBytes, wanted: Wanted) -> Iterator[Frame]:
        """Yield the records of a file as columns."""
        from registry.decode.tables import decode_tables

        return decode_tables(file, self._format, wanted)
