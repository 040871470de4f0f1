"""Download records of the Hugging Face Hub with the `datasets` package.

The records are written to one Arrow file, whose key has the requested commit. Each load has its
own download folder: in a shared one, `load_dataset` may return a different revision that it finds
there when the Hub does not answer.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from registry.decode.stream import SourceBytes
from registry.errors import MissingDependencyError, SourceError
from registry.manifest.source_models import data_file_list, is_folder
from registry.progress import Progress
from registry.sources.filesystem import offline_error
from registry.sources.hub.api import hub_errors, request_commit
from registry.sources.pinned_files import fetch_files
from registry.sources.pins import SourceContext, SourcePin, UnknownDigestError

if TYPE_CHECKING:
    from registry.cache.cache import CacheEntry
    from registry.manifest.source_models import HfSource

__all__ = ["builder_of", "fetch_hub", "fetch_hub_part", "parquet_batches", "quiet"]

_BATCH_ROWS = 4096
_PART_BYTES = 1 << 20


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
    request_commit(source, pinned.revision)
    part = SourcePin({**pinned.identity, "rows": rows}, revision=pinned.revision)
    entry = _known(part, context)
    if entry is None:
        with context.cache.temporary() as work, context.cache.temporary() as result:
            path = result / "records.arrow"
            written = _write_first(source, pinned, rows, context, work, path)
            meta = {"rows": written, "source": source.path, "revision": pinned.revision}
            entry = context.cache.publish(result, "records", part.digest, meta)
    return SourceBytes.of_file(source.path, entry.folder / "records.arrow")


def _write_first(
    source: HfSource, pinned: SourcePin, rows: int, context: SourceContext, work: Path, path: Path
) -> int:
    """Write the first rows of a repository's Parquet files, with the types of `datasets`."""
    import datasets
    import pyarrow as pa
    from datasets.table import table_cast

    with hub_errors(source, pinned), quiet(datasets):
        builder = builder_of(source, context, pinned.revision, str(work))
        if not type(builder).__module__.endswith(".parquet"):
            # `datasets` infers the types of JSON and CSV from all rows.
            raise UnknownDigestError(source.path)
        schema = builder.as_streaming_dataset(source.split).features.arrow_schema
        left = rows
        with pa.ipc.new_file(str(path), schema) as writer:
            for batch in parquet_batches(builder.config.data_files[source.split]):
                writer.write_table(
                    table_cast(pa.Table.from_batches([batch.slice(0, left)]), schema)
                )
                left -= min(left, batch.num_rows)
                if left == 0:
                    break
    return rows - left


def builder_of(
    source: HfSource,
    context: SourceContext,
    revision: str | None,
    work: str,
    **changed: Any,
) -> Any:
    """Return the builder of `datasets`, which has listed the files but read none.

    Raises:
        ReachError: a file is outside the boundary.
        SourceError: a folder has the name of the repository.
    """
    import datasets

    if source.repository is not None and os.path.isdir(source.path):
        hint = "run this in another folder"
        raise SourceError(
            f"{source.path}: `datasets` would read the folder of this name in the working directory"
            f" in place of the repository ({hint})"
        )
    given = {"data_dir": source.data_dir, "data_files": source.data_files, **changed}
    builder = datasets.load_dataset_builder(
        source.path, name=source.name, revision=revision, cache_dir=work, **given
    )
    if is_folder(source.path):  # `datasets` checks those of a repository
        for location in chain.from_iterable((builder.config.data_files or {}).values()):
            context.boundary.check_path(location)
    return builder


