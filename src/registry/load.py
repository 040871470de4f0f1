"""Open a dataset by its name: the one road from a manifest to samples.

name → catalog → resolve → pin → [cached? open] → fetch → decode → map → write → open → view
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from registry.cache import FORMAT, Cache, CacheEntry
from registry.canonical import digest_of
from registry.catalog import Catalog
from registry.decode import decode
from registry.errors import (
    DecodeError,
    ExpectationError,
    ManifestError,
    MappingError,
    Problem,
    SourceError,
)
from registry.mapping import map_records
from registry.mapping.compiled import compile_fields
from registry.progress import Progress, Report, silent
from registry.relative_files import local_resolver, remote_resolver, resolve_files
from registry.settings import Settings
from registry.sources import fetch, pin
from registry.sources.filesystem import is_local, public_location
from registry.sources.pin import Access, SourcePin
from registry.spec import DatasetSpec, HfSource

if TYPE_CHECKING:
    from registry.dataset import Dataset
    from registry.sample import DatasetRecord, RecordToSample, Sample

__all__ = ["Opened", "get_dataset", "list_datasets", "load", "peek", "preview_records"]

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
    if source is not None or {"split", "revision"} & overrides.keys():
        spec = spec.model_copy(update={"expect": type(spec.expect)()})
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
    return [name for name in catalog if wanted <= set(catalog[name].tags)]


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
    report: Report = silent,
) -> Opened:
    """Open a resolved dataset from the cache; build it first where it is not there."""
    floating = isinstance(spec.source, HfSource) and not spec.source.cached
    access = Access(
        cache=cache, offline=offline, refresh=refresh or (floating and not offline), report=report
    )
    pinned = pin(spec.source, access)
    fingerprint = samples_fingerprint(spec, pinned)
    entry = None if access.refresh else cache.find("samples", fingerprint)
    cached = entry is not None
    if entry is None:
        with cache.working("samples", fingerprint):
            entry = None if access.refresh else cache.find("samples", fingerprint)
            if entry is None:
                entry = _build(spec, pinned, access, fingerprint)
    _check_expectations(spec, entry)
    return Opened(_open(spec, entry, cache, fingerprint), entry, cached)


def samples_fingerprint(spec: DatasetSpec, pinned: SourcePin) -> str:
    """Return the digest of all that determines the samples, before any view."""
    source = spec.source.model_dump(mode="json", exclude={"path", "fs_options", "revision"})
    remote = None if isinstance(spec.source, HfSource) else _remote_folder(spec)
    return digest_of(
        {
            "format": FORMAT,
            "pin": pinned.identity,
            "decode": source,
            "fields": spec.fields.model_dump(mode="json"),
            "on_duplicate": _duplicate_rule(spec),
            "remote_folder": remote,
        }
    )


def _remote_folder(spec: DatasetSpec) -> str | None:
    """Return the URL that relative file names are resolved against while building, if remote."""
    path = spec.source.path[0]
    return None if is_local(path) else public_location(path).rpartition("/")[0]


def _duplicate_rule(spec: DatasetSpec) -> str:
    """Return what to do with ids seen before; numbering makes the source's ids irrelevant."""
    return "keep" if spec.view.auto_id else spec.on_duplicate


def records_of(spec: DatasetSpec, pinned: SourcePin, access: Access) -> Iterator[DatasetRecord]:
    """Yield the records of a pinned source, file after file."""
    files = fetch(spec.source, pinned, access)
    return chain.from_iterable(decode(file, spec.source) for file in files)


def _build(spec: DatasetSpec, pinned: SourcePin, access: Access, fingerprint: str) -> CacheEntry:
    """Write the samples of a source to a new entry of the cache."""
    samples = _unique(samples_of(spec, pinned, access), spec)
    with access.cache.temporary() as folder:
        count = _write(samples, folder / "samples.arrow", access.report)
        if count == 0 and spec.expect.samples != 0:
            raise DecodeError("no samples come out of the source", file=location_of(spec))
        access.cache.discard("samples", fingerprint)
        meta = {"name": spec.name, "samples": count, "source": location_of(spec)}
        return access.cache.publish(folder, "samples", fingerprint, meta)


