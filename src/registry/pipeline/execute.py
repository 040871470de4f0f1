"""Execute a plan: open the samples of the cache with their view, or build them first."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from registry.base.digest import digest_of
from registry.base.locations import Location
from registry.boundary.boundary import Boundary
from registry.cache.cache import Cache, CacheEntry
from registry.errors import DecodeError, ExpectationError
from registry.manifest.models import View
from registry.pipeline.fingerprint import has_own_examples, samples_fingerprint
from registry.pipeline.plan import Plan, find_samples
from registry.sources.filesystem import changed_error
from registry.sources.source_type import reader_of
from registry.store.arrow_dataset import ArrowDataset
from registry.store.reader import SampleFile
from registry.store.rows import FILE_COLUMNS
from registry.store.views import Order, open_view

if TYPE_CHECKING:
    from registry.manifest.models import DatasetSpec
    from registry.pipeline.fewshot.examples import Companion
    from registry.samples.sample import Sample
    from registry.sources.pins import Pins, SourceContext

__all__ = [
    "Check",
    "LoadResult",
    "Opening",
    "RemoteUnusableError",
    "check_unpublished",
    "execute",
    "finisher",
    "open_entry",
]

Check = Callable[["ArrowDataset"], None]
"""Raises an error for samples that must not be published."""


class LoadResult(Struct, frozen=True):
    """An open dataset, and how it was opened."""

    dataset: ArrowDataset
    entry: CacheEntry
    """Its samples in the cache."""
    cached: bool
    """Whether they were in the cache already."""
    pins: Pins
    """Versions of the sources."""
    checked: bool = False
    """Whether they passed the `check` of `execute`."""
    fetched: bool = False
    """Whether the remote cache had them."""


class RemoteUnusableError(Exception):
    """What the remote cache has can't be used after all: plan again without it."""


def execute(
    decided: Plan,
    spec: DatasetSpec,
    context: SourceContext,
    *,
    check: Check | None = None,
    verify: bool = False,
) -> LoadResult:
    """Build the samples of a plan unless they are cached, and open them.

    New samples are published only if `check` raises no error; it is not called for cached ones.
    With `verify`, those that another process has built are used only if their digest is correct.

    Raises:
        DamagedEntryError: the entry is damaged, or was removed since it was planned to open it.
        RemoteUnusableError: it was planned to fetch it, and it can't be used.
    """
    entry, fingerprint, checked = decided.entry, decided.fingerprint, False
    if entry is None:
        with context.working("samples", fingerprint) as holding:
            # Another process may have built them while this one waited for the lock; or they are
            # the damaged ones, which stay in a cache that is read-only.
            entry = find_samples(context, fingerprint, verify=verify)
            if entry is None and decided.scope == "remote":
                entry = _fetch(decided, holding)
                checked = check is not None  # what is fetched is compared with the same pin
            elif entry is None:
                entry = _build(decided, spec, holding, check)
                checked = check is not None
    _check_expectations(spec, entry.meta, decided.limit)
    dataset = open_entry(Opening.of(spec, context.boundary), entry, context.cache, fingerprint)
    return LoadResult(
        dataset,
        entry,
        decided.scope == "cached",
        decided.pins,
        checked,
        decided.scope == "remote",
    )


def _check_expectations(spec: DatasetSpec, meta: Mapping[str, Any], limit: int | None) -> None:
    if _may_fail(spec, meta):
        # Imported here: most samples are in order, and a warm open must not pay for it.
        from registry.pipeline.expectations import check_samples

        check_samples(spec, meta)
    # `expect.samples` is the total, unknown when only the first samples were built.
    wanted, found = spec.expect.samples, meta["samples"]
    if limit is None and wanted not in (None, found):
        raise ExpectationError(
            f"{spec.name}: expect.samples is {wanted:,}, the source gives {found:,}"
            " (has the source changed? pin its revision, or correct the number)"
        )


def _may_fail(spec: DatasetSpec, meta: Mapping[str, Any]) -> bool:
    """Return whether samples may fail what the manifest requires of their values."""
    expect, quality = spec.expect, meta["quality"]
    if not quality:  # all may still lack ids or choices
        return expect.unique_ids or expect.target_in_choices or expect.several_choices
    if spec.join is not None and spec.join.strict:
        return True
    blank = quality.get("blank_targets", {"count": 0})["count"]
    return expect.is_about_values or blank == meta["samples"]


def _fetch(decided: Plan, context: SourceContext) -> CacheEntry:
    remote = context.remote()
    entry = None
    if remote is not None:
        entry = remote.fetch(
            context.cache, decided.fingerprint, limit=decided.limit, report=context.report
        )
    if entry is None:
        raise RemoteUnusableError
    return entry


