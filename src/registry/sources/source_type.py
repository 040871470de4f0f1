"""The interface of a source type, and the reader of a source."""

from __future__ import annotations

from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from registry.decode.frame import AnyFrame, Wanted
    from registry.decode.stream import SourceBytes
    from registry.manifest.source import Source
    from registry.sources.facts import SourceFacts
    from registry.sources.pins import SourceContext, SourcePin

__all__ = ["FormatReader", "SourceType", "reader_of", "records_of"]

_Model = TypeVar("_Model", bound="Source")


class SourceType(Protocol):
    """Reads one source. A new source type implements this in its own module."""

    def pin(self, context: SourceContext) -> SourcePin:
        """Find out what the source holds now: the digests of its files, or a commit.

        Raises:
            SourceError: it can't be reached, or does not exist.
            OfflineError: requests are disabled, and the source is not in the cache.
        """

    def probe(self, context: SourceContext) -> SourcePin | None:
        """Find out the version of the source without reading whole files.

        Returns None if nothing distinguishes its versions, or if pinning is as cheap.
        """

    def facts(self, context: SourceContext, *, rows: int | None) -> SourceFacts:
        """Ask what the source holds now.

        With the answer, the first `rows` records can be read; None for all.

        Raises:
            SourceError: it does not exist, or can't be reached.
        """

    def fetch(
        self, pinned: SourcePin, context: SourceContext, *, rows: int | None = None
    ) -> list[SourceBytes]:
        """Return the files of a pin, downloaded, or of a probe, opened at their location.

        `rows` is the number of records that will be read, None for all.

        Raises:
            SourceError: the source no longer holds what was pinned.
        """

    def decode(self, file: SourceBytes, *, strict: bool = True) -> Iterator[dict[str, Any]]:
        """Yield the records of a file in order.

        With `strict`, values that a record can't represent exactly are an error.

        Raises:
            DecodeError: the file is invalid for the source's type.
        """

    def decode_tables(self, file: SourceBytes, wanted: Wanted) -> Generator[AnyFrame]:
        """Yield the records of a file in order, as columns.

        Raises:
            NotColumnarError: the remaining records can only be read with `decode`. A type
                without columnar decoding raises it immediately.
        """


def reader_of(source: Source) -> SourceType:
    """Return the reader of a source."""
    # Imported by name, because the models are below `sources`, and the Hub's module is slow.
    module, _, name = source.reader.partition(":")
    return cast("SourceType", getattr(import_module(module), name)(source))


def records_of(
    source: Source, pinned: SourcePin, context: SourceContext
) -> Iterator[dict[str, Any]]:
    """Return an iterator over the records of a pinned source, file by file."""
    reader = reader_of(source)
    return chain.from_iterable(map(reader.decode, reader.fetch(pinned, context)))


class FormatReader(Generic[_Model]):
    """Decodes a source's files with the decoder that `registry.decode` has for its type."""

    def __init__(self, source: _Model) -> None:
        self.source = source

    def decode(self, file: SourceBytes, *, strict: bool = True) -> Iterator[dict[str, Any]]:
        """Yield the records of a file."""
        from registry.decode import decode

        return decode(file, self.source, strict=strict)

    def decode_tables(self, file: SourceBytes, wanted: Wanted) -> Generator[AnyFrame]:
        """Yield the records of a file as columns."""
        from registry.decode import decode_tables

        return decode_tables(file, self.source, wanted)
