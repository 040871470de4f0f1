"""What a source says about itself now: asked for, without reading or keeping its data."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from registry.base.local_files import FileState
from registry.base.locations import Location
from registry.errors import SourceError
from registry.progress import Deadline
from registry.settings import deadline_seconds
from registry.sources.filesystem import FilesystemPool, option_errors, source_errors
from registry.sources.opening import expand_or_recall, has_ranges
from registry.sources.ranges import RemoteRanges
from registry.sources.remote_files import look_up, validated
from registry.sources.retry import connection_failure, is_transient, status_of

if TYPE_CHECKING:
    from registry.boundary.boundary import Boundary
    from registry.manifest.source_models import FileSource, HfSource
    from registry.sources.pins import SourceContext, SourcePin

__all__ = ["FileFacts", "Missing", "SourceFacts", "file_facts", "hub_facts", "is_unreachable"]


class FileFacts(Struct, frozen=True):
    """One file, as its server describes it."""

    location: Location
    """Path or URL; may contain a secret."""
    size: int | None
    etag: str | None = None
    version_id: str | None = None


class Missing(Struct, frozen=True):
    """A part of a repository that does not exist."""

    kind: Literal["revision", "configuration", "split"]
    name: str | None
    """As the manifest names it; None if it must name one."""
    known: tuple[str, ...]
    """Those that exist."""


class SourceFacts(Struct, frozen=True, kw_only=True):
    """What a source says about itself."""

    revision: str | None = None
    """Commit of a repository."""
    missing: Missing | None = None
    """What the manifest names and the repository does not have; nothing else is known then."""
    rows: int | None = None
    """Number of records, where Parquet footers or the repository's card have it."""
    files: tuple[FileFacts, ...] = ()
    pin: SourcePin | None = None
    """How the first records can be read, with the cache that the question was asked with."""


def is_unreachable(error: BaseException) -> bool:
    """Return whether an error says something about the network, and nothing about the source."""
    if isinstance(error, SourceError) and error.transient:
        return True
    if is_transient(error) or (status_of(error) or 0) >= 500:
        return True
    return connection_failure(error, "", protocol="") is not None


def file_facts(source: FileSource, context: SourceContext) -> SourceFacts:
    """Ask for the size and validators of files, and read the footers of Parquet files.

    Raises:
        SourceError: a file does not exist, or can't be reached.
    """
    pool = FilesystemPool(source.fs_options, context.boundary, context.deadline, context.report)
    located = expand_or_recall(source.paths(), pool, context)
    locations = [location for path in source.paths() for location in located[path]]
    files = tuple(_file(location, pool, context) for location in locations)
    counts = (
        [_footer_rows(file, pool, context.boundary) for file in files]
        if source.type == "parquet"
        else [None]
    )
    rows = None if None in counts else sum(count for count in counts if count is not None)
    return SourceFacts(rows=rows, files=files)


def _file(location: Location, pool: FilesystemPool, context: SourceContext) -> FileFacts:
    archive = location.file
    if archive.is_local:
        with option_errors(archive):
            size = FileState.of(context.boundary.check_location(archive)).size
            return FileFacts(location, size)
    found = validated(location, look_up(archive, pool, context))
    return FileFacts(location, found.size, found.etag, found.version_id)


def _footer_rows(file: FileFacts, pool: FilesystemPool, boundary: Boundary) -> int | None:
    """Return the number of rows of a Parquet file; None if that needs more than its footer."""
    from registry.decode.parquet_footers import InvalidParquetError, read_footer

    if file.location.file != file.location:
        return None
    if not file.location.is_local:
        return pool.ask(file.location, _remote_rows) if has_ranges(file.location) else None
    # What is wrong with a file that is not Parquet is said when its first records are read.
    with (
        contextlib.suppress(InvalidParquetError),
        source_errors(file.location),
        boundary.open_location(file.location) as local,
    ):
        return int(read_footer(local).num_rows)
    return None


def _remote_rows(files: Any, location: Location) -> int | None:
    from registry.decode.parquet_footers import InvalidParquetError, read_footer

    # That it is no Parquet is said when its first records are read.
    with (
        contextlib.suppress(InvalidParquetError),
        RemoteRanges(location, files, Deadline(deadline_seconds())) as opened,
    ):
        return int(read_footer(opened).num_rows)
    return None


def hub_facts(
    source: HfSource,
    context: SourceContext,
    pin: Callable[[HfSource, SourceContext], SourcePin],
    *,
    rows: int | None,
) -> SourceFacts:
    """Ask the Hub for commit, configuration, split and row count; store the first records.

    `rows` of them, None for all, are stored as if they were all records of the pin.

    Raises:
        SourceError: there is no such repository, or it can't be read.
    """
    from registry.sources.hub.api import is_unknown_revision, request_commit
    from registry.sources.hub.process import call_datasets

    if source.repository is None:
        return SourceFacts(pin=pin(source, context))
    try:
        commit = request_commit(source, source.revision, context.deadline, report=context.report)
    except SourceError as error:
        if not is_unknown_revision(error):
            raise
        head = request_commit(source, None, context.deadline, report=context.report)
        return SourceFacts(missing=Missing("revision", source.revision, (head,)))
    pinned = pin(replace(source, revision=commit), context)
    with context.cache.temporary() as work, context.cache.temporary() as result:
        of = (source, commit, rows, work, result / "records.arrow")
        facts: SourceFacts
        facts, written = call_datasets("write_some", source.path, context, *of)
        if facts.missing is not None:
            return facts
        meta = {"rows": written, "source": source.path, "revision": commit}
        # In the place of all records: the caller's cache serves one question only.
        context.cache.publish(result, "records", pinned.digest, meta)
    return replace(facts, pin=pinned)
