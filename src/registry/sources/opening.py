"""Find the files of a location, and open them; a stream of one survives a lost connection."""

from __future__ import annotations

import contextlib
import functools
import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from glob import has_magic
from typing import IO, TYPE_CHECKING, Any, cast

from registry.base.digest import digest_of
from registry.base.locations import Location, package_location
from registry.boundary.boundary import Boundary
from registry.boundary.paths import list_files
from registry.errors import SourceError
from registry.progress import Deadline
from registry.settings import deadline_seconds
from registry.sources.filesystem import (
    FilesystemPool,
    changed_error,
    filesystem,
    missing_error,
    offline_error,
    source_errors,
)
from registry.sources.retry import network_policy

if TYPE_CHECKING:
    from registry.decode.stream import Ranges
    from registry.sources.archives import OpenArchive
    from registry.sources.pins import SourceContext

__all__ = ["Opener", "expand", "expand_or_recall", "has_ranges", "open_location", "open_ranges"]

Opener = Callable[[Location], "OpenArchive"]
"""Returns how to open an archive at a location."""
# Options for reading only the start of a file. By default s3fs requests 50 MB at a time.
_IN_PARTS = {"block_size": 1 << 18, "cache_type": "readahead"}
_BUFFER = 1 << 20
_WITH_ETAGS = ("http", "https", "hf", "s3", "s3a")


def expand(
    path: Location, pool: FilesystemPool, open_archive: Opener, boundary: Boundary
) -> list[Location]:
    """Return the locations that a path or glob matches; those of a glob are sorted by name.

    Raises:
        ReachError: a glob leads outside the boundary.
        SourceError: a glob matches nothing, or the file system does not support globs.
    """
    if not _is_glob(path):
        return [path]
    if path.member is not None:
        from registry.sources.archives import match_members  # few datasets are in archives

        found = match_members(path, open_archive(path.file), boundary.limits)
        if not found:
            raise SourceError(f"{path.public}: no member matches")
        return found
    # A local file may have a name that looks like a glob.
    if path.is_local and os.path.exists(path.local_path()):
        return [path]
    if path.is_local:
        files = list_files(path.local_path(), boundary.of_location(path))
        if path.is_package:
            files = [package_location(path, file) for file in files]
        found = [*map(Location, files)]
    else:
        names = pool.ask(path, lambda files, path: map(files.unstrip_protocol, files.glob(path)))
        found = sorted(map(Location, names))
        if len(found) > boundary.limits.files:
            message = boundary.limits.message("files", "the glob matches", "files")
            raise SourceError(f"{path.public}: {message}")
    if not found:
        raise missing_error(path, "no file matches")
    return found


def expand_or_recall(
    paths: Sequence[Location], pool: FilesystemPool, context: SourceContext
) -> dict[Location, list[Location]]:
    """Expand each path; offline, a remote glob has the result of its last expansion.

    Raises:
        OfflineError: a remote glob was never expanded.
    """
    open_archive = partial(_opener, pool=pool, context=context)
    if all(path.is_local or not _is_glob(path) for path in paths):
        return {path: expand(path, pool, open_archive, context.boundary) for path in paths}
    key = digest_of({"paths": list(paths), "options": dict(pool.options)})
    if not context.offline:
        found = {path: expand(path, pool, open_archive, context.boundary) for path in paths}
        context.cache.remember(key, {"found": found})
        return found
    known = context.cache.recall(key, "found")
    if known is None:
        raise offline_error(paths[0])
    return {Location(path): [*map(Location, found)] for path, found in known["found"].items()}


def _opener(location: Location, *, pool: FilesystemPool, context: SourceContext) -> OpenArchive:
    """Return how to open an archive; a remote one is downloaded to the blobs."""
    if location.is_local:
        return partial(open_location, location, {}, context.boundary)
    from registry.sources.remote_files import fetch_blob, pin_remote

    blob = fetch_blob(pin_remote(location, pool, context), pool, context)
    return lambda: blob.open("rb")


@functools.lru_cache(maxsize=256)
def _is_glob(path: Location) -> bool:
    if path.member is not None:
        return has_magic(path.member.path)
    # In a URL `?` starts the query, and HTTP has no way to list files.
    return has_magic(path) and path.protocol not in ("http", "https")


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
