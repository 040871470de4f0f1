"""Open a location for reading: a local file, or a stream that survives a lost connection."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any, cast

from registry.base.locations import Location
from registry.boundary.boundary import Boundary
from registry.progress import Deadline
from registry.settings import deadline_seconds
from registry.sources.filesystem import changed_error, filesystem, source_errors
from registry.sources.retry import network_policy

if TYPE_CHECKING:
    from registry.decode.stream import Ranges

__all__ = ["has_ranges", "open_location", "open_ranges"]

# Options for reading only the start of a file. By default s3fs requests 50 MB at a time.
_IN_PARTS = {"block_size": 1 << 18, "cache_type": "readahead"}
_BUFFER = 1 << 20
_WITH_ETAGS = ("http", "https", "hf", "s3", "s3a")


def has_ranges(location: Location) -> bool:
    """Return whether `open_ranges` opens it: its parts come with what tells versions apart."""
    return location.protocol in _WITH_ETAGS


@contextlib.contextmanager
def open_location(
    location: Location,
    options: Mapping[str, Any],
    boundary: Boundary,
    *,
    part: bool = False,
    etag: str = "",
) -> Iterator[IO[bytes]]:
    """Open a location for reading bytes.

    With `part` only the start of the file will be read, so little is requested at a time. A remote
    file with another ETag has changed.
    """
    with source_errors(location):
        if location.is_local and boundary.is_open:  # also a pipe, such as /dev/stdin
            file = cast("IO[bytes]", open(location.local_path(), "rb"))  # noqa: SIM115
        elif location.is_local:
            file = cast("IO[bytes]", boundary.open_location(location))
        else:
            file = _open_remote(location, options, boundary, part=part, etag=etag)
        with file:
            yield file


@contextlib.contextmanager
def open_ranges(
    location: Location,
    options: Mapping[str, Any],
    boundary: Boundary,
    *,
    etag: str = "",
    size: int | None = None,
) -> Iterator[Ranges]:
    """Open a remote file of which parts are read, as `RemoteRanges` does."""
    from registry.sources.ranges import RemoteRanges  # few datasets need it

    with source_errors(location):
        files = filesystem(location, options, boundary)
        with RemoteRanges(
            location, files, Deadline(deadline_seconds()), etag=etag, size=size
        ) as opened:
            yield opened


def _open_remote(
    location: Location, options: Mapping[str, Any], boundary: Boundary, *, part: bool, etag: str
) -> IO[bytes]:
    is_s3 = location.protocol in ("s3", "s3a")
    if location.protocol in ("http", "https", "hf") or (is_s3 and not part):
        from registry.sources.transfer import RemoteFile  # a warm open imports this module

        files = filesystem(location, options, boundary)
        stream = RemoteFile(location, files, Deadline(deadline_seconds()), etag=etag)
        return cast("IO[bytes]", io.BufferedReader(stream, _BUFFER))
    files = filesystem(location, options, boundary, attempts=network_policy().attempts)
    opened = cast("IO[bytes]", files.open(location, "rb", **(_IN_PARTS if is_s3 else {})))
    found = getattr(opened, "details", None) or {}
    if etag and found.get("ETag", etag) != etag:
        opened.close()
        raise changed_error(location)
    return opened