def samples_of(spec: DatasetSpec, pinned: SourcePin, access: Access) -> Iterator[Sample]:
    """Yield the samples of a source in its order, before duplicates and views."""
    records = records_of(spec, pinned, access)
    mapper = _mapper_of(spec)
    mapped = map_records(enumerate(records, 1), mapper, dataset=spec.name)
    samples = chain.from_iterable(mapped)
    path = spec.source.path[0]
    if isinstance(spec.source, HfSource) or is_local(path):
        return samples
    resolve = remote_resolver(path, spec.source.fs_options)
    return (resolve_files(sample, resolve) for sample in samples)


def _mapper_of(spec: DatasetSpec) -> RecordToSample:
    try:
        return compile_fields(spec.fields)
    except ValueError as error:
        raise ManifestError(
            [Problem(message=str(error), file=spec.name, path="$.fields")]
        ) from error


def peek(spec: DatasetSpec, cache: Cache) -> CacheEntry | None:
    """Return the cached samples of a dataset, or None; without any request."""
    try:
        pinned = pin(spec.source, Access(cache=cache, offline=True))
    except SourceError:
        return None
    return cache.find("samples", samples_fingerprint(spec, pinned))


def preview_records(spec: DatasetSpec, cache: Cache) -> Iterator[Sample]:
    """Yield the samples of local records in their order: no request, no view, nothing cached."""
    access = Access(cache=cache, offline=True)
    samples = samples_of(spec, pin(spec.source, access), access)
    return map(_finisher(spec), samples)


def _unique(samples: Iterable[Sample], spec: DatasetSpec) -> Iterator[Sample]:
    """Yield samples with ids that are their own; the rule says what to do with the others."""
    rule = _duplicate_rule(spec)
    seen: dict[str | int, int] = {}
    for number, sample in enumerate(samples, 1):
        if sample.id is None or rule == "keep":
            yield sample
        elif sample.id not in seen:
            seen[sample.id] = number
            yield sample
        elif rule == "suffix":
            sample.id = _free_id(sample.id, seen)
            seen[sample.id] = number
            yield sample
        elif rule == "error":
            message = (
                f"the id is that of sample {seen[sample.id]} already"
                " (on_duplicate: drop or suffix keeps one or numbers them)"
            )
            raise MappingError(
                message, dataset=spec.name, record=number, field="id", value=sample.id
            )


def _free_id(taken: str | int, seen: dict[str | int, int]) -> str:
    number = 2
    while f"{taken}-{number}" in seen:
        number += 1
    return f"{taken}-{number}"


def _write(samples: Iterator[Sample], path: Path, report: Report) -> int:
    """Write samples to an Arrow file, a batch at a time; return their number."""
    import pyarrow as pa

    from registry.sample_table import SCHEMA, row_of, table_of

    count, rows = 0, []
    with pa.ipc.new_file(str(path), SCHEMA) as writer:
        for sample in samples:
            rows.append(row_of(sample))
            if len(rows) == _BATCH_ROWS:
                writer.write_table(table_of(rows))
                count, rows = count + len(rows), []
                report(Progress("map", count))
        if rows:
            writer.write_table(table_of(rows))
    report(Progress("map", count + len(rows), count + len(rows)))
    return count + len(rows)


def _check_expectations(spec: DatasetSpec, entry: CacheEntry) -> None:
    wanted, found = spec.expect.samples, entry.meta["samples"]
    if wanted is not None and wanted != found:
        raise ExpectationError(
            f"{spec.name}: expect.samples is {wanted:,}, the source gives {found:,}"
            " (has the source changed? pin its revision, or mend the number)"
        )


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
        order="hub" if isinstance(spec.source, HfSource) else "file",
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
