"""The records of the Hugging Face Hub, in the cache: one Arrow file, whose key has the commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from registry.base.locations import Location
from registry.decode.stream import SourceBytes
from registry.errors import SourceError
from registry.manifest.source_models import data_file_list
from registry.sources.filesystem import offline_error
from registry.sources.hub.process import call_datasets
from registry.sources.pinned_files import fetch_files
from registry.sources.pins import SourceContext, SourcePin

if TYPE_CHECKING:
    from registry.cache.cache import CacheEntry
    from registry.manifest.source_models import HfSource

__all__ = ["fetch_hub", "fetch_hub_part"]


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
        with context.cache.temporary() as work, context.cache.temporary() as result:
            of = (source, pinned.revision, rows, work, result / "records.arrow")
            written = call_datasets("write_first", source.path, context, *of)
            meta = {"rows": written, "source": source.path, "revision": pinned.revision}
            entry = context.cache.publish(result, "records", part.digest, meta)
    return SourceBytes.of_file(source.path, entry.folder / "records.arrow")


def _known(pinned: SourcePin, context: SourceContext) -> CacheEntry | None:
    """Return the records in the cache if they are intact."""
    # Hashed each time, because records are only read for a build, which takes far longer.
    entry = None if context.refresh else context.cache.find("records", pinned.digest)
    return entry if entry is not None and context.cache.verify("records", entry) else None


def _build(
    source: HfSource, pinned: SourcePin, context: SourceContext, extra: Mapping[str, Any]
) -> CacheEntry:
    if pinned.revision is not None and context.offline:
        raise offline_error(Location(source.path))
    files = fetch_files({}, pinned, context) if pinned.files else []
    shown = ", ".join(file.location.public for file in pinned.files)
    where = f"{source.path} of {shown}" if shown else source.path
    given = {"data_files": _local_data_files(source, files), **extra}
    with context.cache.temporary() as work, context.cache.temporary() as result:
        of = (source, pinned.revision, where, given, work, result / "records.arrow")
        rows = call_datasets("write_records", where, context, *of)
        meta = {"rows": rows, "source": source.path, "revision": pinned.revision}
        return context.cache.publish(
            result, "records", pinned.digest, meta, replace=context.refresh
        )


def _local_data_files(source: HfSource, fetched: Sequence[SourceBytes]) -> Any:
    """Return the argument `data_files`; a builder's files are replaced by the downloaded ones."""
    if not fetched:
        return source.data_files
    paths = [file.local_path for file in fetched]
    if None in paths:
        hint = "unpack it, or read it with `type: csv`, `json` or `parquet`"
        message = f"a member of an archive is no file that `datasets` can read ({hint})"
        raise SourceError(f"{fetched[paths.index(None)].location}: {message}")
    if not isinstance(source.data_files, Mapping):
        return paths
    counts = {split: len(data_file_list(files)) for split, files in source.data_files.items()}
    if sum(counts.values()) != len(paths):
        raise SourceError("globs in a map of data_files are not supported (list the files)")
    left = iter(paths)
    return {split: list(islice(left, count)) for split, count in counts.items()}
