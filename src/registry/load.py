"""Open a dataset by its name.

    name → catalog → resolve → plan (pin, find in the cache) → [build] → open → view

`get_dataset` resolves the name, `load` plans, `execute` builds and opens.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct
from msgspec.structs import replace

from registry.base.digest import digest_of
from registry.boundary.boundary import Boundary
from registry.build.fingerprint import pin_all, samples_fingerprint
from registry.build.plan import plan
from registry.cache.cache import Cache, CacheEntry
from registry.cache.retry import again_if_lost
from registry.catalog.catalog import Catalog, display_path
from registry.errors import (
    CacheError,
    LockError,
    LockStaleError,
    SourceError,
)
from registry.lockfile.models import Pin
from registry.lockfile.pin_cache import read_pin
from registry.lockfile.pinned import PinnedSources, pin_sources
from registry.manifest.models import DatasetSpec
from registry.manifest.resolve import spec_of_source
from registry.progress import Deadline, Progress, Report, log_waits
from registry.settings import Settings, deadline_seconds, remote_cache
from registry.sources.pins import SourceContext, SourcePin, UnknownDigestError
from registry.sources.source_type import reader_of, records_of

if TYPE_CHECKING:
    from registry.base.processes.elsewhere import Elsewhere
    from registry.base.processes.pool import Workers
    from registry.build.execute import LoadResult
    from registry.build.expectations import QualityWarning
    from registry.build.open import Opening
    from registry.cache.remote.shared_samples import SharedSamples
    from registry.samples.dataset import Dataset
    from registry.samples.sample import DatasetRecord, Sample
    from registry.store.arrow_dataset import ArrowDataset

__all__ = [
    "SourceContext",
    "find_cached",
    "find_fingerprint",
    "get_dataset",
    "inspect_source",
    "list_datasets",
    "load",
    "open_cached",
    "preview_records",
    "remember_pinned",
    "sample_warnings",
    "samples_digest",
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
    """Return the dataset `name` of the catalog. It is built once, then opened from the cache.

    Args:
        name: One of the names that `list_datasets` returns.
        root: A folder with a `datasets.yaml`, or such a file. None means REGISTRY_ROOT, else
            the nearest one in the working directory or above it, else the built-in catalog.
        offline: Make no request. None means REGISTRY_OFFLINE and HF_HUB_OFFLINE.
        refresh: Read the source and build again, even if the samples are cached.
        locked: Refuse a dataset that `datasets.lock` does not pin, or pins for an older
            manifest. None means REGISTRY_LOCKED.
        frozen: Use the bytes that `datasets.lock` pins even if the manifest has changed, and
            don't look for newer ones. None means REGISTRY_FROZEN.
        source: A path or URL with the same data, to read in place of the manifest's. Its
            suffix determines the type; `expect` is not checked.
        **overrides: `shuffle`, `seed`, `shuffle_choices` (a seed), `limit` and `auto_id` of the
            view; `split` and `revision` of the source (then `expect` is not checked).

    Raises:
        DatasetNotFoundError: no such dataset; the message suggests similar names.
        ManifestError: its manifest or an override is invalid, or names columns that no record has.
        LockError: the lockfile is invalid, or the samples differ from those it pins.
        LockStaleError: `locked` or `frozen` is set, and the lockfile does not pin this dataset.
        SourceError: the source can't be read (OfflineError, AccessError), or is not what
            `datasets.lock` pins (DigestMismatchError).
        DecodeError: a file is invalid for its type.
        MappingError: a record can't be mapped to a sample.
        ExpectationError: the samples differ from what `expect` says.
        TypeError: an unknown override.

    Warns:
        UserWarning: samples that were just built are questionable, such as blank targets.
    """
    from registry.build.open import Opening  # `list` and `show` must not pay for it

    settings = Settings.from_environment(root=root, offline=offline, locked=locked, frozen=frozen)
    catalog = Catalog.open(settings=settings)
    spec = catalog.resolve(name, overrides=overrides, source=source)
    lock = _pinned_sources(name, catalog, settings, spec, overrides, source)
    boundary = catalog.boundary
    if source is not None:
        from registry.boundary.paths import allow_location  # few calls name one

        # It is the user's own word, and the rest of the manifest is not.
        boundary = allow_location(boundary, source)
    with catalog.locating(name):
        result = load(
            spec,
            Cache(settings.cache_dir),
            boundary=boundary,
            offline=settings.offline,
            refresh=refresh,
            lock=lock,
        )
    call = {"offline": offline, "locked": locked, "frozen": frozen, "source": source, **overrides}
    result.dataset.origin = CachedSamples(
        fingerprint=result.entry.meta["fingerprint"],
        is_part=result.entry.meta.get("limit") is not None,
        opening=Opening.of(spec, boundary),
        call={"root": str(settings.index), **call},
    )
    # Once, when they are built: a warm open says nothing new.
    if not result.cached:
        from registry.build.expectations import warning_texts

        for text in warning_texts(spec, result.entry.meta):
            warnings.warn(text, stacklevel=2)
    return result.dataset


def list_datasets(
    tags: Iterable[str] | str | None = None, *, root: str | Path | None = None
) -> list[str]:
    """Return the names of the catalog's datasets, sorted.

    Args:
        tags: Return only datasets that have all of these tags.
        root: As for `get_dataset`.
    """
    wanted = {tags} if isinstance(tags, str) else set(tags or ())
    catalog = Catalog.open(root)
    if not wanted:
        return list(catalog)
    return [name for name in catalog if wanted <= catalog.tags_of(name)]


def load(
    spec: DatasetSpec,
    cache: Cache,
    *,
    boundary: Boundary,
    offline: bool = False,
    refresh: bool = False,
    verify: bool = False,
    full: bool = False,
    reread: bool = False,
    lock: PinnedSources | None = None,
    report: Report | None = None,
    workers: Workers | None = None,
    elsewhere: Elsewhere | None = None,
) -> LoadResult:
    """Open a resolved dataset from the cache; build it first if necessary.

    Args:
        spec: The dataset.
        cache: Where samples are stored.
        boundary: What it may reach.
        offline: Make no request.
        refresh: Build again, even if the samples are cached.
        verify: Compare the digest of cached samples and the checksums of the view; otherwise each
            part is checked when it is first read.
        full: Build all samples even if the first ones are enough for the view.
        reread: Digest local and downloaded files again, even if their digests are remembered.
        lock: What the lockfile pins. The samples are compared with it too: new ones before they
            are published, cached ones once per content.
        report: Called with the progress of a build, and while another process is waited for;
            without it, waits of more than a second are logged.
        workers: Processes that do large builds, and the only ones; without them, a build that is
            bound by Python starts its own.
        elsewhere: Where files of a source are mapped, if it has several.

    Raises:
        LockError: the samples differ from those the lockfile pins. Other errors as `get_dataset`.
    """
    unpinned = not offline and (lock is None or not lock.complete)
    rebuild = refresh or (unpinned and any(source.builds_anew for source in spec.sources))
    deadline = Deadline(deadline_seconds())
    context = SourceContext(
        boundary=boundary,
        cache=cache,
        offline=offline,
        refresh=rebuild,
        reread=reread,
        lock=lock,
        dataset=spec.name,
        report=_counting(report or log_waits(spec.name), deadline),
        deadline=deadline,
        workers=workers,
        elsewhere=elsewhere,
        shared=functools.cache(
            partial(_shared_samples, cache, lock, boundary=boundary, offline=offline)
        ),
    )
    if workers is not None or elsewhere is not None:
        context = replace(context, jobs=1)
    pin = None if lock is None else lock.samples
    result = _open(spec, context, pin, verify=verify, full=full)
    # If damage is found later, when a sample is read.
    result.dataset.origin = partial(
        _reload, spec, cache, boundary=boundary, offline=offline, full=full, lock=lock
    )
    if verify:
        result.dataset.verify_view()
    if pin is not None and not result.checked:
        _check_cached(result, pin, cache)
    return result


def _reload(spec: DatasetSpec, cache: Cache, **options: Any) -> ArrowDataset:
    return load(spec, cache, **options).dataset


def _counting(report: Report, deadline: Deadline) -> Report:
    """Return a report for which a mapped sample is progress; what is fetched counts for itself."""

    def count_and_report(progress: Progress) -> None:
        if progress.stage == "map":
            deadline.progress()
        report(progress)

    return count_and_report


def _open(
    spec: DatasetSpec, context: SourceContext, pin: Pin | None, *, verify: bool, full: bool
) -> LoadResult:
    """Plan and execute; new samples that match the pin are remembered as matching."""
    # Imported here: `list` and `show` must not pay for it.
    from registry.build.execute import NotSharedError, execute

    check = None if pin is None else partial(_compare, pin=pin)

    def run(*, full: bool) -> LoadResult:
        while True:
            decided = plan(spec, context, verify=verify, full=full)
            # The shared cache is asked once for an entry, so this ends.
            with suppress(NotSharedError):
                return execute(decided, spec, context, check=check, verify=verify)

    try:
        result = again_if_lost(partial(run, full=full), context.cache)
    except UnknownDigestError:
        # The format of a repository's files is known once they are listed: only Parquet can be
        # read in part.
        result = again_if_lost(partial(run, full=True), context.cache)
    if pin is not None and result.checked:
        remember_pinned(result, pin, context.cache)
    return result


def _shared_samples(
    cache: Cache,
    lock: PinnedSources | None,
    *,
    boundary: Boundary,
    offline: bool,
) -> SharedSamples | None:
    """Return what the shared cache has of a dataset, if there is one."""
    remote = remote_cache()
    if remote is None:
        return None
    # Imported here: what is cached locally must not pay for it.
    from registry.shared import shared_samples_of

    reviewed = None if lock is None else lock.reviewed
    return shared_samples_of(cache, remote, reviewed=reviewed, boundary=boundary, offline=offline)


def sample_warnings(spec: DatasetSpec, entry: CacheEntry) -> list[QualityWarning]:
    """Return what is questionable in cached samples, and not accepted by the manifest."""
    # Imported here: a warm open must not pay for it.
    from registry.build.expectations import quality_warnings

    return quality_warnings(spec, entry.meta)


def find_cached(
    spec: DatasetSpec, cache: Cache, lock: PinnedSources | None = None, *, boundary: Boundary
) -> CacheEntry | None:
    """Return the cached samples of a dataset, or None. Makes no request."""
    return find_fingerprint(spec, cache, lock, boundary=boundary)[1]


def find_fingerprint(
    spec: DatasetSpec, cache: Cache, lock: PinnedSources | None = None, *, boundary: Boundary
) -> tuple[str, CacheEntry | None]:
    """Return what identifies the samples of a dataset, and the cached ones; makes no request.

    The fingerprint is empty if it depends on what only a request can tell.
    """
    try:
        context = SourceContext(boundary=boundary, cache=cache, offline=True, lock=lock)
        pins = pin_all(spec, context)
    except (SourceError, LockError):
        return "", None
    fingerprint = samples_fingerprint(spec, pins)
    return fingerprint, cache.find("samples", fingerprint)


def open_cached(
    spec: DatasetSpec, cache: Cache, lock: PinnedSources | None = None, *, boundary: Boundary
) -> ArrowDataset | None:
    """Open a dataset if its samples are cached, else return None. Makes no request."""
    from registry.build.open import Opening, open_entry

    fingerprint, entry = find_fingerprint(spec, cache, lock, boundary=boundary)
    return (
        None if entry is None else open_entry(Opening.of(spec, boundary), entry, cache, fingerprint)
    )


def samples_digest(dataset: ArrowDataset) -> tuple[int, str]:
    """Return the number of samples, and their digest in order, as a pin has them."""
    from registry.store.digest import digest_samples

    found = digest_samples(dataset.as_stored())
    return found.samples, found.ordered


def preview_records(
    spec: DatasetSpec, cache: Cache, count: int, *, boundary: Boundary
) -> tuple[list[Sample], dict[str, Any]]:
    """Return the first samples of local files, without view or cache.

    The second item describes them as `meta.json` does a cached dataset.
    """
    from registry.build.open import Opening, finisher
    from registry.build.preview import preview_samples

    context = SourceContext(boundary=boundary, cache=cache, offline=True)
    samples, meta = preview_samples(spec, pin_all(spec, context), context, count)
    finish = finisher(Opening.of(spec, boundary))
    return samples if finish is None else list(map(finish, samples)), meta


def inspect_source(
    source: Mapping[str, Any], folder: Path, context: SourceContext
) -> tuple[SourcePin, list[DatasetRecord]]:
    """Return the pin and the records of a source that has no manifest yet."""
    resolved = spec_of_source(source, folder)
    pinned = reader_of(resolved).pin(context)
    return pinned, list(records_of(resolved, pinned, context))


def remember_pinned(result: LoadResult, pin: Pin, cache: Cache) -> None:
    """Remember that the samples of an entry match a pin, so that `load` need not compare them."""
    cache.remember(_pinned_key(result, pin), {"pinned": True})


class CachedSamples(Struct, frozen=True, kw_only=True):
    """What a pickled dataset has in the place of its samples: their entry, and how to build it."""

    fingerprint: str
    """Key of the samples."""
    opening: Opening
    """Name, location and view."""
    is_part: bool
    """Whether they are only the first samples of the source, up to the limit."""
    call: dict[str, Any]
    """Arguments of `get_dataset` besides the name."""

    def __call__(self) -> ArrowDataset:
        """Open the samples in the cache of this process; build them first if they are not there.

        Raises:
            CacheError: they are not there, and the catalog does not describe these samples now.
            OfflineError: they are not there, and building them needs a request.
        """
        cache = Cache(Settings.from_environment().cache_dir)
        return again_if_lost(partial(self._open, cache), cache)

    def _open(self, cache: Cache) -> ArrowDataset:
        from registry.build.open import open_entry

        entry = cache.find("samples", self.fingerprint)
        if entry is None:
            rebuilt = cast("ArrowDataset", get_dataset(self.opening.name, **self.call))
            entry = cache.find("samples", self.fingerprint)
            # A part is not built where all samples are cached.
            if rebuilt.origin == self or (entry is None and self.is_part):
                return rebuilt
        if entry is None:
            raise CacheError(
                f"{self.opening.name}: its samples are not in the cache any more, and its manifest"
                " or its source has changed since it was pickled (open it by its name again)"
            )
        dataset = open_entry(self.opening, entry, cache, self.fingerprint)
        dataset.origin = self
        return dataset


def _pinned_sources(
    name: str,
    catalog: Catalog,
    settings: Settings,
    spec: DatasetSpec,
    overrides: Mapping[str, Any],
    source: str | None,
) -> PinnedSources | None:
    """Return what the lockfile pins for a dataset; None means the current sources are used.

    A pin belongs to the manifest. It remains valid for overrides of the view, but not for
    overrides that select other data.
    """
    other_data = [key for key in ("split", "revision") if key in overrides]
    other_data += [] if source is None else ["source"]
    if other_data:
        if settings.locked or settings.frozen:
            message = f"`{other_data[0]}` selects data that datasets.lock does not pin"
            raise LockStaleError(name, f"{message} (omit it, or `locked` and `frozen`)")
        return None
    unmodified = catalog.resolve(name) if overrides else spec
    pin = read_pin(
        settings.lock_file, name, settings.cache_dir, shown_as=display_path(settings.lock_file)
    )
    lock = pin_sources(unmodified, pin, locked=settings.locked, frozen=settings.frozen)
    return replace(lock, samples=None) if lock is not None and unmodified != spec else lock


def _check_cached(result: LoadResult, pin: Pin, cache: Cache) -> None:
    """Compare cached samples with their pin, once per content because it reads all of them.

    Samples that differ stay in the cache: they were built without this pin, and without it they
    are used.
    """
    # Also for what another process made while this one waited for it.
    if not cache.recall(_pinned_key(result, pin), "pinned"):
        _compare(result.dataset, pin)
        remember_pinned(result, pin, cache)


def _compare(dataset: ArrowDataset, pin: Pin) -> None:
    """Raise an error if samples differ from those that the lockfile pins."""
    number, ordered = samples_digest(dataset)
    if (number, ordered) != (pin.samples, pin.ordered):
        name = dataset.name
        raise LockError(
            f"{name}: its sources match datasets.lock, its samples differ: pinned"
            f" {pin.samples:,}, {pin.ordered}, found {number:,}, {ordered} (has the"
            f" mapping code changed? `registry lock --upgrade {name}` pins these)"
        )


def _pinned_key(result: LoadResult, pin: Pin) -> str:
    # With the digests of the files: other samples may have been built since, without this pin.
    meta = result.entry.meta
    pinned = [pin.spec, pin.ordered]
    return digest_of({"samples": meta["fingerprint"], "files": meta["files"], "pin": pinned})
