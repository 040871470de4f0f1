"""Open a dataset by its name: the one road from a manifest to samples.

name → catalog → resolve → pin → [cached? open] → fetch → decode → map → write → open → view
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from registry.base.digest import digest_of
from registry.build.fingerprint import pin_all, samples_fingerprint
from registry.cache import Cache, CacheEntry
from registry.catalog.catalog import Catalog, display_path
from registry.errors import (
    DecodeError,
    ExpectationError,
    LockError,
    LockStaleError,
    SourceError,
)
from registry.lockfile.models import Pin
from registry.lockfile.pin_cache import read_pin
from registry.lockfile.pinned import PinnedSources, pin_sources
from registry.manifest.models import DatasetSpec
from registry.manifest.resolve import spec_of_source
from registry.progress import Report, silent
from registry.settings import Settings
from registry.sources import pin, probe
from registry.sources.pins import Pins, SourceContext, SourcePin, UnknownDigestError

if TYPE_CHECKING:
    from registry.build.builder import BuildResult
    from registry.samples.dataset import Dataset
    from registry.samples.sample import DatasetRecord, Sample
    from registry.store.arrow_dataset import ArrowDataset

__all__ = [
    "LoadResult",
    "SourceContext",
    "find_cached",
    "get_dataset",
    "inspect_source",
    "list_datasets",
    "load",
    "open_cached",
    "preview_records",
    "remember_pinned",
]


def get_dataset(
    name: str,
    *,
    root: str | Path | None = None,
    offline: bool | None = None,
    refresh: bool = False,
    locked: bool | None = None,
    frozen: bool | None = None,
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
        locked: Refuse what `datasets.lock` does not pin, or pins otherwise than the manifest
            says. None takes REGISTRY_LOCKED.
        frozen: Take the bytes that `datasets.lock` pins whatever the manifest says, and look up
            nothing. None takes REGISTRY_FROZEN.
        source: A path or URL with the same data, in place of the manifest's location. Its
            suffix tells the type; `expect` is not checked.
        **overrides: `shuffle`, `seed`, `shuffle_choices` (a seed), `limit` and `auto_id` of the
            view; `split` and `revision` of the source (then `expect` is not checked).

    Raises:
        DatasetNotFoundError: no such dataset; the message has the nearest names.
        ManifestError: its manifest or an override is not valid.
        LockError: the lockfile is not valid, or the samples are not those it pins.
        LockStaleError: it pins something else, and `locked` or `frozen` refuse that.
        SourceError: the source can't be had (OfflineError, AccessError), or is not what
            `datasets.lock` pins (DigestMismatchError).
        DecodeError: a file is not what its type says.
        MappingError: a record does not become a sample.
        ExpectationError: the samples are not what `expect` says.
        TypeError: an unknown override.
    """
    settings = Settings.from_environment(root=root, offline=offline, locked=locked, frozen=frozen)
    catalog = Catalog.open(settings.index)
    spec = catalog.resolve(name, overrides=overrides, source=source)
    opened = load(
        spec,
        Cache(settings.cache_dir),
        offline=settings.offline,
        refresh=refresh,
        lock=_pinned_sources(name, catalog, settings, spec, overrides, source),
    )
    return opened.dataset


def _pinned_sources(
    name: str,
    catalog: Catalog,
    settings: Settings,
    spec: DatasetSpec,
    overrides: Mapping[str, Any],
    source: str | None,
) -> PinnedSources | None:
    """Hold a dataset to its pin, which is of the manifest: overrides change no more than a view."""
    elsewhere = [key for key in ("split", "revision") if key in overrides]
    elsewhere += [] if source is None else ["source"]
    if elsewhere:
        if settings.locked or settings.frozen:
            message = f"`{elsewhere[0]}` asks for other data than datasets.lock pins"
            raise LockStaleError(name, f"{message} (leave it out, or `locked` and `frozen`)")
        return None
    own = catalog.resolve(name) if overrides else spec
    pin = read_pin(
        settings.lock_file, name, settings.cache_dir, shown_as=display_path(settings.lock_file)
    )
    lock = pin_sources(own, pin, locked=settings.locked, frozen=settings.frozen)
    return replace(lock, samples=None) if lock is not None and own != spec else lock


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


class LoadResult(Struct, frozen=True):
    """A dataset, and how it was come by."""

    dataset: ArrowDataset
    entry: CacheEntry
    """The samples in the cache."""
    cached: bool
    """Whether they were there before."""
    pins: Pins
    """What the sources hold."""


