"""The Hugging Face Hub as a source, through the `datasets` package.

What `datasets` gives is written to one Arrow file, addressed by the commit that was asked for.
Each load has a download folder of its own, because with a shared one `load_dataset` may return
another revision that it finds there when the Hub does not answer.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from registry.canonical import digest_of
from registry.decode.bytes import SourceBytes
from registry.errors import (
    AccessError,
    DigestMismatchError,
    MissingDependencyError,
    OfflineError,
    SourceError,
)
from registry.locations import public_location
from registry.progress import Progress
from registry.sources.files import fetch_files, pin_files
from registry.sources.filesystem import causes, status_of
from registry.sources.pin import Access, SourcePin, UnknownDigestError
from registry.spec import GENERIC_BUILDERS, data_file_list, is_commit, is_folder

if TYPE_CHECKING:
    from registry.cache import CacheEntry
    from registry.spec import HfSource

__all__ = ["fetch_hub", "fetch_hub_part", "glance_at_hub", "pin_hub"]

_BATCH_ROWS = 4096
_PART_BYTES = 1 << 20
_ASK_SECONDS = 30.0


def pin_hub(source: HfSource, access: Access, **extra: Any) -> SourcePin:
    """Pin a Hub dataset to a commit, a local folder or a builder's files to their bytes.

    A full commit makes no request. Another revision is asked for, unless offline: then it is
    the commit that it was when last asked for. `extra` are further arguments of `load_dataset`.
    """
    identity: dict[str, Any] = {
        "path": source.path,
        "name": source.name,
        "split": source.split,
        "data_dir": source.data_dir,
        "data_files": source.data_files,
        "extra": {key: repr(value) for key, value in sorted(extra.items())},
    }
    if source.path in GENERIC_BUILDERS:
        if source.data_files is None:
            raise SourceError(f"the builder {source.path} needs `data_files`")
        files = pin_files(data_file_list(source.data_files), {}, access)
        return SourcePin({**identity, "data_files": files.identity}, files.files)
    if is_folder(source.path):
        files = _pin_folder(source.path, access)
        names = [os.path.relpath(file.location, source.path) for file in files.files]
        whole = {**identity, "path": names, "files": files.identity}
        return SourcePin(whole, contents=files.files)
    revision = _commit(source, access)
    return SourcePin({**identity, "revision": revision}, revision=revision)


def _pin_folder(path: str, access: Access) -> SourcePin:
    """Pin the files of a folder, which `datasets` reads as a whole."""
    found = _folder_files(Path(path))
    if not found:
        raise SourceError(f"{path}: the folder has no files")
    held = access.held
    pinned = held.files(path) if held else None
    if held is None or pinned is None:
        return pin_files(found, {}, replace(access, held=None), asked=path)
    locations = sorted(location for location, _ in pinned)
    if held.compare and locations != found:
        names = [
            ", ".join(os.path.relpath(one, path) for one in all_) for all_ in (locations, found)
        ]
        raise DigestMismatchError(path, dataset=held.dataset, pinned=names[0], found=names[1])
    return pin_files([path], {}, access, asked=path)


def _folder_files(folder: Path) -> list[str]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [str(path) for path in paths if not path.relative_to(folder).parts[0].startswith(".")]


def _commit(source: HfSource, access: Access) -> str:
    held = access.held and access.held.revision(source.path, source.revision)
    if held:
        return held
    if source.revision is not None and is_commit(source.revision):
        return source.revision
    endpoint = os.environ.get("HF_ENDPOINT", "")
    key = digest_of({"hub": source.path, "revision": source.revision, "endpoint": endpoint})
    if access.offline:
        known = access.cache.recall(key, "revision")
        if known is None:
            raise _offline(source)
        return str(known["revision"])
    commit = _ask_commit(source, source.revision)
    access.cache.remember(key, {"revision": commit})
    return commit


def _ask_commit(source: HfSource, revision: str | None) -> str:
    """Return the commit of a revision; says what is wrong with the repository, if anything."""
    from huggingface_hub import HfApi

    with _hub_errors(source):
        info = HfApi().dataset_info(source.path, revision=revision, timeout=_ASK_SECONDS)
    script = f"{source.path.rpartition('/')[2]}.py"
    files = [file.rfilename for file in info.siblings or ()]
    if script in files and source.data_files is None:
        raise SourceError(_script_advice(source, script))
    if info.sha is None or (is_commit(revision) and info.sha != revision):
        raise SourceError(f"{source.path}: asked for {revision}, the Hub answered {info.sha}")
    return info.sha


def _offline(source: HfSource) -> OfflineError:
    return OfflineError(
        f"{source.path}: not in the cache, and requests are switched off (offline);"
        " run `python -m registry sync` once while online"
    )


def fetch_hub(source: HfSource, pinned: SourcePin, access: Access, **extra: Any) -> SourceBytes:
    """Return the records of a pinned source as an Arrow file of the cache."""
    entry = _known(pinned, access)
    if entry is None:
        with access.cache.working("records", pinned.digest):
            entry = _known(pinned, access) or _build(source, pinned, access, extra)
    return SourceBytes.of_file(source.path, entry.folder / "records.arrow")


def glance_at_hub(source: HfSource, access: Access) -> SourcePin | None:
    """Return the commit of a repository, for a build of the first samples; else None.

    None also where the records are in the cache, and for parts of splits.
    """
    is_repository = source.path not in GENERIC_BUILDERS and not is_folder(source.path)
    if not is_repository or not source.split.isidentifier():
        return None
    pinned = pin_hub(source, access)
    if access.offline or access.cache.find("records", pinned.digest) is not None:
        return None
    return SourcePin({**pinned.identity, "glance": True}, revision=pinned.revision)


def fetch_hub_part(source: HfSource, pinned: SourcePin, access: Access, rows: int) -> SourceBytes:
    """Return the first records of a repository of Parquet files, without the others.

    Raises:
        UnknownDigestError: it is of other files, which are read as a whole.
    """
    _ask_commit(source, pinned.revision)
    part = SourcePin({**pinned.identity, "rows": rows}, revision=pinned.revision)
    entry = _known(part, access)
    if entry is None:
        with access.cache.temporary() as work, access.cache.temporary() as result:
            written = _write_first(source, pinned, rows, work, result / "records.arrow")
            meta = {"rows": written, "source": source.path, "revision": pinned.revision}
            entry = access.cache.publish(result, "records", part.digest, meta)
    return SourceBytes.of_file(source.path, entry.folder / "records.arrow")


def _write_first(source: HfSource, pinned: SourcePin, rows: int, work: Path, path: Path) -> int:
    """Write the first rows of a repository's Parquet files, as `datasets` types them."""
    import datasets
    import pyarrow as pa
    from datasets.table import table_cast

    with _hub_errors(source, pinned), _quiet(datasets):
        builder = datasets.load_dataset_builder(
            source.path,
            name=source.name,
            data_dir=source.data_dir,
            data_files=source.data_files,
            revision=pinned.revision,
            cache_dir=str(work),
        )
        if not type(builder).__module__.endswith(".parquet"):
            # What `datasets` makes of JSON and CSV depends on the whole of them.
            raise UnknownDigestError(source.path)
        schema = builder.as_streaming_dataset(source.split).features.arrow_schema
        left = rows
        with pa.ipc.new_file(str(path), schema) as writer:
            for batch in _parquet_batches(builder.config.data_files[source.split]):
                writer.write_table(
                    table_cast(pa.Table.from_batches([batch.slice(0, left)]), schema)
                )
                left -= min(left, batch.num_rows)
                if left == 0:
                    break
    return rows - left


