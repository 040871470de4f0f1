"""Where bytes live: pin what a source holds now, then fetch exactly that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.manifest.models import HfSource, Source
from registry.sources.files import glance_at_files, pin_files
from registry.sources.hub import glance_at_hub, pin_hub

if TYPE_CHECKING:
    from registry.decode.stream import SourceBytes
    from registry.sources.pins import Access, SourcePin

__all__ = ["fetch", "glance", "pin"]


def pin(source: Source, access: Access) -> SourcePin:
    """Find out what a source holds now: digests of its files, or a commit.

    A remote file that has changed is fetched for it. A full commit needs no request.

    Raises:
        SourceError: it can't be reached, or is not there.
        OfflineError: requests are switched off, and the cache does not know the source.
    """
    if isinstance(source, HfSource):
        return pin_hub(source, access)
    return pin_files(source.path, source.fs_options, access)


def glance(source: Source, access: Access) -> SourcePin | None:
    """Find out what a source is at now, for a build of its first samples: nothing is read whole.

    None where that can't be told, or is not worth it.
    """
    if isinstance(source, HfSource):
        return glance_at_hub(source, access)
    return glance_at_files(source.path, source.fs_options, access)


def fetch(
    source: Source, pinned: SourcePin, access: Access, *, rows: int | None = None
) -> list[SourceBytes]:
    """Return the files of a pin: on this machine, or of a glance where they are.

    Args:
        source: The source.
        pinned: What it held.
        access: How it may be read.
        rows: How many records of a glance at the Hub are needed.

    Raises:
        SourceError: what is there now is not what was pinned.
    """
    # What is in the cache is not fetched, so opening it does without these.
    from registry.sources.fetch import fetch_files
    from registry.sources.hub_download import fetch_hub, fetch_hub_part

    if isinstance(source, HfSource):
        if rows is not None:
            return [fetch_hub_part(source, pinned, access, rows)]
        return [fetch_hub(source, pinned, access)]
    return fetch_files(source.fs_options, pinned, access)
