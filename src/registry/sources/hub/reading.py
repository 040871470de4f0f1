"""Read repositories with `datasets`: all records, the first, or what is known about them.

The functions run in the process of `sources.hub.process`, which imports nothing else of this.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import datasets
import pyarrow as pa
from datasets.table import table_cast

from registry.base.locations import Location
from registry.decode.parquet_files import OpenParquet, open_parquet
from registry.decode.parquet_footers import InvalidParquetError
from registry.decode.stream import SourceBytes
from registry.errors import SourceError
from registry.progress import Progress
from registry.sources.facts import Missing, SourceFacts
from registry.sources.hub.api import ask_hub, request_commit
from registry.sources.hub.builders import (
    BATCH_ROWS,
    builder_of,
    check_split,
    is_parquet,
    missing_split,
    prepare,
    quiet,
    split_names,
)
from registry.sources.hub.files import Commit, CommitFiles, fetch_file, list_all
from registry.sources.pins import UnknownDigestError
from registry.sources.ranges import RemoteRanges
from registry.sources.transfer import RemoteFile

if TYPE_CHECKING:
    from registry.manifest.source_models import HfSource
    from registry.progress import Deadline
    from registry.sources.pins import SourceContext

__all__ = ["write_first", "write_records", "write_some"]

# Smaller files are downloaded completely, and checked: they are one or two ranges anyway.
_SMALL_BYTES = 1 << 20


def write_records(
    context: SourceContext,
    source: HfSource,
    revision: str | None,
    where: str,
    given: Mapping[str, Any],
    work: Path,
    path: Path,
) -> int:
    """Write all records as one Arrow file, with media as bytes; return their number.

    `where` names the source in messages, and `given` are further arguments of `load_dataset`.
    `work` is a folder of this load: in a shared one, `load_dataset` may return a different revision
    that it finds there when the Hub does not answer.
    """
    quiet()
    if revision is not None:
        # Checked first, because `datasets` takes half a minute to give up and hides the reason.
        request_commit(source, revision, context.deadline, report=context.report)
    load = partial(prepare, source, context, revision, work, given)
    records = ask_hub(load, where, context.deadline, report=context.report)
    total = len(records.dataset)

    def report(rows: int) -> None:
        context.report(Progress("parse", rows, total))

    schema = records.dataset.features.arrow_schema
    return _write(records.tables(), path, schema, report=report)


def write_first(
    context: SourceContext, source: HfSource, commit: str, rows: int, work: Path, path: Path
) -> int:
    """Write the first rows of a repository's Parquet files, with the types of `datasets`.

    Raises:
        UnknownDigestError: its files have a different format and must be read completely.
    """

    def request() -> int:
        builder = builder_of(source, context, commit, str(work))
        if not is_parquet(builder):
            # `datasets` infers the types of JSON and CSV from all rows.
            raise UnknownDigestError(source.path)
        check_split(source, builder)
        parts = _Parts(builder, source, commit, context)
        if builder.config.columns not in (None, list(parts.features)):
            raise UnknownDigestError(source.path)  # a card that leaves out columns, which is rare
        return _write(parts.tables(BATCH_ROWS), path, parts.features.arrow_schema, rows)

    quiet()
    request_commit(source, commit, context.deadline, report=context.report)
    return ask_hub(request, source.path, context.deadline, report=context.report)


def write_some(
    context: SourceContext, source: HfSource, commit: str, rows: int | None, work: Path, path: Path
) -> tuple[SourceFacts, int]:
    """Write the first records, None for all, of any format; return what the repository says too."""

    def request() -> tuple[SourceFacts, int]:
        builder, missing = _builder(source, commit, work, context)
        missing = missing or missing_split(source, builder)
        if missing is not None:
            return SourceFacts(revision=commit, missing=missing), 0
        count: int | None
        at_a_time = min(rows or BATCH_ROWS, BATCH_ROWS)
        if is_parquet(builder):
            parts = _Parts(builder, source, commit, context)
            count, tables = parts.rows, parts.tables(at_a_time)
        else:
            count = _rows_of_card(builder, source)
            stream = builder.as_streaming_dataset(split_names(source)[0])
            tables = stream.with_format("arrow").iter(at_a_time)
        written = _write(tables, path, pa.schema([]), rows)
        return SourceFacts(revision=commit, rows=None if "[" in source.split else count), written

    quiet()
    return ask_hub(request, source.path, context.deadline, report=context.report)


class _Parts:
    """The Parquet files of a split: a small one from the blobs, parts of others from the Hub.

    A part has no digest. What protects it are the place and length of each range, and the checksums
    of pages where the writer of the file made them.
    """

    def __init__(self, builder: Any, source: HfSource, commit: str, context: SourceContext) -> None:
        files, names = builder.config.data_files, split_names(source)
        named = [files[name] for name in (files if "all" in names else names)]
        self._locations = [*map(Location, chain.from_iterable(named))]
        of_commit = Commit(source.path, commit)
        paths = [of_commit.path_of(location) for location in self._locations]
        self._files = CommitFiles(of_commit, list_all(of_commit, paths))
        self._context = context
        with self._open(self._locations[0]) as first:
            self.features = builder.info.features or datasets.Features.from_arrow_schema(
                first.parquet.schema_arrow
            )
            """The types that `datasets` gives the columns: those of the first file."""

    @property
    def rows(self) -> int:
        """Number of rows, from the footers of all files."""
        total = 0
        for location in self._locations:
            with self._open(location) as file:
                total += file.parquet.metadata.num_rows
        return total

    def tables(self, rows: int) -> Iterator[pa.Table]:
        """Yield the rows, at most so many in a table."""
        for location in self._locations:
            with self._open(location) as file:
                file.rows = rows
                for batch in file.batches():
                    yield table_cast(pa.Table.from_batches([batch]), self.features.arrow_schema)

    @contextlib.contextmanager
    def _open(self, location: Location) -> Iterator[OpenParquet]:
        context, files = self._context, self._files
        listed = files.listed[files.commit.path_of(location)]
        if listed.size <= _SMALL_BYTES:
            file = SourceBytes.of_file(location, fetch_file(listed, files.commit, context))
        else:
            remote = (location, files, context.deadline)
            file = SourceBytes(
                location, partial(_stream, *remote), ranges=partial(RemoteRanges, *remote)
            )
        try:
            with open_parquet(replace(file, limits=context.boundary.limits)) as opened:
                yield opened
        except InvalidParquetError as error:
            raise SourceError(f"{location}: {error}") from error


def _stream(location: Location, files: CommitFiles, deadline: Deadline) -> IO[bytes]:
    return cast("IO[bytes]", io.BufferedReader(RemoteFile(location, files, deadline)))


def _builder(
    source: HfSource, commit: str, work: Path, context: SourceContext
) -> tuple[Any, Missing | None]:
    """Return the builder of `datasets`, or the configuration that is missing."""
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


def _rows_of_card(builder: Any, source: HfSource) -> int | None:
    splits = builder.info.splits or {}
    counts = [splits[name].num_examples for name in split_names(source) if name in splits]
    return None if not counts or None in counts else int(sum(counts))


def _write(
    tables: Iterable[pa.Table],
    path: Path,
    schema: pa.Schema,
    rows: int | None = None,
    *,
    report: Callable[[int], None] = lambda _: None,
) -> int:
    """Write the first rows of tables, None for all, as an Arrow file; return their number.

    `schema` is that of a file without tables; `report` is called with the rows so far.
    """
    writer, written = None, 0
    path.unlink(missing_ok=True)  # of an attempt that failed
    with contextlib.ExitStack() as stack:
        for table in tables:
            if writer is None:
                writer = stack.enter_context(pa.ipc.new_file(str(path), table.schema))
            part = table if rows is None else table.slice(0, rows - written)
            writer.write_table(part)
            written += part.num_rows
            report(written)
            if written == rows:
                break
        if writer is None:
            stack.enter_context(pa.ipc.new_file(str(path), schema))
    return written
