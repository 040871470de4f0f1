"""Download records of the Hugging Face Hub with the `datasets` package.

The records are written to one Arrow file, whose key has the requested commit. Each load has its
own download folder: in a shared one, `load_dataset` may return a different revision that it finds
there when the Hub does not answer.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from registry.base.locations import Location
from registry.decode.stream import SourceBytes
from registry.errors import MissingDependencyError, SourceError
from registry.manifest.source_models import data_file_list
from registry.progress import Progress
from registry.sources.filesystem import offline_error
from registry.sources.hub.api import ask_hub, request_commit
from registry.sources.hub.files import Commit, fetch_file, list_all
from registry.sources.hub.transfer import open_remote
from registry.sources.pinned_files import fetch_files
from registry.sources.pins import SourceContext, SourcePin, UnknownDigestError

if TYPE_CHECKING:
    import pyarrow.parquet as pq

    from registry.cache.cache import CacheEntry
    from registry.manifest.source_models import HfSource
    from registry.sources.hub.builders import Prepared

__all__ = ["fetch_hub", "fetch_hub_part", "open_parquet", "parquet_batches"]

_BATCH_ROWS = 4096
# Smaller files are downloaded completely, and checked: they are one or two ranges anyway.
_SMALL_BYTES = 1 << 20


def fetch_hub(
    source: HfSource, pinned: SourcePin, context: SourceContext, **extra: Any
) -> SourceBytes:
    """Return the records of a pinned source as an Arrow file of the cache."""
    entry = _known(pinned, context)
    if entry is None:
        with context.working("records", pinned.digest) as holding:
            entry = _known(pinned, context) or _build(source, pinned, holding, extra)
    return SourceBytes.of_file(source.path, entry.folder / "records.arrow")


def fetch_hub_part(
    source: HfSource, pinned: SourcePin, context: SourceContext, rows: int
) -> SourceBytes:
    """Return the first records of a repository of Parquet files, without reading the rest.

    Raises:
        UnknownDigestError: its files have a different format and must be read completely.
    """
    part = SourcePin({**pinned.identity, "rows": rows}, revision=pinned.revision)
    entry = _known(part, context)
    if entry is None:
        request_commit(source, pinned.revision, context.deadline, report=context.report)
        with context.cache.temporary() as work, context.cache.temporary() as result:
            path = result / "records.arrow"
            write = partial(_write_first, source, pinned, rows, context, work, path)
            written = ask_hub(write, source.path, context.deadline, report=context.report)
            meta = {"rows": written, "source": source.path, "revision": pinned.revision}
            entry = context.cache.publish(result, "records", part.digest, meta)
    return SourceBytes.of_file(source.path, entry.folder / "records.arrow")


def _write_first(
    source: HfSource, pinned: SourcePin, rows: int, context: SourceContext, work: Path, path: Path
) -> int:
    """Write the first rows of a repository's Parquet files, with the types of `datasets`."""
    import pyarrow as pa
    from datasets.table import table_cast

    from registry.sources.hub.builders import builder_of, check_split, quiet

    with quiet(work):
        builder = builder_of(source, context, pinned.revision, str(work))
        if not type(builder).__module__.endswith(".parquet"):
            # `datasets` infers the types of JSON and CSV from all rows.
            raise UnknownDigestError(source.path)
        check_split(source, builder)
        locations, commit = builder.config.data_files[source.split], _commit(source, pinned)
        features = builder.info.features or _features(locations, commit, context)
        if builder.config.columns not in (None, list(features)):
            raise UnknownDigestError(source.path)  # a card that leaves out columns, which is rare
        schema = features.arrow_schema
        left = rows
        path.unlink(missing_ok=True)  # of an attempt that failed
        with pa.ipc.new_file(str(path), schema) as writer:
            for batch in parquet_batches(locations, commit, context):
                writer.write_table(
                    table_cast(pa.Table.from_batches([batch.slice(0, left)]), schema)
                )
                left -= min(left, batch.num_rows)
                if left == 0:
                    break
    return rows - left


def _features(locations: Sequence[str], commit: Commit, context: SourceContext) -> Any:
    """Return the types that `datasets` gives the columns of Parquet files, those of the first."""
    from datasets import Features

    first = next(open_parquet(locations[:1], commit, context))
    return Features.from_arrow_schema(first.schema_arrow)