def _parquet_batches(locations: Iterable[str]) -> Iterator[Any]:
    """Yield the rows of remote Parquet files; the streams of `datasets` ask for far more."""
    import pyarrow.parquet as pq
    from huggingface_hub import HfFileSystem

    files = HfFileSystem()
    for location in locations:
        with files.open(location, block_size=_PART_BYTES) as file:
            yield from pq.ParquetFile(file, pre_buffer=False).iter_batches(_BATCH_ROWS)


def _known(pinned: SourcePin, access: Access) -> CacheEntry | None:
    """Return the records in the cache, if they are whole: they are read for a build only."""
    entry = None if access.refresh else access.cache.find("records", pinned.digest)
    return entry if entry is not None and access.cache.verify("records", entry) else None


def _build(
    source: HfSource, pinned: SourcePin, access: Access, extra: Mapping[str, Any]
) -> CacheEntry:
    if pinned.revision is not None:
        if access.offline:
            raise _offline(source)
        # Asked before `datasets` is, which takes half a minute to give up and hides the reason.
        _ask_commit(source, pinned.revision)
    with access.cache.temporary() as work, access.cache.temporary() as result:
        dataset = _load(source, pinned, access, work, extra)
        rows = _write_arrow(dataset, result / "records.arrow", access)
        meta = {"rows": rows, "source": source.path, "revision": pinned.revision}
        return access.cache.publish(result, "records", pinned.digest, meta, replace=access.refresh)


def _load(
    source: HfSource, pinned: SourcePin, access: Access, work: Path, extra: Mapping[str, Any]
) -> Any:
    try:
        import datasets
    except ImportError as error:
        message = f"{source.path}: reading the Hub needs the package `datasets`"
        raise MissingDependencyError(message) from error
    with _hub_errors(source, pinned), _quiet(datasets):
        loaded = datasets.load_dataset(
            source.path,
            name=source.name,
            split=source.split,
            data_dir=source.data_dir,
            data_files=_local_data_files(source, pinned, access),
            revision=pinned.revision,
            cache_dir=str(work),
            **extra,
        )
    if not isinstance(loaded, datasets.Dataset):
        raise SourceError(f"{source.path}: a stream can't be cached (leave `streaming` out)")
    return loaded


