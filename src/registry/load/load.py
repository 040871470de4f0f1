"""Open a resolved dataset, and compare its samples with those that are pinned.

    spec → plan (pin, find in the cache) → [build] → open → view → compare with the pin

Or look up what the cache has of it; then nothing is built, and no request made.
"""

from __future__ import annotations

import functools
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from registry.base.digest import digest_of
from registry.boundary.boundary import Boundary
from registry.cache.locks import again_if_lost
from registry.errors import AccessError, LockError, SourceError
from registry.installation import our_own
from registry.load.materials import check_named, samples_id_with_named
from registry.load.provenance import Described
from registry.lockfile.pinned import PinnedSources, known_sources
from registry.manifest.models import DatasetSpec
from registry.pipeline.fingerprint import find_all, pin_all, samples_fingerprint
from registry.pipeline.plan import first_samples, plan
from registry.progress import Deadline, Progress, Report, log_waits
from registry.settings import deadline_seconds, remote_cache
from registry.sources.pins import PartsError, SourceContext, UnknownDigestError

if TYPE_CHECKING:
    from registry.base.executor import Executor, Workers
    from registry.base.materials import SamplesId
    from registry.cache.cache import Cache, CacheEntry
    from registry.cache.remote import RemoteSamples
    from registry.lockfile.models import Pin
    from registry.pipeline.execute import LoadResult
    from registry.pipeline.expectations import QualityWarning
    from registry.store.arrow_dataset import ArrowDataset