def load(
    spec: DatasetSpec,
    cache: Cache,
    *,
    offline: bool = False,
    refresh: bool = False,
    verify: bool = False,
    whole: bool = False,
    lock: PinnedSources | None = None,
    report: Report = silent,
) -> LoadResult:
    """Open a resolved dataset from the cache; build it first where it is not there.

    Sizes are compared on every open; `verify` also reads the samples and compares their digest.
    `whole` builds all samples even where the first would do. With `lock` the sources are the
    bytes that the lockfile pins, and so are the samples, once compared for each entry.
    """
    floats = not offline and (lock is None or not lock.complete)
    again = refresh or (floats and any(source.builds_anew for source in spec.sources))
    context = SourceContext(cache=cache, offline=offline, refresh=again, lock=lock, report=report)
    opened = None if again or whole else _load_first(spec, context, verify=verify)
    opened = opened or _load_all(spec, context, verify=verify)
    if lock is not None and lock.samples is not None:
        _check_samples(opened, lock.samples, cache)
    return opened


def _load_all(spec: DatasetSpec, context: SourceContext, *, verify: bool) -> LoadResult:
    pins = pin_all(spec, context)
    fingerprint = samples_fingerprint(spec, pins)
    entry, cached = _entry(spec, pins, context, fingerprint, verify=verify)
    _check_count(spec, entry.meta["samples"])
    return LoadResult(_open(spec, entry, context.cache, fingerprint), entry, cached, pins)


def _check_samples(opened: LoadResult, pin: Pin, cache: Cache) -> None:
    """Compare the samples with their pin, the first time that it is this pin and this entry."""
    if opened.cached and cache.recall(_pinned_key(opened, pin), "pinned"):
        return
    from registry.store.digest import digest_samples

    found = digest_samples(opened.dataset.as_stored())
    if (found.samples, found.ordered) != (pin.samples, pin.ordered):
        name = opened.dataset.name
        raise LockError(
            f"{name}: its sources are those that datasets.lock pins, its samples are not: pinned"
            f" {pin.samples:,}, {pin.ordered}, found {found.samples:,}, {found.ordered} (has code"
            f" that maps them changed? `python -m registry lock --upgrade {name}` pins these)"
        )
    remember_pinned(opened, pin, cache)


def remember_pinned(opened: LoadResult, pin: Pin, cache: Cache) -> None:
    """Remember that samples in the cache are those of a pin, so that no open compares them."""
    cache.remember(_pinned_key(opened, pin), {"pinned": True})


def _pinned_key(opened: LoadResult, pin: Pin) -> str:
    return digest_of({"samples": opened.entry.meta["fingerprint"], "pin": [pin.spec, pin.ordered]})


def _check_count(spec: DatasetSpec, found: int) -> None:
    """Raise an ExpectationError where the number of samples is another."""
    wanted = spec.expect.samples
    if wanted is not None and wanted != found:
        raise ExpectationError(
            f"{spec.name}: expect.samples is {wanted:,}, the source gives {found:,}"
            " (has the source changed? pin its revision, or mend the number)"
        )


def _entry(
    spec: DatasetSpec,
    pins: Pins,
    context: SourceContext,
    fingerprint: str,
    *,
    verify: bool,
    limit: int | None = None,
) -> tuple[CacheEntry, bool]:
    """Return the samples with a fingerprint, and whether they were in the cache before."""
    entry = _cached(context, fingerprint, verify=verify)
    if entry is not None:
        return entry, True
    with context.cache.working("samples", fingerprint):
        entry = _cached(context, fingerprint)
        return entry or _build(spec, pins, context, fingerprint, limit), False


def _load_first(spec: DatasetSpec, context: SourceContext, *, verify: bool) -> LoadResult | None:
    """Open only the first samples, where the dataset is no more than those; else None.

    Then no more of the sources is read than they need, unless all samples are in the cache.
    `expect.samples` is of all samples, and is left to whoever builds those.
    """
    limit = _first_samples(spec)
    if limit is None:
        return None
    known = None
    with contextlib.suppress(UnknownDigestError):
        known = pin_all(spec, replace(context, whole=False))
        if _cached(context, samples_fingerprint(spec, known)) is not None:
            return None
    is_pinned = context.lock is not None and context.lock.complete
    if known is not None and is_pinned:  # then a glance is of the pinned bytes, or leads nowhere
        fingerprint = _first_fingerprint(spec, known, limit)
        found = _cached(context, fingerprint, verify=verify)
        if found is not None:
            return LoadResult(_open(spec, found, context.cache, fingerprint), found, True, known)
    probes = [probe(source, context) for source in spec.sources]
    pins = Pins(tuple(one for one in probes if one is not None))
    if len(pins.sources) < len(probes):
        return None
    of = known if known is not None and is_pinned else pins
    fingerprint = _first_fingerprint(spec, of, limit)
    try:
        entry, cached = _entry(spec, pins, context, fingerprint, verify=verify, limit=limit)
    except UnknownDigestError:
        return None
    if not cached and [probe(source, context) for source in spec.sources] != probes:
        context.cache.discard("samples", fingerprint)
        raise SourceError(f"{spec.location}: changed while it was read (try again)")
    return LoadResult(_open(spec, entry, context.cache, fingerprint), entry, cached, pins)


