"""Open a dataset by its name: the one road from a manifest to samples.

name → catalog → resolve → pin → [cached? open] → fetch → decode → map → write → open → view
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain, count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from registry.cache import FORMAT, Cache, CacheEntry
from registry.canonical import digest_of
from registry.catalog import Catalog
from registry.decode import decode
from registry.errors import (
    DecodeError,
    ManifestError,
    MappingError,
    Problem,
    SourceError,
)
from registry.expectations import check_count, checked
from registry.locations import is_local, public_location
from registry.mapping import map_records
from registry.mapping.compiled import FieldMapper
from registry.mapping.hook import load_mapper, mapper_digest
from registry.progress import Progress, Report, silent
from registry.relative_files import local_resolver, remote_resolver, resolve_files
from registry.resolve import spec_of_source
from registry.settings import Settings
from registry.sources import fetch, pin
from registry.sources.hub import is_commit
from registry.sources.pin import Access, SourcePin
from registry.spec import DatasetSpec, HfSource, ParquetSource, Source
from registry.steps import prepare, select, unique, with_columns

if TYPE_CHECKING:
    from registry.dataset import Dataset
    from registry.sample import DatasetRecord, RecordToSample, Sample

__all__ = [
    "Access",
    "Opened",
    "get_dataset",
    "list_datasets",
    "load",
    "look_at",
    "peek",
    "preview_records",
]

_BATCH_ROWS = 4096


def get_dataset(
    name: str,
    *,
    root: str | Path | None = None,
    offline: bool | None = None,
    refresh: bool = False,
    source: str | None = None,
    **overrides: Any,
) -> Dataset:
    """Return the dataset `name` of the catalog; built once, then opened from the cache.

    Args:
        name: A name that `list_datasets` gives.
        root: A folder with a `datasets.yaml`, or such a file. None takes REGISTRY_ROOT, else
            the nearest one upwards from the working directory, else the built-in catalog.
        offline: Make no request. None takes REGISTRY_OFFLINE and HF_HUB_OFFLINE.
        refresh: Look at the source and build again, whatever the cache holds.
        source: A path or URL with the same data, in place of the manifest's location. Its
            suffix tells the type; `expect` is not checked.
        **overrides: `shuffle`, `seed`, `shuffle_choices` (a seed), `limit` and `auto_id` of the
            view; `split` and `revision` of the source (then `expect` is not checked).

    Raises:
        DatasetNotFoundError: no such dataset; the message has the nearest names.
        ManifestError: its manifest or an override is not valid.
        SourceError: the source can't be had (OfflineError, AccessError).
        DecodeError: a file is not what its type says.
        MappingError: a record does not become a sample.
        ExpectationError: the samples are not what `expect` says.
        TypeError: an unknown override.
    """
    settings = Settings.from_environment(root=root, offline=offline)
    catalog = Catalog.open(settings.index)
    spec = catalog.resolve(name, overrides=overrides, source=source)
    return load(spec, Cache(settings.cache_dir), offline=settings.offline, refresh=refresh).dataset


def list_datasets(
    tags: Iterable[str] | str | None = None, *, root: str | Path | None = None
) -> list[str]:
    """Return the names of the catalog's datasets, sorted.

    Args:
        tags: Only datasets that have all of these tags.
        root: As for `get_dataset`.
    """
    wanted = {tags} if isinstance(tags, str) else set(tags or ())
    catalog = Catalog.open(root)
    if not wanted:
        return list(catalog)
    return [name for name in catalog if wanted <= catalog.tags_of(name)]


@dataclass(frozen=True)
class Opened:
    """A dataset, and how it was come by."""

    dataset: Dataset
    entry: CacheEntry
    """The samples in the cache."""
    cached: bool
    """Whether they were there before."""


def load(
    spec: DatasetSpec,
    cache: Cache,
    *,
    offline: bool = False,
    refresh: bool = False,
    verify: bool = False,
    report: Report = silent,
) -> Opened:
    """Open a resolved dataset from the cache; build it first where it is not there.

    Sizes are compared on every open; `verify` also reads the samples and compares their digest.
    """
    again = refresh or (not offline and any(_builds_anew(source) for source in spec.sources))
    access = Access(cache=cache, offline=offline, refresh=again, report=report)
    pins = pin_all(spec, access)
    fingerprint = samples_fingerprint(spec, pins)
    entry = _cached(access, fingerprint, verify=verify)
    cached = entry is not None
    if entry is None:
        with cache.working("samples", fingerprint):
            entry = _cached(access, fingerprint) or _build(spec, pins, access, fingerprint)
    check_count(spec.expect, entry.meta["samples"], dataset=spec.name)
    return Opened(_open(spec, entry, cache, fingerprint), entry, cached)


def _builds_anew(source: Source) -> bool:
    return isinstance(source, HfSource) and not source.cached and not is_commit(source.revision)


def _cached(access: Access, fingerprint: str, *, verify: bool = False) -> CacheEntry | None:
    """Return the samples in the cache; damaged ones go to quarantine."""
    from registry.sample_table import is_readable

    entry = None if access.refresh else access.cache.find("samples", fingerprint)
    if entry is None or (verify and not access.cache.verify("samples", entry)):
        return None
    if not is_readable(entry.folder / "samples.arrow"):
        access.cache.quarantine("samples", fingerprint)
        return None
    return entry


@dataclass(frozen=True)
class Pins:
    """What the sources of a dataset held when they were looked at."""

    sources: tuple[SourcePin, ...]
    side: SourcePin | None = None
    """Of the side file of `join`."""


def pin_all(spec: DatasetSpec, access: Access) -> Pins:
    """Pin every source of a dataset."""
    side = None if spec.join is None else pin(spec.join.source, access)
    return Pins(tuple(pin(source, access) for source in spec.sources), side)


def samples_fingerprint(spec: DatasetSpec, pins: Pins) -> str:
    """Return the digest of all that determines the samples, before any view."""
    steps = spec.model_dump(mode="json", include={"explode", "where", "fields", "sample"})
    return digest_of(
        {
            **steps,
            "format": FORMAT,
            "pins": [one.identity for one in pins.sources],
            "decode": [_decoding(source) for source in spec.sources],
            "join": _join_identity(spec, pins),
            "mapper": spec.mapper and [spec.mapper, mapper_digest(spec.mapper)],
            "expect": spec.expect.model_dump(exclude={"samples"}, exclude_defaults=True),
            "on_duplicate": _duplicate_rule(spec),
            "remote_folder": _remote_folder(spec.source),
        }
    )


def _decoding(source: Source) -> dict[str, Any]:
    """Return what determines how the bytes of a source become records."""
    elsewhere = {"path", "fs_options", "revision", "trust", "cached"}
    return source.model_dump(mode="json", exclude=elsewhere)


def _join_identity(spec: DatasetSpec, pins: Pins) -> list[Any] | None:
    if spec.join is None or pins.side is None:
        return None
    how = spec.join.model_dump(mode="json", exclude={"source"})
    return [how, pins.side.identity, _decoding(spec.join.source)]


def _remote_folder(source: Source) -> str | None:
    """Return the URL that relative file names are resolved against while building, if any."""
    if isinstance(source, HfSource) or is_local(source.path[0]):
        return None
    return public_location(source.path[0]).rpartition("/")[0]


def _duplicate_rule(spec: DatasetSpec) -> str:
    """Return what to do with ids seen before; numbering makes the source's ids irrelevant."""
    return "keep" if spec.view.auto_id else spec.on_duplicate


