"""The loaders of Inspect AI's dataset module."""

from __future__ import annotations

import numbers
import operator
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED
from registry.decode import decode
from registry.decode.json_records import read_json_by
from registry.errors import SourceError
from registry.manifest.source_models import (
    GENERIC_BUILDERS,
    CsvSource,
    HfSource,
    JsonSource,
    infer_source_keys,
)
from registry.manifest.validation import source_from_arguments
from registry.mapping.field_mapper import map_records, record_mapper
from registry.pipeline.file_references import resolve_files, resolver
from registry.samples.dataset import MemoryDataset
from registry.samples.sample import Sample
from registry.samples.selection import shuffle_list
from registry.sources.filesystem import FilesystemPool, missing_argument
from registry.sources.pinned_files import open_files

if TYPE_CHECKING:
    from registry.decode.stream import SourceBytes
    from registry.manifest.source import Source
    from registry.mapping.field_mapper import InspectFields
    from registry.samples.dataset import Dataset
    from registry.samples.fields import FieldSpec
    from registry.samples.sample import DatasetRecord, RecordToSample

__all__ = ["ViewArguments", "csv_dataset", "file_dataset", "hf_dataset", "json_dataset"]

_decode = partial(decode, strict=False)


def csv_dataset(
    csv_file: str,
    sample_fields: FieldSpec | RecordToSample | InspectFields | None = None,
    auto_id: bool = False,
    shuffle: bool | int = False,
    seed: int | None = None,
    shuffle_choices: bool | int | None = None,
    limit: int | None = None,
    dialect: str = "unix",
    encoding: str = "utf-8",
    name: str | None = None,
    fs_options: dict[str, Any] | None = None,
    fieldnames: list[str] | None = None,
    delimiter: str | None = ",",
) -> Dataset:
    """Read a dataset from a CSV file.

    Args:
        csv_file: Local path or any fsspec URL (`s3://…`, `https://…`), or a glob. Files
            with suffix `.gz .bz2 .xz .zst` are decompressed.
        sample_fields: How a record becomes a sample: a FieldSpec with the names of columns, a
            function that returns one sample or a list, or None if columns have the names of fields.
        auto_id: Number the samples from 1 in file order, instead of using their ids.
        shuffle: Shuffle the samples; an int is the seed.
        seed: Seed of the shuffle. None uses the global random state.
        shuffle_choices: Shuffle the choices of each sample: a seed, or True for a random order.
        limit: Maximum number of samples, applied after shuffling. None means all.
        dialect: Dialect of Python's csv module: `unix`, `excel` or `excel-tab`.
        encoding: Text encoding. With `utf-8` a byte-order mark is accepted.
        name: Name of the dataset. None means the stem of the file name.
        fs_options: Options of the file system's fsspec class, such as `{"anon": True}` for S3.
        fieldnames: Column names of a file without a header. None uses the first row.
        delimiter: The character between cells.

    Returns:
        The dataset, in memory. Rows with only whitespace are skipped.

    Raises:
        SourceError: the file can't be read.
        DecodeError: the file is not CSV, has a ragged row or a different encoding (a ValueError).
        MappingError: a record can't be mapped to a sample (a ValueError).
        ValueError: a negative limit.
    """
    keys = {
        "path": [csv_file],
        "fs_options": fs_options or {},
        "encoding": encoding,
        "dialect": dialect,
        # Inspect's default, which must not replace the delimiter of excel-tab.
        "delimiter": None if delimiter == "," else delimiter,
        "fieldnames": None if fieldnames is None else list(fieldnames),
    }
    source = source_from_arguments(CsvSource, keys)
    view = ViewArguments.of(auto_id, shuffle, seed, shuffle_choices, limit)
    return _read_files(source, sample_fields, view, name, _decode_fully)