def parquet_batches(
    locations: Sequence[str], commit: Commit, context: SourceContext, rows: int = _BATCH_ROWS
) -> Iterator[Any]:
    """Yield the rows of Parquet files on the Hub."""
    # Streams of `datasets` download far more than the first row groups.
    for file in open_parquet(locations, commit, context):
        yield from file.iter_batches(rows)


def open_parquet(
    locations: Sequence[str], commit: Commit, context: SourceContext
) -> Iterator[pq.ParquetFile]:
    """Yield open Parquet files: a small one from the blobs, parts of others from the Hub.

    A part has no digest. What protects it are the length of each range, and the checksums of pages
    where the writer of the file made them.
    """
    import pyarrow.parquet as pq

    paths = [commit.path_of(location) for location in locations]
    listed = list_all(commit, paths)
    for path in paths:
        file = listed[path]
        if file.size <= _SMALL_BYTES:
            opened: Any = fetch_file(file, commit, context)
        else:
            opened = open_remote(commit.remote(file), context.deadline, report=context.report)
        yield pq.ParquetFile(opened, pre_buffer=False, page_checksum_verification=True)


def _commit(source: HfSource, pinned: SourcePin) -> Commit:
    return Commit(source.path, str(pinned.revision))


def _known(pinned: SourcePin, context: SourceContext) -> CacheEntry | None:
    """Return the records in the cache if they are intact."""
    # Hashed each time, because records are only read for a build, which takes far longer.
    entry = None if context.refresh else context.cache.find("records", pinned.digest)
    return entry if entry is not None and context.cache.verify("records", entry) else None


def _build(
    source: HfSource, pinned: SourcePin, context: SourceContext, extra: Mapping[str, Any]
) -> CacheEntry:
    if pinned.revision is not None:
        if context.offline:
            raise offline_error(Location(source.path))
        # Checked first, because `datasets` takes half a minute to give up and hides the reason.
        request_commit(source, pinned.revision, context.deadline, report=context.report)
    files = fetch_files({}, pinned, context) if pinned.files else []
    with context.cache.temporary() as work, context.cache.temporary() as result:
        load = partial(_load, source, pinned, context, work, files, extra)
        shown = ", ".join(file.location.public for file in pinned.files)
        where = f"{source.path} of {shown}" if shown else source.path
        records = ask_hub(load, where, context.deadline, report=context.report)
        rows = _write_arrow(records, result / "records.arrow", context)
        meta = {"rows": rows, "source": source.path, "revision": pinned.revision}
        return context.cache.publish(
            result, "records", pinned.digest, meta, replace=context.refresh
        )


def _load(
    source: HfSource,
    pinned: SourcePin,
    context: SourceContext,
    work: Path,
    files: Sequence[SourceBytes],
    extra: Mapping[str, Any],
) -> Prepared:
    try:
        from registry.sources.hub.builders import prepare, quiet
    except ImportError as error:
        message = f"{source.path}: reading the Hub needs the package `datasets`: {error}"
        raise MissingDependencyError(message) from error

    with quiet(work):
        given = {"data_files": _local_data_files(source, files), **extra}
        return prepare(source, context, pinned.revision, work, given)


def _local_data_files(source: HfSource, fetched: Sequence[SourceBytes]) -> Any:
    """Return the argument `data_files`; a builder's files are replaced by the downloaded ones."""
    if not fetched:
        return source.data_files
    paths = [file.local_path for file in fetched]
    if not isinstance(source.data_files, Mapping):
        return paths
    counts = {split: len(data_file_list(files)) for split, files in source.data_files.items()}
    if sum(counts.values()) != len(paths):
        raise SourceError("globs in a map of data_files are not supported (list the files)")
    left = iter(paths)
    return {split: list(islice(left, count)) for split, count in counts.items()}


def _write_arrow(records: Prepared, path: Path, context: SourceContext) -> int:
    """Write the rows as one Arrow file, with media as bytes; return their number."""
    import pyarrow as pa

    rows, dataset = 0, records.dataset
    with contextlib.ExitStack() as stack:
        writer = None
        for table in records.tables(_BATCH_ROWS):
            if writer is None:
                writer = stack.enter_context(pa.ipc.new_file(str(path), table.schema))
            writer.write_table(table)
            rows += table.num_rows
            context.report(Progress("parse", rows, len(dataset)))
        if writer is None:
            stack.enter_context(pa.ipc.new_file(str(path), dataset.features.arrow_schema))
    return rows