def _build(
    decided: Plan, spec: DatasetSpec, context: SourceContext, check: Check | None
) -> CacheEntry:
    """Write all samples of a dataset, or the first ones, to a new cache entry."""
    # Imported here: opening cached samples must not pay for the builder's imports.
    from registry.pipeline.builder import build
    from registry.pipeline.diagnosis import check_not_empty

    pins, limit = decided.pins, decided.limit
    context = replace(context, parts=decided.parts)
    companion = _companion_of(spec, pins, context)
    with context.cache.temporary() as folder:
        result = None
        if context.workers is not None:
            from registry.pipeline.builder import build_by_worker  # only `sync` has workers

            result = build_by_worker(spec, pins, context, folder, limit=limit, companion=companion)
        if result is None:
            result = build(spec, pins, context, folder, limit=limit, companion=companion)
        if result.rows == 0 and spec.expect.samples != 0 and limit != 0:
            check_not_empty(spec, pins, context)
            raise DecodeError("no samples come out of the source", file=spec.location)
        meta = {
            "name": spec.name,
            "samples": result.rows,
            "source": spec.location,
            "batches": result.batches,
            "columns": result.columns,
            "quality": result.quality,
            "limit": limit,
        }
        if result.corrected:
            meta["corrected"] = result.corrected
        if decided.scope == "first":
            _check_unchanged(spec, pins, context)
        if check is not None:
            opening = Opening.of(spec, context.boundary)
            check_unpublished(CacheEntry(folder, meta), opening, context.cache, check)
        known = {result.path.name: result.sha256}
        return context.cache.publish(
            folder, "samples", decided.fingerprint, meta, digests=known, replace=context.refresh
        )


def _companion_of(spec: DatasetSpec, pins: Pins, context: SourceContext) -> Companion | None:
    """Return the samples that few-shot examples are chosen from; they are built if necessary."""
    if spec.companion is None or pins.companion is None:
        return None
    from registry.pipeline.fewshot.examples import Companion  # few datasets have examples

    # The remote cache is asked for the dataset itself, whose pin it compares with.
    alone = replace(context, remote=lambda: None)
    fingerprint = samples_fingerprint(spec.companion, pins.companion)
    entry = find_samples(alone, fingerprint)
    decided = Plan(
        scope="all" if entry is None else "cached",
        pins=pins.companion,
        fingerprint=fingerprint,
        entry=entry,
    )
    opened = execute(decided, spec.companion, alone)
    # A worker gets it, too.
    on_damage = partial(replace(context.cache, used=None).damaged, "samples", fingerprint)
    folder, batches = opened.entry.folder, opened.entry.meta["batches"]
    file = SampleFile(folder / "samples.arrow", batches, on_damage)
    return Companion(file=file, own=has_own_examples(spec, pins))


def _check_unchanged(spec: DatasetSpec, pins: Pins, context: SourceContext) -> None:
    """Raise an error if a file changed during a build from probes, which have no digests."""
    now = replace(context, lookups={})
    for source, probed in zip(spec.sources, pins.sources, strict=True):
        # The files of a commit never change, even if the branch has moved on.
        if probed.revision is None and reader_of(source).probe(now) != probed:
            raise changed_error(Location(spec.location))


def check_unpublished(entry: CacheEntry, opening: Opening, cache: Cache, check: Check) -> None:
    """Check samples with their view, before any other process can open either."""
    with cache.temporary() as folder:
        # A view that is computed from refused samples must not be published either.
        private = Cache(folder)
        check(open_entry(opening, entry, private, digest_of({"unpublished": str(entry.folder)})))


class Opening(Struct, frozen=True, kw_only=True):
    """What a dataset adds to the samples in the cache."""

    name: str
    location: str
    """Where the dataset comes from, without secrets."""
    view: View
    """Order, choice order and limit."""
    order: Order
    """Kind of shuffle."""
    base: Location | None
    """A local file, if names of files are relative to its folder."""
    folders: tuple[str, ...] = ()
    """Folders with the files that they may name; not a boundary, as pickled datasets are small."""

    @classmethod
    def of(cls, spec: DatasetSpec, boundary: Boundary) -> Opening:
        """Return the part of a spec that its cached samples do not contain."""
        base = spec.source.base_location
        is_hub = all(source.shuffle_order == "hub" for source in spec.sources)
        return cls(
            name=spec.name,
            location=spec.location,
            view=spec.view,
            order="hub" if is_hub else "file",
            base=base if base is not None and base.is_local else None,
            folders=_folders_of(base, boundary),
        )


def open_entry(
    opening: Opening,
    entry: CacheEntry,
    cache: Cache,
    fingerprint: str,
) -> ArrowDataset:
    """Open an entry with the view of the dataset; samples are read on access."""
    on_damage = partial(cache.damaged, "samples", fingerprint)
    file = SampleFile(entry.folder / "samples.arrow", entry.meta["batches"], on_damage)
    view = opening.view
    arrays = open_view(
        file,
        cache,
        samples=fingerprint,
        order=opening.order,
        seed=view.seed if view.shuffle else None,
        choice_seed=view.shuffle_choices,
        only=view.only,
    )
    count = file.rows if arrays.rows is None else len(arrays.rows)
    names_files = not set(FILE_COLUMNS).isdisjoint(entry.meta["columns"])
    return ArrowDataset(
        file,
        name=opening.name,
        location=opening.location,
        view=arrays.limited(view.limit, count),
        shuffled=view.shuffle,
        auto_id=view.auto_id,
        finish=finisher(opening) if names_files else None,
    )


def finisher(opening: Opening) -> Callable[[Sample], Sample] | None:
    """Return a function that resolves names of files beside a local source, if there is one.

    It runs when a sample is read, so that the cache contains no path of this machine.
    """
    if opening.base is None:
        return None
    # Imported here, because few datasets name files.
    from registry.pipeline.file_references import local_resolver, resolve_files

    return partial(
        resolve_files, resolve=local_resolver(opening.base, Boundary(folders=opening.folders))
    )


def _folders_of(base: Location | None, boundary: Boundary) -> tuple[str, ...]:
    if base is None or not base.is_local:
        return ()
    return (os.sep,) if boundary.is_open else boundary.of_location(base).folders