def _first_fingerprint(spec: DatasetSpec, pins: Pins, limit: int) -> str:
    return digest_of({"first": limit, "of": samples_fingerprint(spec, pins)})


def _first_samples(spec: DatasetSpec) -> int | None:
    """Return how many samples from the start of the sources make the dataset; None for all."""
    needs_all = (
        spec.view.shuffle
        or spec.sample is not None
        or spec.join is not None
        or spec.duplicate_rule == "drop"
    )
    by_record = spec.where is not None or spec.explode is not None or spec.mapper is not None
    if needs_all or (by_record and not all(source.is_stream for source in spec.sources)):
        return None
    return spec.view.limit


def _cached(context: SourceContext, fingerprint: str, *, verify: bool = False) -> CacheEntry | None:
    """Return the samples in the cache; damaged ones go to quarantine."""
    from registry.store.reader import is_readable

    entry = None if context.refresh else context.cache.find("samples", fingerprint)
    if entry is None or (verify and not context.cache.verify("samples", entry)):
        return None
    if not is_readable(entry.folder / "samples.arrow"):
        context.cache.quarantine("samples", fingerprint)
        return None
    return entry


def _open(spec: DatasetSpec, entry: CacheEntry, cache: Cache, fingerprint: str) -> ArrowDataset:
    """Open samples; what that needs is imported only now, as listing and showing do without."""
    from registry.build.open import open_entry

    return open_entry(spec, entry, cache, fingerprint)


def find_cached(
    spec: DatasetSpec, cache: Cache, lock: PinnedSources | None = None
) -> CacheEntry | None:
    """Return the cached samples of a dataset, or None; without any request."""
    return _find(spec, cache, lock)[1]


def open_cached(
    spec: DatasetSpec, cache: Cache, lock: PinnedSources | None = None
) -> ArrowDataset | None:
    """Open a dataset if its samples are in the cache; without any request, and nothing is built."""
    fingerprint, entry = _find(spec, cache, lock)
    return None if entry is None else _open(spec, entry, cache, fingerprint)


def _find(
    spec: DatasetSpec, cache: Cache, lock: PinnedSources | None
) -> tuple[str, CacheEntry | None]:
    try:
        pins = pin_all(spec, SourceContext(cache=cache, offline=True, lock=lock))
    except (SourceError, LockStaleError):
        return "", None
    fingerprint = samples_fingerprint(spec, pins)
    return fingerprint, cache.find("samples", fingerprint)


def preview_records(spec: DatasetSpec, cache: Cache) -> Iterator[Sample]:
    """Yield the samples of local records in their order: no request, no view, nothing cached."""
    from registry.build.builder import samples_in_order
    from registry.build.open import finisher

    context = SourceContext(cache=cache, offline=True)
    finish = finisher(spec)
    return (finish(sample) for _, sample in samples_in_order(spec, pin_all(spec, context), context))


def inspect_source(
    source: Mapping[str, Any], folder: Path, context: SourceContext
) -> tuple[SourcePin, list[DatasetRecord]]:
    """Return the pin and the records of a source that no manifest describes yet."""
    from registry.build.builder import records_of

    spec = spec_of_source(source, folder)
    pinned = pin(spec, context)
    return pinned, list(records_of(spec, pinned, context))


def build_samples(
    spec: DatasetSpec, pins: Pins, context: SourceContext, folder: Path, *, limit: int | None
) -> BuildResult:
    """Write a samples file; what that needs is imported only now."""
    from registry.build.builder import build

    return build(spec, pins, context, folder, limit=limit)


def _build(
    spec: DatasetSpec, pins: Pins, context: SourceContext, fingerprint: str, limit: int | None
) -> CacheEntry:
    """Write the samples of a dataset, or only the first, to a new entry of the cache."""
    with context.cache.temporary() as folder:
        result = build_samples(spec, pins, context, folder, limit=limit)
        if result.rows == 0 and spec.expect.samples != 0 and limit != 0:
            raise DecodeError("no samples come out of the source", file=spec.location)
        meta = {
            "name": spec.name,
            "samples": result.rows,
            "source": spec.location,
            "batches": result.batches,
            "columns": result.columns,
        }
        known = {result.path.name: result.sha256}
        return context.cache.publish(
            folder, "samples", fingerprint, meta, digests=known, replace=context.refresh
        )