def _local_data_files(source: HfSource, pinned: SourcePin, access: Access) -> Any:
    """Return the data files; a builder's are the pinned bytes on this machine."""
    if not pinned.files:
        return source.data_files
    fetched = fetch_files({}, pinned, access)
    if isinstance(source.data_files, Mapping):
        return _by_split(source.data_files, pinned, fetched)
    return [file.local_path for file in fetched]


def _by_split(
    data_files: Mapping[str, Any], pinned: SourcePin, fetched: list[SourceBytes]
) -> dict[str, list[str]]:
    paths = iter([str(file.local_path) for file in fetched])
    counts = {split: len(data_file_list(files)) for split, files in data_files.items()}
    if sum(counts.values()) != len(fetched):
        raise SourceError("globs in a map of data_files are not supported; list the files")
    return {split: [next(paths) for _ in range(count)] for split, count in counts.items()}


def _write_arrow(dataset: Any, path: Path, access: Access) -> int:
    """Write the rows, images and the like undecoded, as one Arrow file; return their number."""
    import pyarrow as pa

    rows = 0
    with contextlib.ExitStack() as stack:
        writer = None
        for table in dataset.with_format("arrow").iter(_BATCH_ROWS):
            if writer is None:
                writer = stack.enter_context(pa.ipc.new_file(str(path), table.schema))
            writer.write_table(table)
            rows += table.num_rows
            access.report(Progress("fetch", rows, len(dataset)))
        if writer is None:
            stack.enter_context(pa.ipc.new_file(str(path), dataset.features.arrow_schema))
    return rows


@contextlib.contextmanager
def _quiet(datasets: Any) -> Iterator[None]:
    """Keep progress bars off, and other hosts out: `datasets` reports what is loaded to one."""
    # The module, and not the class of the same name that its package puts in its place.
    client = importlib.import_module("huggingface_hub.utils.tqdm")
    switches: list[Any] = [datasets, client]
    shown = [not switch.are_progress_bars_disabled() for switch in switches]
    for switch in switches:
        switch.disable_progress_bars()
    reports = ("HF_UPDATE_DOWNLOAD_COUNTS", "USE_PARQUET_EXPORT")
    before = {name: getattr(datasets.config, name) for name in reports}
    for name in reports:
        setattr(datasets.config, name, False)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(datasets.config, name, value)
        for switch, was_shown in zip(switches, shown, strict=True):
            if was_shown:
                switch.enable_progress_bars()


@contextlib.contextmanager
def _hub_errors(source: HfSource, pinned: SourcePin | None = None) -> Iterator[None]:
    """Turn what `datasets` and the Hub's client raise into a SourceError with the way out."""
    import httpx2
    from datasets.exceptions import DatasetsError
    from huggingface_hub.errors import HfHubHTTPError

    files = ", ".join(public_location(file.location) for file in pinned.files) if pinned else ""
    where = f"{source.path} of {files}" if files else source.path
    try:
        yield
    except DatasetsError as error:
        if isinstance(error, OSError):
            raise _translated(error, source) from error
        raise SourceError(f"{where}: {error.__cause__ or error}") from error
    except (HfHubHTTPError, httpx2.HTTPError, OSError) as error:
        raise _translated(error, source) from error
    except (ValueError, RuntimeError) as error:
        raise SourceError(f"{where}: {error}") from error


def _translated(error: Exception, source: HfSource) -> SourceError:
    from huggingface_hub import errors

    kinds = {type(link) for link in causes(error)}
    where = source.path
    if kinds & {errors.OfflineModeIsEnabled}:
        return _offline(source)
    if kinds & {errors.GatedRepoError}:
        return AccessError(f"{where}: the dataset is gated (ask for access, then set HF_TOKEN)")
    if kinds & {errors.RevisionNotFoundError}:
        return SourceError(f"{where}: no revision '{source.revision}'")
    if kinds & {errors.RepositoryNotFoundError}:
        return AccessError(f"{where}: no such dataset, or a private one (then set HF_TOKEN)")
    status = status_of(error)
    if status in (401, 403):
        return AccessError(f"{where}: the Hub refuses access: {status} (check HF_TOKEN)")
    if status:
        return SourceError(f"{where}: the Hub answered {status} (try again later)")
    return SourceError(f"{where}: {type(error).__name__}: {error}")


def _script_advice(source: HfSource, script: str) -> str:
    return (
        f"{source.path}: this dataset needs its own Python script, {script}, which is never run"
        " (give a `revision` with Parquet files, such as refs/convert/parquet, or read its data"
        " files with `data_files`, or with `type: json`, `csv` or `parquet`)"
    )