def json_dataset(
    json_file: str,
    sample_fields: FieldSpec | RecordToSample | InspectFields | None = None,
    auto_id: bool = False,
    shuffle: bool | int = False,
    seed: int | None = None,
    shuffle_choices: bool | int | None = None,
    limit: int | None = None,
    encoding: str = "utf-8",
    name: str | None = None,
    fs_options: dict[str, Any] | None = None,
    **reader_kwargs: Any,
) -> Dataset:
    """Read a dataset from a JSON Lines file, or from JSON: an array of objects, or one object.

    Args:
        json_file: Local path or any fsspec URL, or a glob. `.jsonl` and `.ndjson`, before any
            `.gz .bz2 .xz .zst`, are read line by line.
        sample_fields: How a record becomes a sample: a FieldSpec with the names of columns, a
            function that returns one sample or a list, or None if columns have the names of fields.
        auto_id: Number the samples from 1 in file order, instead of using their ids.
        shuffle: Shuffle the samples; an int is the seed.
        seed: Seed of the shuffle. None uses the global random state.
        shuffle_choices: Shuffle the choices of each sample: a seed, or True for a random order.
        limit: Maximum number of samples, applied after shuffling. None means all.
        encoding: Text encoding. With `utf-8` a byte-order mark is accepted.
        name: Name of the dataset. None means the stem of the file name.
        fs_options: Options of the file system's fsspec class.
        **reader_kwargs: For JSON Lines `loads`, a function that parses a line; for JSON the
            keyword arguments of `json.load`.

    Returns:
        The dataset, in memory. Empty lines are skipped.

    Raises:
        SourceError: the file can't be read.
        DecodeError: a line is not a JSON object, or the encoding differs (a ValueError).
        MappingError: a record can't be mapped to a sample (a ValueError).
        ValueError: a negative limit.
    """
    keys = {"path": [json_file], "fs_options": fs_options or {}, "encoding": encoding}
    source = source_from_arguments(JsonSource, keys)
    view = ViewArguments.of(auto_id, shuffle, seed, shuffle_choices, limit)
    read = partial(read_json_by, options=reader_kwargs) if reader_kwargs else _decode
    return _read_files(source, sample_fields, view, name, read)


def file_dataset(
    file: str,
    sample_fields: FieldSpec | RecordToSample | InspectFields | None = None,
    auto_id: bool = False,
    shuffle: bool | int = False,
    seed: int | None = None,
    shuffle_choices: bool | int | None = None,
    limit: int | None = None,
    dialect: str = "unix",
    encoding: str = "utf-8",
    name: str | None = None,
    fs_options: dict[str, Any] | None = None,
    fieldnames: list[str] | None = None,
) -> Dataset:
    """Read a dataset from a file, in the format of its suffix.

    Args:
        file: A path or URL that ends in `.csv .tsv .tab .json .jsonl .ndjson`, optionally
            followed by the suffix of a compression.
        sample_fields: How a record becomes a sample: a FieldSpec with the names of columns, a
            function that returns one sample or a list, or None if columns have the names of fields.
        auto_id: Number the samples from 1 in file order, instead of using their ids.
        shuffle: Shuffle the samples; an int is the seed.
        seed: Seed of the shuffle. None uses the global random state.
        shuffle_choices: Shuffle the choices of each sample: a seed, or True for a random order.
        limit: Maximum number of samples, applied after shuffling. None means all.
        dialect: Dialect of Python's csv module: `unix`, `excel` or `excel-tab`. Only for CSV.
        encoding: Text encoding. With `utf-8` a byte-order mark is accepted.
        name: Name of the dataset. None means the stem of the file name.
        fs_options: Options of the file system's fsspec class, such as `{"anon": True}` for S3.
        fieldnames: Column names of a file without a header. None uses the first row. Only for
            CSV.

    Raises:
        ValueError: no reader for the suffix; else as for `csv_dataset` and `json_dataset`.
    """
    location = Location(file)
    location.check()
    keys = infer_source_keys(location) or {}
    read: Callable[..., Dataset]
    if keys.get("type") == "json":
        read = partial(json_dataset, file)
    elif keys.get("type") == "csv":
        delimiter = keys.get("delimiter", ",")
        read = partial(
            csv_dataset, file, dialect=dialect, fieldnames=fieldnames, delimiter=delimiter
        )
    else:
        *others, last = (*CsvSource.suffixes, *JsonSource.suffixes)
        what = f"{location.public}: no reader for '{location.unpacked_suffix}'"
        raise ValueError(f"{what} (use {', '.join(others)} or {last})")
    return read(
        sample_fields=sample_fields,
        auto_id=auto_id,
        shuffle=shuffle,
        seed=seed,
        shuffle_choices=shuffle_choices,
        limit=limit,
        encoding=encoding,
        name=name,
        fs_options=fs_options,
    )


