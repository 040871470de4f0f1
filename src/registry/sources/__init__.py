"""Where bytes live: pin what a source holds now, then fetch exactly that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.sources.files import fetch_files, pin_files
from registry.sources.hub import fetch_hub, pin_hub
from registry.spec import HfSource, Source

if TYPE_CHECKING:
    from registry.decode.bytes import SourceBytes
    from registry.sources.pin import Access, SourcePin

__all__ = ["fetch", "pin"]


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


def fetch(source: Source, pinned: SourcePin, access: Access) -> list[SourceBytes]:
    """Return the files of a pin, on this machine.

    Raises:
        SourceError: what is there now is not what was pinned.
    """
    if isinstance(source, HfSource):
        return [fetch_hub(source, pinned, access)]
    return fetch_files(source.fs_options, pinned, access)
