"""The builders of `datasets`: made of checked files, and run without what they print and count.

Imported by the process that is made for them.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import datasets
import yaml
from datasets.packaged_modules.folder_based_builder.folder_based_builder import FolderBasedBuilder
from datasets.table import embed_table_storage
from datasets.utils.py_utils import NestedDataStructure, map_nested
from datasets.utils.track import tracked_str
from filelock import FileLock
from msgspec import Struct

from registry.errors import SourceError
from registry.manifest.source_models import is_folder
from registry.sources.facts import Missing
from registry.sources.hub.api import no_such, wrong_answer
from registry.sources.hub.files import Commit, check_card, fetch_files

if TYPE_CHECKING:
    from registry.manifest.source_models import HfSource
    from registry.sources.pins import SourceContext

__all__ = [
    "BATCH_ROWS",
    "Prepared",
    "builder_of",
    "check_split",
    "is_parquet",
    "missing_split",
    "parse_cards_by_libyaml",
    "prepare",
    "quiet",
    "split_names",
]

# Arguments of `load_dataset` that are not those of `load_dataset_builder`.
_OF_LOADING = ("keep_in_memory", "num_proc", "save_infos", "streaming", "verification_mode")
BATCH_ROWS = 4096
# Arrow's offsets are 32 bits: what has files as values must have few of them in a batch.
_MEDIA_ROWS = 100
_LOCKING = ("builder", "utils.extract", "utils.file_utils")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


class Prepared(Struct):
    """The records that a builder made, in files of its own."""

    dataset: Any
    has_paths: bool
    """Whether media are paths in the folder of the download, which is removed."""

    def tables(self) -> Iterator[Any]:
        """Yield the records as Arrow tables, with media as bytes."""
        rows = _MEDIA_ROWS if self.has_paths else BATCH_ROWS
        batches = self.dataset.with_format("arrow").iter(rows)
        return map(embed_table_storage, batches) if self.has_paths else batches


def prepare(
    source: HfSource,
    context: SourceContext,
    revision: str | None,
    work: Path,
    given: Mapping[str, Any],
) -> Prepared:
    """Return the records of a source; `given` are further arguments of `load_dataset`."""
    loading = {name: given[name] for name in _OF_LOADING if name in given}
    rest = {name: value for name, value in given.items() if name not in loading}
    if loading.get("streaming"):
        raise SourceError(f"{source.path}: a stream can't be cached (omit `streaming`)")
    builder = builder_of(source, context, revision, str(work), **rest)
    if is_parquet(builder) and not builder.config.batch_size:
        # By default as many as the first row group of a file has, and none is an error there.
        builder.config.batch_size = BATCH_ROWS
    downloads = None
    if source.repository is not None:
        check_split(source, builder)
        commit = Commit(source.path, str(revision), builder.token)
        downloads = CheckedDownloads(builder, commit, work / "files", context)
    verification = "all_checks" if loading.get("save_infos") else loading.get("verification_mode")
    builder.download_and_prepare(
        # In a folder that the caller names, `datasets` would take what it finds.
        download_mode=rest.get("download_mode", "reuse_cache_if_exists"),
        verification_mode=verification,
        num_proc=loading.get("num_proc"),
        storage_options=rest.get("storage_options"),
        dl_manager=downloads,
    )
    if downloads is not None and not downloads.downloaded_paths:
        message = f"its files, as {builder.name} reads them, can't be checked"
        raise SourceError(f"{source.path}: {message}")
    loaded = builder.as_dataset(
        split=source.split, in_memory=bool(loading.get("keep_in_memory", False))
    )
    return Prepared(loaded, downloads is not None and isinstance(builder, FolderBasedBuilder))


class CheckedDownloads(datasets.DownloadManager):  # type: ignore[misc]  # datasets has no types
    """Downloads files of a commit to a folder; their bytes are those that the Hub names.

    `datasets` by itself takes any bytes, and keeps them for ever where all of the Hub's clients
    look for them.
    """

    def __init__(self, builder: Any, commit: Commit, folder: Path, context: SourceContext) -> None:
        super().__init__(
            dataset_name=builder.dataset_name,
            data_dir=builder.config.data_dir,
            download_config=datasets.DownloadConfig(
                cache_dir=str(folder.with_name("unpacked")),
                use_etag=False,
                token=commit.token,
                storage_options=builder.storage_options,
            ),
            base_path=builder.base_path,
        )
        self._commit = commit
        self._folder = folder
        self._context = context

    def download(self, url_or_urls: Any) -> Any:
        """Return the paths of downloaded files, in the form in which their URLs are given."""
        locations = [str(location) for location in NestedDataStructure(url_or_urls).flatten()]
        paths = fetch_files(locations, self._commit, self._folder, self._context)
        found = dict(zip(locations, paths, strict=True))
        self.downloaded_paths.update(found)
        nested = NestedDataStructure(locations), NestedDataStructure(paths)
        self._record_sizes_checksums(*nested)
        return map_nested(lambda one: _tracked(found[str(one)], one), url_or_urls, map_tuple=True)


def _tracked(path: str, location: Any) -> str:
    """Return a path from which `datasets` can name the file in an error."""
    tracked: str = tracked_str(path)
    tracked.set_origin(str(location))  # type: ignore[attr-defined]
    return tracked


def builder_of(
    source: HfSource, context: SourceContext, revision: str | None, work: str, **changed: Any
) -> Any:
    """Return the builder of `datasets`, which has listed the files but read none.

    Raises:
        ReachError: a file is outside the boundary.
        SourceError: a folder has the name of the repository.
    """
    if source.repository is not None and os.path.isdir(source.path):
        hint = "run this in another folder"
        raise SourceError(
            f"{source.path}: `datasets` would read the folder of this name in the working directory"
            f" in place of the repository ({hint})"
        )
    if source.repository is not None and revision is not None:
        check_card(Commit(source.path, revision, changed.get("token")), context)
    given = {"data_dir": source.data_dir, "data_files": source.data_files, "cache_dir": work}
    builder = datasets.load_dataset_builder(
        source.path, name=source.name, revision=revision, **{**given, **changed}
    )
    if is_folder(source.path):  # `datasets` checks those of a repository
        for location in chain.from_iterable((builder.config.data_files or {}).values()):
            context.boundary.check_path(location)
    return builder


def is_parquet(builder: Any) -> bool:
    """Return whether a builder reads Parquet files."""
    return type(builder).__module__.endswith(".parquet")


def missing_split(source: HfSource, builder: Any) -> Missing | None:
    """Return the first split that the files don't have, if any."""
    known = tuple(map(str, builder.config.data_files or ()))
    absent = [name for name in split_names(source) if name not in (*known, "all")]
    return Missing("split", absent[0], known) if known and absent else None