def hf_dataset(
    path: str,
    split: str,
    name: str | None = None,
    data_dir: str | None = None,
    revision: str | None = None,
    sample_fields: FieldSpec | RecordToSample | InspectFields | None = None,
    auto_id: bool = False,
    shuffle: bool | int = False,
    seed: int | None = None,
    shuffle_choices: bool | int | None = None,
    limit: int | None = None,
    trust: bool = False,
    cached: bool = True,
    retry: bool = True,
    **kwargs: Any,
) -> Dataset:
    """Read a dataset with the `datasets` package: from the Hub, a folder, or a builder's files.

    Args:
        path: Repository `owner/name`, a local folder, or a builder such as `json` with
            `data_files`.
        split: Split, such as `test`.
        name: Configuration of the dataset.
        data_dir: Folder within the repository.
        revision: Commit, tag or branch. A full commit that is in the cache makes no request;
            any other revision is looked up each time.
        sample_fields: How a record becomes a sample: a FieldSpec with the names of columns, a
            function that returns one sample or a list, or None if columns have the names of fields.
        auto_id: Number the samples from 1 in source order.
        shuffle: Shuffle the records, as `datasets.Dataset.shuffle` does; an int is the seed.
        seed: Seed of the shuffle. None gives a random order.
        shuffle_choices: Shuffle the choices of each sample: a seed, or True for a random order.
        limit: Maximum number of records, applied after shuffling. None means all.
        trust: Accepted for compatibility; a repository's own Python script is never run.
        cached: False downloads again unless `revision` is a full commit.
        retry: Repeat requests that fail for a reason that passes: a rate limit, a timeout, an
            overloaded Hub. Without it, another process that loads the same is not waited for.
        **kwargs: Further arguments of `datasets.load_dataset`, such as `cache_dir`, the folder to
            download to.

    Returns:
        The dataset, in memory.

    Raises:
        SourceError: no such dataset, configuration, split or revision; the Hub does not answer;
            the dataset needs a script.
        MappingError: a record can't be mapped to a sample (a ValueError).
        ValueError: a negative limit.
    """
    # An absolute path, because a relative one could be the name of a repository.
    is_local_folder = path not in ("", *GENERIC_BUILDERS) and Path(path).is_dir()
    keys = {
        "path": str(Path(path).absolute()) if is_local_folder else path,
        "split": split,
        "name": name,
        "data_dir": data_dir,
        "data_files": kwargs.pop("data_files", None),
        "revision": revision,
        "trust": trust,
        "cached": cached,
    }
    source = source_from_arguments(HfSource, keys)
    view = ViewArguments.of(auto_id, shuffle, seed, shuffle_choices, limit)
    records = _hub_records(source, kwargs, retry=retry)
    samples = _hub_samples(records, sample_fields, view, path)
    title = Path(path).stem if Path(path).exists() else path
    # The limit is applied already: in hf_dataset it counts records.
    return replace(view, limit=None).dataset(samples, title, path)


def _hub_records(source: HfSource, extra: Mapping[str, Any], *, retry: bool) -> list[DatasetRecord]:
    from msgspec.structs import replace

    from registry.cache.cache import Cache
    from registry.cache.locks import again_if_lost
    from registry.progress import Deadline, log_waits
    from registry.settings import Settings
    from registry.sources.hub.records import fetch_hub
    from registry.sources.hub.source import pin_hub
    from registry.sources.pins import SourceContext

    settings = Settings.from_environment()
    context = SourceContext(
        boundary=UNBOUNDED,
        cache=Cache(settings.cache_dir),
        offline=settings.offline,
        dataset=source.path,
        report=log_waits(source.path),
    )
    if not retry:
        context = replace(context, deadline=Deadline(0))
    pinned = pin_hub(source, context, **extra)
    if not source.cached and pinned.revision != source.revision:
        context = replace(context, refresh=True)

    def read() -> list[DatasetRecord]:
        return list(decode(fetch_hub(source, pinned, context, **extra), source))

    return again_if_lost(read, context.cache.root)


def _read_files(
    source: CsvSource | JsonSource,
    sample_fields: FieldSpec | RecordToSample | InspectFields | None,
    view: ViewArguments,
    name: str | None,
    read: Callable[[SourceBytes, Source], Iterator[DatasetRecord]] = _decode,
) -> Dataset:
    """Read the files, then map, number, shuffle and limit the samples."""
    # Not `paths()`: for a loader, braces are part of a name.
    locations = [*map(Location, source.path)]
    location = locations[0]
    location.check()
    title = name or PurePosixPath(location.public.removesuffix("?…")).stem
    files = open_files(locations, source.fs_options)
    records = chain.from_iterable(read(file, source) for file in files)
    mapper = record_mapper(sample_fields)
    mapped = map_records(enumerate(records, 1), mapper, dataset=title)
    resolve = resolver(location, FilesystemPool(source.fs_options, UNBOUNDED))
    try:
        samples = [resolve_files(sample, resolve) for _, sample in mapped]
    except SourceError as error:
        raise missing_argument(error).with_traceback(None) from error.__cause__
    if view.auto_id:
        _number(samples)
    if view.shuffle:
        shuffle_list(samples, view.seed)
    # As in Inspect, a path becomes absolute, and a URL stays one, `file://` too.
    where = location.public if "://" in location else location.local_path()
    return view.dataset(samples, title, where)