def peek(spec: DatasetSpec, cache: Cache) -> CacheEntry | None:
    """Return the cached samples of a dataset, or None; without any request."""
    try:
        pins = pin_all(spec, Access(cache=cache, offline=True))
    except SourceError:
        return None
    return cache.find("samples", samples_fingerprint(spec, pins))


def preview_records(spec: DatasetSpec, cache: Cache) -> Iterator[Sample]:
    """Yield the samples of local records in their order: no request, no view, nothing cached."""
    access = Access(cache=cache, offline=True)
    finish = _finisher(spec)
    return (finish(sample) for _, sample in _samples(spec, pin_all(spec, access), access))


def _records(source: Source, pinned: SourcePin, access: Access) -> Iterator[DatasetRecord]:
    """Yield the records of a pinned source, file after file."""
    files = fetch(source, pinned, access)
    return chain.from_iterable(decode(file, source) for file in files)


def look_at(
    source: Mapping[str, Any], folder: Path, access: Access
) -> tuple[SourcePin, list[DatasetRecord]]:
    """Return the pin and the records of a source that no manifest describes yet."""
    spec = spec_of_source(source, folder)
    pinned = pin(spec, access)
    return pinned, list(_records(spec, pinned, access))


def _rows(spec: DatasetSpec, pins: Pins, access: Access) -> Iterator[tuple[int, DatasetRecord]]:
    """Yield the records of all sources, numbered through, with the steps before mapping done."""
    number = count(1)
    rows = (
        (next(number), with_columns(record, source.columns))
        for source, pinned in zip(spec.sources, pins.sources, strict=True)
        for record in _records(source, pinned, access)
    )
    side: Iterable[DatasetRecord] = ()
    if spec.join is not None and pins.side is not None:
        side = _records(spec.join.source, pins.side, access)
    try:
        return prepare(rows, spec, side)
    except ValueError as error:
        raise _uncompiled(error, spec, "$.where") from error