def check_split(source: HfSource, builder: Any) -> None:
    """Raise an error for a split that the files don't have, before they are downloaded."""
    missing = missing_split(source, builder)
    if missing is not None:
        message = no_such("split", str(missing.name), missing.known, plural="splits")
        raise wrong_answer(f"{source.path}: {message}")


def split_names(source: HfSource) -> list[str]:
    """Return the names in a split such as `train[:10%]+test`."""
    return [re.split(r"[\[(]", part)[0].strip() for part in source.split.split("+")]


def quiet() -> None:
    """Disable progress bars, download counts, the lookup of Parquet exports, and needless locks.

    For the rest of this process, which is ours.
    """
    # By name: the attribute `tqdm` of its package is the class, not the module.
    client = importlib.import_module("huggingface_hub.utils.tqdm")
    for switch in (datasets, client):
        switch.disable_progress_bars()
    for name in ("HF_UPDATE_DOWNLOAD_COUNTS", "USE_PARQUET_EXPORT"):
        setattr(datasets.config, name, False)
    replaced = {f"datasets.{module}": "FileLock" for module in _LOCKING}
    for module, name in {**replaced, "huggingface_hub.file_download": "WeakFileLock"}.items():
        setattr(importlib.import_module(module), name, _lock_if_possible)
    parse_cards_by_libyaml()


def parse_cards_by_libyaml() -> None:
    """Let the Hub's client parse cards by libyaml, for the rest of this process.

    Each load of a dataset parses the card of its repository; PyYAML's own parser needs 0.2 s for
    one of 57 configurations.
    """
    cards: Any = importlib.import_module("huggingface_hub.repocard")
    cards.yaml = SimpleNamespace(**{**vars(yaml), "safe_load": _loaded})


def _loaded(text: str) -> Any:
    """Parse YAML; an error is worded as the client's own parser words it."""
    try:
        return yaml.load(text, Loader=_LOADER)  # noqa: S506 (a safe one)  # nosec B506
    except yaml.YAMLError:
        return yaml.safe_load(text)


@contextlib.contextmanager
def _lock_if_possible(path: str | Path) -> Iterator[FileLock]:
    """Lock a file, of the folder of a load or of the Hub's client, where the file system has locks.

    Without them, at worst a file is downloaded twice. The client falls back to soft locks, and only
    for one of the errors; those of a process that is killed stay.
    """
    lock = FileLock(path, mode=0o664, fallback_to_soft=False)  # the mode of the client
    try:
        lock.acquire()
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    try:
        yield lock
    finally:
        lock.release()