__all__ = [
    "check_cached",
    "check_samples",
    "find_fingerprint",
    "find_samples_id",
    "load",
    "open_cached",
    "open_found",
    "open_pinned",
    "remember_pinned",
    "sample_warnings",
]


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
    elsewhere: Executor | None = None,
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
        workers: Processes that do large builds.
        elsewhere: Where files of a source are mapped, if it has several.

    Raises:
        LockError: the samples, or the files that they name, differ from those the lockfile pins.
            Other errors as `get_dataset`.
    """
    unpinned = not offline and (lock is None or not lock.complete)
    rebuild = refresh or (unpinned and any(source.builds_anew for source in spec.sources))
    deadline, reported = Deadline(deadline_seconds()), report or log_waits(spec.name)

    # A mapped sample is progress; what is fetched counts for itself.
    def count_and_report(progress: Progress) -> None:
        if progress.stage == "map":
            deadline.progress()
        reported(progress)

    context = SourceContext(
        boundary=boundary,
        cache=cache,
        offline=offline,
        refresh=rebuild,
        reread=reread,
        parts=True,
        lock=lock,
        dataset=spec.name,
        report=count_and_report,
        deadline=deadline,
        workers=workers,
        elsewhere=elsewhere,
        remote=functools.cache(
            partial(_remote_samples, spec.name, cache, lock, boundary=boundary, offline=offline)
        ),
    )
    pin = None if lock is None else lock.samples
    try:
        result = _plan_and_execute(spec, context, pin, verify=verify, full=full)
    except AccessError as error:
        if spec.access is None or str(spec.access.url) in str(error):
            raise
        raise AccessError(f"{error} (its terms: {spec.access.url})") from error
    # If damage is found later, when a sample is read.
    result.dataset.origin = partial(
        _reload, spec, cache, boundary=boundary, offline=offline, full=full, lock=lock
    )
    result.dataset.described = Described(
        spec, result.pins, lock, result.entry.meta.get("corrected")
    )
    if verify:
        result.dataset.verify_view()
    if pin is not None and not result.checked:
        check_cached(result, pin, cache)
    if lock is not None and pin is not None and lock.named:
        check_named(spec, result, pin, context)
    return result


def _reload(spec: DatasetSpec, cache: Cache, **options: Any) -> ArrowDataset:
    return load(spec, cache, **options).dataset


def _plan_and_execute(
    spec: DatasetSpec, context: SourceContext, pin: Pin | None, *, verify: bool, full: bool
) -> LoadResult:
    """Return the open dataset; new samples that match the pin are remembered as matching."""
    # Imported here, as below: `list` and `show` must not pay for it.
    from registry.pipeline.execute import RemoteUnusableError, execute

    check = None if pin is None else partial(check_samples, pin=pin)

    def attempt(*, full: bool) -> LoadResult:
        while True:
            decided = plan(spec, context, verify=verify, full=full)
            # The remote cache is asked once for an entry, so this ends.
            with suppress(RemoteUnusableError):
                return execute(decided, spec, context, check=check, verify=verify)

    try:
        result = again_if_lost(partial(attempt, full=full), context.cache.root)
    except UnknownDigestError as error:
        # The format of a repository's files is known once they are listed: only Parquet can be
        # read in part. And whether the parts of a file are enough is known once they are read.
        if isinstance(error, PartsError):
            context.report(Progress("wait", 1, note=f"the whole file, as {error}"))
        context = replace(context, parts=False)
        result = again_if_lost(partial(attempt, full=True), context.cache.root)
    if pin is not None and result.checked:
        remember_pinned(result, pin, context.cache)
    return result


def _remote_samples(
    dataset: str, cache: Cache, lock: PinnedSources | None, *, boundary: Boundary, offline: bool
) -> RemoteSamples | None:
    """Return what the remote cache has of a dataset, if there is one."""
    remote = remote_cache()
    if remote is None:
        return None
    reviewed = None if lock is None else lock.reviewed
    # Imported now: what is cached locally must not pay for it.
    samples: RemoteSamples | None = our_own("remote_samples_of")(
        cache, remote, dataset=dataset, reviewed=reviewed, boundary=boundary, offline=offline
    )
    return samples


def remember_pinned(result: LoadResult, pin: Pin, cache: Cache) -> None:
    """Remember that the samples of an entry match a pin, so that `load` need not compare them."""
    cache.remember(_pinned_key(result, pin), {"pinned": True})


def check_cached(result: LoadResult, pin: Pin, cache: Cache) -> None:
    """Compare cached samples with their pin, once per content because it reads all of them.

    Samples that differ stay in the cache: they were built without this pin, and without it they
    are used.
    """
    # Also for what another process made while this one waited for it.
    if not cache.recall(_pinned_key(result, pin), "pinned"):
        check_samples(result.dataset, pin)
        remember_pinned(result, pin, cache)


def check_samples(dataset: ArrowDataset, pin: Pin) -> None:
    """Raise a LockError if samples differ from those that the lockfile pins."""
    from registry.samples.digest import (
        samples_id,  # cached samples that were compared don't need it
    )

    found = samples_id(dataset)
    if found != pin.samples_id:
        name = dataset.name
        raise LockError(
            f"{name}: its sources match datasets.lock, its samples differ: pinned"
            f" {pin.samples_id}, found {found} (damaged when it was read, or has the"
            " mapping code changed? try `--refresh`, and look at the samples before `registry lock"
            f" --upgrade {name}` pins them)"
        )


def _pinned_key(result: LoadResult, pin: Pin) -> str:
    # With the digests of the files: other samples may have been built since, without this pin.
    meta = result.entry.meta
    pinned = [pin.spec, pin.ordered]
    return digest_of({"samples": meta["fingerprint"], "files": meta["files"], "pin": pinned})


def find_fingerprint(
    spec: DatasetSpec,
    cache: Cache,
    lock: PinnedSources | None = None,
    *,
    boundary: Boundary,
    code: str | None = None,
) -> tuple[str, CacheEntry | None]:
    """Return what identifies the samples of a dataset, and the cached ones; makes no request.

    The fingerprint is empty if it depends on what only a request can tell. The cached ones may be
    the first ones alone, if these are enough. `code` is the digest of the mapper's package, in
    place of that which is installed.
    """
    context = SourceContext(boundary=boundary, cache=cache, offline=True, lock=lock)
    fingerprint, entry = "", None
    with suppress(SourceError, LockError):
        pins = pin_all(spec, context)
        known = pins if code is None else replace(pins, code=code)
        _, entry = find_all(spec, known, partial(cache.find, "samples"))
        fingerprint = samples_fingerprint(spec, known)
    if entry is None and code is None and first_samples(spec) is not None:
        with suppress(SourceError, LockError):
            entry = plan(spec, context).entry
    return fingerprint, entry


def open_cached(
    spec: DatasetSpec,
    cache: Cache,
    lock: PinnedSources | None = None,
    *,
    boundary: Boundary,
    code: str | None = None,
) -> ArrowDataset | None:
    """Open a dataset if its samples are cached, else return None; as `find_fingerprint`."""
    _, entry = find_fingerprint(spec, cache, lock, boundary=boundary, code=code)
    return None if entry is None else open_found(spec, cache, entry, boundary=boundary)


def open_found(
    spec: DatasetSpec, cache: Cache, entry: CacheEntry, *, boundary: Boundary
) -> ArrowDataset:
    """Open the cached samples that were found for a dataset."""
    from registry.pipeline.execute import Opening, open_entry

    return open_entry(Opening.of(spec, boundary), entry, cache, entry.meta["fingerprint"])


def open_pinned(
    spec: DatasetSpec, cache: Cache, pin: Pin, *, boundary: Boundary
) -> ArrowDataset | None:
    """Open the cached samples of a pin, by it alone: the files may have changed since."""
    lock = replace(known_sources(spec, pin), complete=True, any_branch=True, compare=False)
    return open_cached(spec, cache, lock, boundary=boundary)


def find_samples_id(
    spec: DatasetSpec, cache: Cache, lock: PinnedSources | None = None, *, boundary: Boundary
) -> SamplesId | None:
    """Return which samples a dataset has, if they are cached; all of them are read."""
    _, entry = find_fingerprint(spec, cache, lock, boundary=boundary)
    if entry is None:
        return None
    dataset = open_found(spec, cache, entry, boundary=boundary)
    context = SourceContext(boundary=boundary, cache=cache, offline=True)
    return samples_id_with_named(spec, dataset, entry.meta["columns"], context)


def sample_warnings(spec: DatasetSpec, entry: CacheEntry) -> list[QualityWarning]:
    """Return what is questionable in cached samples, and not accepted by the manifest."""
    # Imported here: a warm open must not pay for it.
    from registry.pipeline.expectations import quality_warnings

    return quality_warnings(spec, entry.meta)
