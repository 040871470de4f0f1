"""What a source says about itself now: asked for, without reading or keeping its data."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from registry.base.file_state import FileState
from registry.base.locations import Location
from registry.errors import SourceError
from registry.progress import Deadline
from registry.settings import deadline_seconds
from registry.sources.expand import expand_or_recall
from registry.sources.filesystem import option_errors, source_errors
from registry.sources.filesystem_pool import FilesystemPool
from registry.sources.opening import has_ranges
from registry.sources.ranges import RemoteRanges
from registry.sources.remote_files import look_up
from registry.sources.retry import causes, status_of

if TYPE_CHECKING:
    from pathlib import Path

    from registry.boundary.boundary import Boundary
    from registry.manifest.source_models import FileSource, HfSource
    from registry.sources.pins import SourceContext, SourcePin

__all__ = ["FileFacts", "Missing", "SourceFacts", "file_facts", "hub_facts", "is_unreachable"]

_BATCH_ROWS = 4096
_UNREACHABLE = frozenset(
    {
        "ClientConnectorError",
        "ClientConnectorDNSError",
        "ConnectError",
        "ConnectTimeout",
        "ConnectionError",
        "EndpointConnectionError",
        "LocalEntryNotFoundError",
        "ReadTimeout",
        "TimeoutError",
    }
)


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
    status = status_of(error)
    if status is not None:
        return status == 429 or status >= 500
    if isinstance(error, SourceError) and error.transient:
        return True
    return any(type(link).__name__ in _UNREACHABLE for link in causes(error))


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
    state = look_up(archive, pool, context)
    validators = state["validators"]
    etag = validators.get("ETag") or validators.get("etag")
    return FileFacts(location, state["size"], etag, validators.get("VersionId"))


def _footer_rows(file: FileFacts, pool: FilesystemPool, boundary: Boundary) -> int | None:
    """Return the number of rows of a Parquet file; None if that needs more than its footer."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if file.location.file != file.location:
        return None
    if not file.location.is_local:
        return pool.ask(file.location, _remote_rows) if has_ranges(file.location) else None
    # What is wrong with a file that is not Parquet is said when its first records are read.
    with (
        contextlib.suppress(ValueError, pa.ArrowException),
        source_errors(file.location),
        boundary.open_location(file.location) as local,
    ):
        return int(pq.read_metadata(local).num_rows)
    return None


def _remote_rows(files: Any, location: Location) -> int | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    # That it is no Parquet is said when its first records are read.
    with (
        contextlib.suppress(ValueError, pa.ArrowException),
        RemoteRanges(location, files, Deadline(deadline_seconds())) as opened,
    ):
        return int(pq.read_metadata(opened).num_rows)
    return None


def hub_facts(
    source: HfSource,
    context: SourceContext,
    pin: Callable[[HfSource, SourceContext], SourcePin],
    *,
    rows: int | None,
) -> SourceFacts:
    """Ask the Hub for commit, configuration, split and row count; store the first records.

    Args:
        source: The repository.
        context: Where they are stored, as if they were all records of the pin.
        pin: Pins the source.
        rows: How many of them; None for all.

    Raises:
        SourceError: there is no such repository, or it can't be read.
    """
    from registry.sources.hub.api import ask_hub, is_unknown_revision, request_commit

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
    ask = partial(_ask_files, source, pinned, context, rows)
    return ask_hub(ask, source.path, context.deadline, report=context.report)


def _ask_files(
    source: HfSource, pinned: SourcePin, context: SourceContext, rows: int | None
) -> SourceFacts:
    from registry.sources.hub.builders import quiet

    commit = str(pinned.revision)
    with context.cache.temporary() as work, quiet(work):
        builder, missing = _builder(source, commit, work, context)
        missing = missing or _missing_split(source, builder)
        if missing is not None:
            return SourceFacts(revision=commit, missing=missing)
        footers = _footers(builder, source, commit, context)
        with context.cache.temporary() as result:
            tables = _first_tables(builder, source, rows, footers, commit, context)
            written = _write_first(tables, rows, result / "records.arrow")
            meta = {"rows": written, "source": source.path, "revision": commit}
            # In the place of all records: the caller's cache serves one question only.
            context.cache.publish(result, "records", pinned.digest, meta)
        return SourceFacts(revision=commit, rows=_row_count(builder, source, footers), pin=pinned)


