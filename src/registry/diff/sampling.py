"""Add to a diff how samples differ: opened from the cache, or built on request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from registry.diff.models import CatalogDiff, DatasetChange, SampleChange
from registry.diff.samples import Samples, compare_samples, new_samples
from registry.diff.severity import SAME_SAMPLES
from registry.diff.snapshots.packages import PACKAGE_KEY
from registry.errors import AccessError, RegistryError
from registry.load import find_cached, load, sample_warnings
from registry.lockfile.pinned import PinnedSources, pin_sources
from registry.manifest.models import DatasetSpec

if TYPE_CHECKING:
    from registry.cache import Cache
    from registry.diff.snapshot import OpenSnapshot

__all__ = ["MAX_NEW_BUILDS", "SamplingOptions", "with_samples"]

MAX_NEW_BUILDS = 20
"""New datasets that are built for a diff; if there are more, none is built."""


@dataclass(frozen=True, kw_only=True)
class SamplingOptions:
    """How samples are obtained."""

    cache: Cache
    build: bool = False
    """Build what is not cached: changed datasets, and up to MAX_NEW_BUILDS new ones."""
    hint: str = "see --build"
    """How samples that are not built can be compared."""
    offline: bool = False
    examples: int = 3
    """Examples of each kind of difference."""
    announce: Callable[[str], None] = lambda _: None
    """Called with a message before each build."""


def with_samples(
    diff: CatalogDiff, base: OpenSnapshot, head: OpenSnapshot, options: SamplingOptions
) -> CatalogDiff:
    """Return the diff with the differences in samples of its datasets."""
    added_options = options
    added = sum(change.status == "added" for change in diff.changes)
    if options.build and added > MAX_NEW_BUILDS:  # as when a whole catalog is included
        hint = f"{added} datasets are new, and up to {MAX_NEW_BUILDS} are built; `sync` builds them"
        added_options = replace(options, build=False, hint=hint)
    changes = (
        replace(change, samples=_sample_change(change, base, head, using))
        for change in diff.changes
        for using in [added_options if change.status == "added" else options]
    )
    return replace(diff, changes=tuple(changes))


def _sample_change(
    change: DatasetChange, base: OpenSnapshot, head: OpenSnapshot, options: SamplingOptions
) -> SampleChange | None:
    if change.status == "removed" or (
        change.status != "added" and SAME_SAMPLES.issuperset(change.kinds)
    ):
        return None
    datasets = {"head": _Dataset(change.name, head)}
    if change.status != "added":
        datasets = {"base": _Dataset(change.old_name or change.name, base), **datasets}
    try:
        for label, dataset in datasets.items():
            # Only the digest of the manifest that was pinned is known.
            package = dataset.snapshot.snapshot.datasets[dataset.name].get(PACKAGE_KEY)
            if package is not None and package.layer == "lock":
                message = f"the {label} is pinned for another version of the package"
                raise AccessError(f"{message} than the installed one")
        # Code is not run if only the change under review trusts it. Checked before any dataset is
        # opened, as opening one may import its mapper.
        for dataset in datasets.values():
            mapper = dataset.spec.mapper
            if mapper is not None and mapper not in base.boundary.trust:
                message = f"the base does not trust the mapper '{mapper}', so its code is not run"
                raise AccessError(message)
        return _compare(datasets, options)
    except RegistryError as error:
        message = (str(error).splitlines() or [type(error).__name__])[0]
        for snapshot in (base, head):
            message = snapshot.checkout.strip_folders(message)
        return SampleChange(note=f"not compared: {message}")


@dataclass(frozen=True)
class _Dataset:
    """A dataset of one snapshot, whose samples are not opened yet."""

    name: str
    snapshot: OpenSnapshot

    @property
    def spec(self) -> DatasetSpec:
        return self.snapshot.specs[self.name]

    @cached_property
    def lock(self) -> PinnedSources | None:
        # The pin of this snapshot, so that samples are those that `get_dataset` returns there.
        return pin_sources(self.spec, self.snapshot.lock.pins.get(self.name))

    def is_cached(self, cache: Cache) -> bool:
        return find_cached(self.spec, cache, self.lock, boundary=self.snapshot.boundary) is not None

    def open(self, cache: Cache, *, offline: bool) -> Samples:
        result = load(
            self.spec, cache, boundary=self.snapshot.boundary, offline=offline, lock=self.lock
        )
        folder = str(self.snapshot.checkout.folder)
        found = sample_warnings(self.spec, result.entry)
        warnings = {one.kind: (one.count, one.message) for one in found}
        return Samples(result.dataset, folder, self.spec.view.auto_id, warnings)


def _compare(datasets: Mapping[str, _Dataset], options: SamplingOptions) -> SampleChange:
    """Compare the samples of both snapshots, or describe those of one."""
    for dataset in datasets.values():
        dataset.snapshot.extract_siblings(dataset.name)
    missing = [label for label, one in datasets.items() if not one.is_cached(options.cache)]
    if missing and not options.build:
        note = f"not compared: {_predicate(missing, 'not cached')} ({options.hint})"
        return SampleChange(note=note)
    samples, built = [], []
    for label, dataset in datasets.items():
        # Checked again, as the build for one snapshot may also serve the other.
        cached = dataset.is_cached(options.cache)
        if not cached:
            built.append(label)
            options.announce(f"building {dataset.name} of {dataset.snapshot.snapshot.label}")
        # Cached samples are opened without a request, even if their source has changed.
        samples.append(dataset.open(options.cache, offline=cached or options.offline))
    describe = compare_samples if len(samples) == 2 else new_samples
    change = describe(*samples, examples=options.examples)
    return replace(change, note=_predicate(built, "built for this") if built else "")


def _predicate(labels: list[str], predicate: str) -> str:
    return f"{' and '.join(labels)} {'is' if len(labels) == 1 else 'are'} {predicate}"