def _samples(spec: DatasetSpec, pins: Pins, access: Access) -> Iterator[tuple[int, Sample]]:
    """Yield samples in the source's order, each with the number of its record."""
    samples = map_records(_rows(spec, pins, access), _mapper_of(spec), dataset=spec.name)
    if _remote_folder(spec.source) is None or isinstance(spec.source, HfSource):
        return samples
    resolve = remote_resolver(spec.source.path[0], spec.source.fs_options)
    return ((number, resolve_files(sample, resolve)) for number, sample in samples)


def _mapper_of(spec: DatasetSpec) -> RecordToSample:
    if spec.mapper is not None:
        return load_mapper(spec.mapper)
    try:
        return FieldMapper(spec.fields)
    except ValueError as error:
        raise _uncompiled(error, spec, "$.fields") from error


def _uncompiled(error: ValueError, spec: DatasetSpec, path: str) -> ManifestError:
    return ManifestError([Problem(message=str(error), file=spec.name, path=path)])


def _build(spec: DatasetSpec, pins: Pins, access: Access, fingerprint: str) -> CacheEntry:
    """Write the samples of a dataset to a new entry of the cache."""
    own = unique(_samples(spec, pins, access), _duplicate_rule(spec), dataset=spec.name)
    samples = checked(select(own, spec.sample), spec.expect, dataset=spec.name)
    with access.cache.temporary() as folder:
        written = _write(samples, folder / "samples.arrow", spec.name, access.report)
        if written == 0 and spec.expect.samples != 0:
            raise DecodeError("no samples come out of the source", file=location_of(spec))
        meta = {"name": spec.name, "samples": written, "source": location_of(spec)}
        return access.cache.publish(folder, "samples", fingerprint, meta, replace=access.refresh)


def _write(samples: Iterable[tuple[int, Sample]], path: Path, dataset: str, report: Report) -> int:
    """Write samples to an Arrow file, a batch at a time; return their number."""
    import pyarrow as pa

    from registry.sample_table import SCHEMA, row_of, table_of

    written = 0
    with pa.ipc.new_file(str(path), SCHEMA) as writer:
        for batch in _batches(samples):
            rows = []
            for number, sample in batch:
                try:
                    rows.append(row_of(sample))
                except MappingError as error:
                    raise error.at(dataset=dataset, record=number) from error.__cause__
            writer.write_table(table_of(rows))
            written += len(rows)
            report(Progress("map", written))
    report(Progress("map", written, written))
    return written


def _batches(samples: Iterable[tuple[int, Sample]]) -> Iterator[list[tuple[int, Sample]]]:
    iterator = iter(samples)
    while batch := list(islice(iterator, _BATCH_ROWS)):
        yield batch


def _open(spec: DatasetSpec, entry: CacheEntry, cache: Cache, fingerprint: str) -> Dataset:
    """Open an entry through the view of the dataset."""
    from registry.arrow_dataset import ArrowDataset
    from registry.sample_table import read_table
    from registry.views import open_view

    table = read_table(entry.folder / "samples.arrow")
    view = open_view(
        table,
        cache,
        samples=fingerprint,
        order=_order_of(spec),
        seed=spec.view.seed if spec.view.shuffle else None,
        choice_seed=spec.view.shuffle_choices,
    )
    return ArrowDataset(
        table,
        name=spec.name,
        location=location_of(spec),
        view=view.limited(spec.view.limit, table.num_rows),
        shuffled=spec.view.shuffle,
        auto_id=spec.view.auto_id,
        finish=_finisher(spec),
    )


def _order_of(spec: DatasetSpec) -> Literal["file", "hub"]:
    """Return whose shuffle a dataset's is: Parquet's loader is hf_dataset, too."""
    by_hub = (HfSource, ParquetSource)
    return "hub" if all(isinstance(one, by_hub) for one in spec.sources) else "file"


def _finisher(spec: DatasetSpec) -> Callable[[Sample], Sample]:
    """Return the last step of a sample: file names beside a local source become paths.

    It is taken when a sample is built, so that the cache holds no path of this machine.
    """
    path = spec.source.path
    if isinstance(spec.source, HfSource) or not is_local(path[0]):
        return lambda sample: sample
    return partial(resolve_files, resolve=local_resolver(path[0]))


def location_of(spec: DatasetSpec) -> str:
    """Return where a dataset comes from, without secrets."""
    path = spec.source.path
    return path if isinstance(path, str) else public_location(path[0])