def _builder(
    source: HfSource, commit: str, work: Path, context: SourceContext
) -> tuple[Any, Missing | None]:
    """Return the builder of `datasets`, or the configuration that is missing."""
    import datasets

    from registry.sources.hub.builders import builder_of

    try:
        return builder_of(source, context, commit, str(work)), None
    except ValueError as error:
        # "BuilderConfig 'x' not found", "Config name is missing"
        if "onfig" not in str(error):
            raise
    names = datasets.get_dataset_config_names(
        source.path,
        data_dir=source.data_dir,
        data_files=source.data_files,
        revision=commit,
        cache_dir=str(work),
    )
    return None, Missing("configuration", source.name, tuple(names))


def _missing_split(source: HfSource, builder: Any) -> Missing | None:
    from registry.sources.hub.builders import split_names

    known = tuple(map(str, builder.config.data_files or ()))
    absent = [name for name in split_names(source) if name not in known and name != "all"]
    return Missing("split", absent[0], known) if known and absent else None


def _files_of(builder: Any, source: HfSource) -> list[str]:
    from registry.sources.hub.builders import split_names

    files, names = builder.config.data_files, split_names(source)
    return [location for name in (files if "all" in names else names) for location in files[name]]


def _footers(builder: Any, source: HfSource, commit: str, context: SourceContext) -> list[Any]:
    """Return the metadata of a split's Parquet files; an empty list for other formats."""
    if not type(builder).__module__.endswith(".parquet"):
        return []
    from registry.sources.hub.files import Commit
    from registry.sources.hub.records import open_parquet

    files = open_parquet(_files_of(builder, source), Commit(source.path, commit), context)
    return [file.metadata for file in files]


def _row_count(builder: Any, source: HfSource, footers: Sequence[Any]) -> int | None:
    """Return the number of rows, from the footers of Parquet files or from the card."""
    if "[" in source.split:
        return None
    if footers:
        return int(sum(footer.num_rows for footer in footers))
    from registry.sources.hub.builders import split_names

    splits = builder.info.splits or {}
    counts = [splits[name].num_examples for name in split_names(source) if name in splits]
    return None if not counts or None in counts else int(sum(counts))


def _write_first(tables: Iterable[Any], rows: int | None, path: Path) -> int:
    """Write the first rows of tables, None for all, as an Arrow file; return their number."""
    import pyarrow as pa

    writer, written = None, 0
    with contextlib.ExitStack() as stack:
        for table in tables:
            if writer is None:
                writer = stack.enter_context(pa.ipc.new_file(str(path), table.schema))
            part = table if rows is None else table.slice(0, rows - written)
            writer.write_table(part)
            written += part.num_rows
            if written == rows:
                break
        if writer is None:
            stack.enter_context(pa.ipc.new_file(str(path), pa.schema([])))
    return written


def _first_tables(
    builder: Any,
    source: HfSource,
    rows: int | None,
    footers: Sequence[Any],
    commit: str,
    context: SourceContext,
) -> Iterator[Any]:
    batch_rows = min(rows or _BATCH_ROWS, _BATCH_ROWS)
    if not footers:
        from registry.sources.hub.builders import split_names

        stream = builder.as_streaming_dataset(split_names(source)[0])
        yield from stream.with_format("arrow").iter(batch_rows)
        return
    import datasets
    import pyarrow as pa
    from datasets.table import table_cast

    from registry.sources.hub.files import Commit
    from registry.sources.hub.records import parquet_batches

    # As the builder does, whose own look at the schema downloads megabytes.
    features = builder.info.features or datasets.Features.from_arrow_schema(
        footers[0].schema.to_arrow_schema()
    )
    locations = _files_of(builder, source)
    of_commit = Commit(source.path, commit)
    for batch in parquet_batches(locations, of_commit, context, batch_rows):
        yield table_cast(pa.Table.from_batches([batch]), features.arrow_schema)
