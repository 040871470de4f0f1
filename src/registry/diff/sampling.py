"""Add to a review how samples differ: opened from the cache, or built where that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from registry.diff.models import DatasetChange, Review, SampleChange
from registry.diff.samples import Samples, compare_samples, new_samples
from registry.diff.severity import DOCUMENTATION
from registry.errors import AccessError, RegistryError
from registry.load import find_cached, load
from registry.lockfile.pinned import PinnedSources, pin_sources
from registry.manifest.models import DatasetSpec

if TYPE_CHECKING:
    from registry.cache import Cache
    from registry.diff.snapshot import OpenSide

__all__ = ["MOST_ADDED", "Sampling", "with_samples"]

MOST_ADDED = 20
"""New datasets that are built for a review; of more than these, none is."""


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How samples are come by."""

    cache: Cache
    build: bool = False
    """Build what is not in the cache: what changed, and what is new where that is not much."""
    hint: str = "see --build"
    """How what is not built can be compared."""
    offline: bool = False
    examples: int = 3
    """Examples of each kind of difference."""
    announce: Callable[[str], None] = lambda _: None
    """Is told what is built, before it is."""


def with_samples(review: Review, base: OpenSide, head: OpenSide, sampling: Sampling) -> Review:
    """Return a review with how the samples of its datasets differ."""
    how = {"added": _of_added(review, sampling)}
    changes = (
        _with_samples(change, base, head, how.get(change.status, sampling))
        for change in review.changes
    )
    return replace(review, changes=tuple(changes))


def _of_added(review: Review, sampling: Sampling) -> Sampling:
    """Return how samples of new datasets are come by: a whole catalog is not built for a review."""
    added = sum(change.status == "added" for change in review.changes)
    if not sampling.build or added <= MOST_ADDED:
        return sampling
    hint = f"{added} datasets are new, and up to {MOST_ADDED} are built; `sync` builds them"
    return replace(sampling, build=False, hint=hint)


def _with_samples(
    change: DatasetChange, base: OpenSide, head: OpenSide, sampling: Sampling
) -> DatasetChange:
    if change.status not in ("changed", "added") or change.kinds == (DOCUMENTATION,):
        return change
    sides = {"base": base, "head": head} if change.status == "changed" else {"head": head}
    try:
        for side in sides.values():
            _refuse_new_trust(side.specs[change.name], base)
        found = _compared(
            {word: _Samples(change.name, side) for word, side in sides.items()}, sampling
        )
    except RegistryError as error:
        told = base.place.text(head.place.text(_first_line(error)))
        found = SampleChange(note=f"not compared: {told}")
    return replace(change, samples=found)


def _refuse_new_trust(spec: DatasetSpec, base: OpenSide) -> None:
    """Refuse to run code that is trusted by the very change that is reviewed."""
    package = (spec.mapper or "").partition(":")[0].partition(".")[0]
    trusted = base.side.index.get("trust")
    if package and (trusted is None or package not in trusted.value):
        message = f"the base does not trust the package '{package}', so its code is not run"
        raise AccessError(message)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


@dataclass(frozen=True)
class _Samples:
    """The samples of a dataset on one side, not opened yet."""

    name: str
    side: OpenSide

    @cached_property
    def spec(self) -> DatasetSpec:
        self.side.fetch_beside(self.name)
        return self.side.specs[self.name]

    @cached_property
    def lock(self) -> PinnedSources | None:
        """The pin of this side: samples are compared as `get_dataset` would give them there."""
        return pin_sources(self.spec, self.side.lock.pins.get(self.name))

    def is_cached(self, sampling: Sampling) -> bool:
        return find_cached(self.spec, sampling.cache, self.lock) is not None

    def open(self, sampling: Sampling, *, cached: bool) -> Samples:
        if not cached:
            sampling.announce(f"building {self.name} of {self.side.side.label}")
        # What is cached makes no request, whatever the source is now.
        offline = cached or sampling.offline
        opened = load(self.spec, sampling.cache, offline=offline, lock=self.lock)
        return Samples(opened.dataset, str(self.side.place.folder), self.spec.view.auto_id)


def _compared(sides: Mapping[str, _Samples], sampling: Sampling) -> SampleChange:
    """Compare the samples of two sides, or look at those of one."""
    missing = [word for word, side in sides.items() if not side.is_cached(sampling)]
    if missing and not sampling.build:
        note = f"not compared: {_are(missing, 'not cached')} ({sampling.hint})"
        return SampleChange(note=note)
    opened, built = [], []
    for word, side in sides.items():  # what is built for one may be what the other needs
        cached = side.is_cached(sampling)
        built += [] if cached else [word]
        opened.append(side.open(sampling, cached=cached))
    look = compare_samples if len(opened) == 2 else new_samples
    found = look(*opened, examples=sampling.examples)
    return replace(found, note=_are(built, "built for this") if built else "")


def _are(words: list[str], what: str) -> str:
    return f"{' and '.join(words)} {'is' if len(words) == 1 else 'are'} {what}"
