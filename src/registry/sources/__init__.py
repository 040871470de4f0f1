"""Where bytes live: pin what a source holds now, then fetch exactly that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.manifest.models import HfSource, Source
from registry.sources.files import pin_files, probe_files
from registry.sources.hub import pin_hub, probe_hub

if TYPE_CHECKING:
    from registry.decode.stream import SourceBytes
    from registry.sources.pins import SourceContext, SourcePin

__all__ = ["fetch", "pin", "probe"]


def pin(source: Source, context: SourceContext) -> SourcePin:
    """Find out what a source holds now: digests of its files, or a commit.

    A remote file that has changed is fetched for it. A full commit needs no request.

    Raises:
        SourceError: it can't be reached, or is not there.
        OfflineError: requests are switched off, and the cache does not know the source.
    """
    if isinstance(source, HfSource):
        return pin_hub(source, context)
    return pin_files(source.path, source.fs_options, context)


def probe(source: Source, context: SourceContext) -> SourcePin | None:
    """Find out what a source is at now, for a build of its first samples: nothing is read whole.

    None where that can't be told, or is not worth it.
    """
    if isinstance(source, HfSource):
        return probe_hub(source, context)
    return probe_files(source.path, source.fs_options, context)


def fetch(
    source: Source, pinned: SourcePin, context: SourceContext, *, rows: int | None = None
) -> list[SourceBytes]:
    """Return the files of a pin: on this machine, or of a glance where they are.

    Args:
        source: The source.
        pinned: What it held.
        context: How it may be read.
        rows: How many records of a glance at the Hub are needed.

    Raises:
        SourceError: what is there now is not what was pinned.
    """
    # What is in the cache is not fetched, so opening it does without these.
    from registry.sources.fetch import fetch_files
    from registry.sources.hub_download import fetch_hub, fetch_hub_part

    if isinstance(source, HfSource):
        if rows is not None:
            return [fetch_hub_part(source, pinned, context, rows)]
        return [fetch_hub(source, pinned, context)]
    return fetch_files(source.fs_options, pinned, context)
