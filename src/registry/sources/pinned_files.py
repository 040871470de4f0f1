"""The bytes of pinned files: local, or in the blobs, downloaded if necessary."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

from msgspec.structs import replace

from registry.base.fs import HashedFile
from registry.base.local_files import FileState
from registry.base.locations import Location
from registry.base.materials import Parts
from registry.boundary.boundary import UNBOUNDED, Boundary, Limits
from registry.decode.stream import SourceBytes
from registry.errors import SourceError
from registry.progress import Progress
from registry.sources.archives import OpenArchive, open_member
from registry.sources.filesystem import (
    FilesystemPool,
    changed_error,
    offline_error,
    option_errors,
    source_errors,
)
from registry.sources.opening import expand, has_ranges, open_location, open_ranges
from registry.sources.pins import PartsError, PinnedFile, SourceContext, SourcePin
from registry.sources.remote_files import fetch_blob

__all__ = ["fetch_files", "open_files", "parts_again", "parts_worth_it"]

_PARTS_AHEAD = 16
"""Parts that are requested at a time."""


def open_files(paths: Sequence[Location], options: Mapping[str, Any]) -> list[SourceBytes]:
    """Return files opened at their location, without the cache; for the loaders."""
    pool = FilesystemPool(options, UNBOUNDED)
    return [
        SourceBytes(
            Location(location.public),
            _opener(location, options),
            ranges=partial(open_ranges, location, options, UNBOUNDED)
            if has_ranges(location)
            else None,
        )
        for path in paths
        for location in expand(path, pool, partial(_open_seekable, options=options), UNBOUNDED)
    ]


def fetch_files(
    options: Mapping[str, Any],
    pinned: SourcePin,
    context: SourceContext,
    *,
    mirrors: Sequence[str] = (),
) -> list[SourceBytes]:
    """Return the files of a pin, remote ones from the blobs.

    Raises:
        OfflineError: a file is not in the blobs.
        SourceError: a file can't be downloaded, or has changed since it was pinned.
    """
    pool = FilesystemPool(options, context.boundary, context.deadline, context.report)
    # The bytes of an archive are hashed once, not for each of its members.
    stored = {file.location.file: file for file in pinned.files}
    fetched = {
        location: _fetch_file(replace(file, location=location), pool, context, mirrors)
        for location, file in stored.items()
    }
    limits = context.boundary.limits
    return [_member(file.location, fetched[file.location.file], limits) for file in pinned.files]


def _member(location: Location, stored: SourceBytes, limits: Limits) -> SourceBytes:
    """Return a member of an archive, or the file itself."""
    if location.member is None:
        return dataclasses.replace(stored, limits=limits)
    name = Location(location.public.removesuffix("?…"))
    return SourceBytes(name, partial(open_member, location, stored.open, limits), limits=limits)


def _fetch_file(
    file: PinnedFile, pool: FilesystemPool, context: SourceContext, mirrors: Sequence[str]
) -> SourceBytes:
    name = Location(file.location.public)
    if file.location.is_local:
        # Checked here too, as `datasets` opens the path by itself.
        context.boundary.check_location(file.location)
        opener = partial(_open_unchanged, file, context.boundary)
        return SourceBytes(name, opener, file.location.local_path())
    name = Location(name.removesuffix("?…"))
    if not file.sha256:  # from a probe: only its start is read, at its location
        if context.offline:
            raise offline_error(file.location)
        where, etag = (file.location, pool.options, pool.boundary), file.etag or ""
        start = partial(open_location, *where, part=True, etag=etag)
        ranges = partial(open_ranges, *where, etag=etag, size=file.size)
        return SourceBytes(name, start, ranges=ranges if has_ranges(file.location) else None)
    if context.parts and file.parts is not None and not context.cache.blob(file.sha256).is_file():
        return _fetch_parts(file, file.parts, pool, context)
    return SourceBytes.of_file(name, fetch_blob(file, pool, context, mirrors=mirrors))


def _fetch_parts(
    file: PinnedFile, parts: Parts, pool: FilesystemPool, context: SourceContext
) -> SourceBytes:
    """Return a file of which only the pinned parts are here; they are downloaded if necessary.

    Raises:
        PartsError: they have another digest or can't be had, so the whole file decides.
    """
    from registry.decode.parquet_parts import PartsFile  # loads pyarrow

    name = Location(file.location.public)
    path = context.cache.intact_blob(parts.sha256)
    if path is None and context.offline:
        raise PartsError(f"{name}: its parts are not in the cache")
    if path is None:
        with context.working("blobs", parts.sha256) as holding:
            path = context.cache.intact_blob(parts.sha256)
            path = path or _download_parts(file, parts, pool, holding)
    more = PartsError(f"{name}: more of it is read than its pinned parts")

    def refuse() -> IO[bytes]:
        raise more

    return SourceBytes(name, refuse, ranges=partial(PartsFile, path, more))


def _download_parts(
    file: PinnedFile, parts: Parts, pool: FilesystemPool, context: SourceContext
) -> Path:
    from registry.decode.parquet_parts import bytes_of, header_of, places_of
    from registry.sources.ranges import RemoteRanges

    fault = "its parts are not those that datasets.lock pins"
    with context.cache.temporary() as folder, HashedFile(folder / "parts") as written:
        try:
            with option_errors(file.location):
                files = pool.of(file.location)
            # Under any ETag, as long as it stays the same: what counts is the digest.
            with RemoteRanges(file.location, files, context.deadline, size=file.size) as remote:
                places, size = places_of(remote, parts.columns)
                # Not far, if the footer is another one.
                most = context.boundary.limits.unpacked_bytes
                places = places if sum(map(len, places)) == parts.size <= most else []
                written.write(header_of(places, size))
                for at in range(0, len(places), _PARTS_AHEAD):
                    remote.expect(places[at : at + _PARTS_AHEAD], only=True)
                    for piece in bytes_of(remote, places[at : at + _PARTS_AHEAD]):
                        written.write(piece)
                        context.report(Progress("fetch", written.tell(), parts.size))
        except SourceError as error:
            fault = f"its parts can't be had: {error}"
        except ValueError:  # no footer
            pass
        if written.sha256 == parts.sha256:
            written.close()
            return context.cache.store_blob(folder / "parts", parts.sha256)
    raise PartsError(f"{file.location.public}: {fault}")


def parts_worth_it(
    file: PinnedFile, wanted: frozenset[str] | None, context: SourceContext
) -> Parts | None:
    """Return what a pin has of a remote Parquet file whose whole is here; None if nothing."""
    blob = context.cache.blob(file.sha256)
    if wanted is None or not (has_ranges(file.location) and blob.is_file()):
        return None
    from registry.decode import parquet_parts

    return parquet_parts.parts_worth_it(blob, wanted)


def parts_again(blob: Path, parts: Parts | None) -> Parts | None:
    """Return the parts that a whole file has, for the columns of pinned ones."""
    from registry.decode.parquet_parts import digest_parts

    return None if parts is None else digest_parts(blob, parts.columns)


def _opener(location: Location, options: Mapping[str, Any]) -> OpenArchive:
    if location.member is None:
        return partial(open_location, location, options, UNBOUNDED)
    return partial(open_member, location, _open_seekable(location.file, options))


def _open_seekable(location: Location, options: Mapping[str, Any]) -> OpenArchive:
    """Return how to open an archive; a remote one is copied, as its server may not seek."""
    if location.is_local:
        return partial(open_location, location, options, UNBOUNDED)
    return partial(_open_copy, location, options)


@contextlib.contextmanager
def _open_copy(location: Location, options: Mapping[str, Any]) -> Iterator[IO[bytes]]:
    with tempfile.TemporaryFile() as copy:
        with open_location(location, options, UNBOUNDED) as remote:
            shutil.copyfileobj(remote, copy)
        copy.seek(0)
        yield copy


@contextlib.contextmanager
def _open_unchanged(file: PinnedFile, boundary: Boundary) -> Iterator[IO[bytes]]:
    """Open a local file; raise an error if it changed since it was pinned or while it was read."""
    path = Location(file.location.local_path())
    with source_errors(path):
        with boundary.open_location(file.location) as opened:
            before = FileState.of(os.fstat(opened.fileno()))
            if before.size != file.size or file.state not in (None, before):
                raise changed_error(path)
            yield opened
        if FileState.of(path) != before:
            raise changed_error(path)