def parquet_batches(locations: Iterable[str], rows: int = _BATCH_ROWS) -> Iterator[Any]:
    """Yield the rows of remote Parquet files."""
    # Streams of `datasets` download far more than the first row groups.
    import pyarrow.parquet as pq
    from huggingface_hub import HfFileSystem

    files = HfFileSystem()
    for location in locations:
        with files.open(location, block_size=_PART_BYTES) as file:
            yield from pq.ParquetFile(file, pre_buffer=False).iter_batches(rows)


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
            raise offline_error(source.path)
        # Checked first, because `datasets` takes half a minute to give up and hides the reason.
        request_commit(source, pinned.revision)
    with context.cache.temporary() as work, context.cache.temporary() as result:
        dataset = _load(source, pinned, context, work, extra)
        rows = _write_arrow(dataset, result / "records.arrow", context)
        meta = {"rows": rows, "source": source.path, "revision": pinned.revision}
        return context.cache.publish(
            result, "records", pinned.digest, meta, replace=context.refresh
        )


def _load(
    source: HfSource,
    pinned: SourcePin,
    context: SourceContext,
    work: Path,
    extra: Mapping[str, Any],
) -> Any:
    try:
        import datasets
    except ImportError as error:
        message = f"{source.path}: reading the Hub needs the package `datasets`"
        raise MissingDependencyError(message) from error
    with hub_errors(source, pinned), quiet(datasets):
        files = _local_data_files(source, pinned, context)
        if extra:  # of a loader's call, whose arguments `load_dataset` tells apart
            loaded = datasets.load_dataset(
                source.path,
                name=source.name,
                split=source.split,
                data_dir=source.data_dir,
                data_files=files,
                revision=pinned.revision,
                **{"cache_dir": str(work), **extra},
            )
        else:
            builder = builder_of(source, context, pinned.revision, str(work), data_files=files)
            builder.download_and_prepare()
            loaded = builder.as_dataset(split=source.split)
    if not isinstance(loaded, datasets.Dataset):
        raise SourceError(f"{source.path}: a stream can't be cached (omit `streaming`)")
    return loaded


def _local_data_files(source: HfSource, pinned: SourcePin, context: SourceContext) -> Any:
    """Return the argument `data_files`; a builder's files are replaced by the downloaded ones."""
    if not pinned.files:
        return source.data_files
    paths = [file.local_path for file in fetch_files({}, pinned, context)]
    if not isinstance(source.data_files, Mapping):
        return paths
    counts = {split: len(data_file_list(files)) for split, files in source.data_files.items()}
    if sum(counts.values()) != len(paths):
        raise SourceError("globs in a map of data_files are not supported (list the files)")
    left = iter(paths)
    return {split: list(islice(left, count)) for split, count in counts.items()}


def _write_arrow(dataset: Any, path: Path, context: SourceContext) -> int:
    """Write the rows as one Arrow file, with media as bytes; return their number."""
    import pyarrow as pa

    rows = 0
    with contextlib.ExitStack() as stack:
        writer = None
        for table in dataset.with_format("arrow").iter(_BATCH_ROWS):
            if writer is None:
                writer = stack.enter_context(pa.ipc.new_file(str(path), table.schema))
            writer.write_table(table)
            rows += table.num_rows
            context.report(Progress("fetch", rows, len(dataset)))
        if writer is None:
            stack.enter_context(pa.ipc.new_file(str(path), dataset.features.arrow_schema))
    return rows


class _Quiet:
    """Disables progress bars, download counts and the lookup of Parquet exports.

    These are settings of the whole process, and threads of `sync --jobs` load at the same time:
    the first thread disables them, the last one restores them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._restore = contextlib.ExitStack()

    @contextlib.contextmanager
    def __call__(self, datasets: Any) -> Iterator[None]:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._disable(datasets)
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._restore.close()

    def _disable(self, datasets: Any) -> None:
        # By name: the attribute `tqdm` of its package is the class, not the module.
        client = importlib.import_module("huggingface_hub.utils.tqdm")
        for switch in (datasets, client):
            if not switch.are_progress_bars_disabled():
                switch.disable_progress_bars()
                self._restore.callback(switch.enable_progress_bars)
        for name in ("HF_UPDATE_DOWNLOAD_COUNTS", "USE_PARQUET_EXPORT"):
            self._restore.callback(setattr, datasets.config, name, getattr(datasets.config, name))
            setattr(datasets.config, name, False)


quiet = _Quiet()