def _decode_fully(file: SourceBytes, source: Source) -> Iterator[DatasetRecord]:
    """Yield records after the last one is read: as in Inspect, a ragged row is the first error."""
    return iter(list(_decode(file, source)))


def _number(samples: Iterable[Sample]) -> None:
    for number, sample in enumerate(samples, 1):
        sample.id = number


def _hub_samples(
    records: list[DatasetRecord],
    sample_fields: FieldSpec | RecordToSample | InspectFields | None,
    view: ViewArguments,
    dataset: str,
) -> list[Sample]:
    """Shuffle and limit the records, then map them; ids are numbered before the shuffle."""
    rows = list(range(len(records)))
    if view.shuffle:
        from registry.store.views import row_order

        rows = row_order(len(records), "hub", view.seed).tolist()
    rows = rows[: view.limit]
    mapper = record_mapper(sample_fields)
    if view.auto_id and callable(sample_fields):
        # A function may return several samples per record, so ids depend on all earlier records.
        mapped = list(map_records(enumerate(records, 1), mapper, dataset=dataset))
        _number(sample for _, sample in mapped)
        groups: dict[int, list[Sample]] = {}
        for number, sample in mapped:
            groups.setdefault(number, []).append(sample)
        return [sample for row in rows for sample in groups.get(row + 1, [])]
    samples = []
    for number, sample in map_records(
        ((row + 1, records[row]) for row in rows), mapper, dataset=dataset
    ):
        if view.auto_id:
            sample.id = number
        samples.append(sample)
    return samples


@dataclass(frozen=True, kw_only=True)
class ViewArguments:
    """Arguments, checked."""

    auto_id: bool
    shuffle: bool
    seed: int | None
    shuffle_choices: bool | int | None
    limit: int | None

    @classmethod
    def of(
        cls,
        auto_id: bool,
        shuffle: bool | int | None,
        seed: int | None,
        shuffle_choices: bool | int | None,
        limit: int | None,
    ) -> ViewArguments:
        """Check the arguments."""
        if limit is not None and (limit := _integer("limit", limit)) < 0:
            raise ValueError(f"limit must be 0 or more, is {limit}")
        shuffled, seed = _resolve_shuffle(shuffle, seed)
        if seed is not None and not shuffled:
            _warn(f"seed={seed} has no effect without shuffle=True")
        if not isinstance(shuffle_choices, bool | None):
            shuffle_choices = _integer("shuffle_choices", shuffle_choices)
        return cls(
            auto_id=auto_id,
            shuffle=shuffled,
            seed=seed,
            shuffle_choices=shuffle_choices,
            limit=limit,
        )

    def dataset(self, samples: list[Sample], name: str, location: str) -> MemoryDataset:
        """Return ordered samples as a dataset; choices are shuffled, then the limit is applied."""
        dataset = MemoryDataset(samples, name, location, self.shuffle)
        if self.shuffle_choices is True:
            dataset.shuffle_choices()
        elif self.shuffle_choices is not None and self.shuffle_choices is not False:
            dataset.shuffle_choices(seed=self.shuffle_choices)
        if self.limit is not None:
            del dataset.samples[self.limit :]
        return dataset


def _resolve_shuffle(shuffle: bool | int | None, seed: int | None) -> tuple[bool, int | None]:
    """Return whether to shuffle, and the seed; an int for `shuffle` is its seed."""
    given = None if seed is None else _integer("seed", seed)
    if shuffle is None or isinstance(shuffle, bool) or type(shuffle).__name__ == "bool":
        return bool(shuffle), given  # numpy's bool is not a subclass of Python's
    if not isinstance(shuffle, numbers.Integral):
        raise TypeError(f"shuffle must be true, false or a seed, is {shuffle!r}")
    if int(shuffle) < 0:
        raise ValueError(f"a seed must be 0 or more, is {shuffle}")
    if given is not None:
        raise ValueError(f"give the seed once: shuffle={shuffle} or seed={seed}")
    return True, int(shuffle)


def _integer(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, is {value!r}") from None


def _warn(message: str) -> None:
    """Warn at the line that has called a loader, also by `file_dataset`."""
    level = 1
    while sys._getframe(level).f_globals is globals():  # noqa: SLF001 (there is no other way)
        level += 1
    warnings.warn(message, stacklevel=level + 1)
