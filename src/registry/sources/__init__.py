"""Where bytes live: pin what a source holds now, then fetch exactly that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.sources.source_type import reader_of

if TYPE_CHECKING:
    from registry.decode.stream import SourceBytes
    from registry.manifest.source import Source
    from registry.sources.pins import SourceContext, SourcePin

# A function called like a module of this package would hide it from `import … as`.
__all__ = ["fetch", "pin", "probe"]


def pin(source: Source, context: SourceContext) -> SourcePin:
    """Find out what a source holds now; see `SourceType.pin`."""
    return reader_of(source).pin(context)


def probe(source: Source, context: SourceContext) -> SourcePin | None:
    """Find out the version of a source without reading whole files; see `SourceType.probe`."""
    return reader_of(source).probe(context)


def fetch(
    source: Source, pinned: SourcePin, context: SourceContext, *, rows: int | None = None
) -> list[SourceBytes]:
    """Return the files of a pin or a probe; see `SourceType.fetch`."""
    return reader_of(source).fetch(pinned, context, rows=rows)
