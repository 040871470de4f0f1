"""Add to a review how samples differ: opened from the cache, or built where that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from registry.errors import AccessError, RegistryError
from registry.load import load, peek
from registry.origins import Origin
from registry.review.kinds import DOCUMENTATION
from registry.review.model import DatasetChange, Review, SampleChange
from registry.review.samples import Samples, compare_samples, new_samples
from registry.spec import DatasetSpec, HfSource

if TYPE_CHECKING:
    from registry.cache import Cache
    from registry.review.sides import OpenSide

__all__ = ["Sampling", "with_samples"]


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How samples are come by."""

    cache: Cache
    build: bool = False
    """Build what is not in the cache."""
    offline: bool = False
    examples: int = 3
    """Examples of each kind of difference."""
    announce: Callable[[str], None] = lambda _: None
    """Is told what is built, before it is."""


def with_samples(review: Review, base: OpenSide, head: OpenSide, sampling: Sampling) -> Review:
    """Return a review with how the samples of its datasets differ."""
    changes = (_with_samples(change, base, head, sampling) for change in review.changes)
    return replace(review, changes=tuple(changes))


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
        return pinned(self.side.specs[self.name], self.side.side.datasets[self.name])

    def is_cached(self, sampling: Sampling) -> bool:
        return peek(self.spec, sampling.cache) is not None

    def open(self, sampling: Sampling, *, cached: bool) -> Samples:
        if not cached:
            sampling.announce(f"building {self.name} of {self.side.side.label}")
        # What is cached makes no request, whatever the source is now.
        opened = load(self.spec, sampling.cache, offline=cached or sampling.offline)
        return Samples(opened.dataset, str(self.side.place.folder), self.spec.view.auto_id)


def _compared(sides: Mapping[str, _Samples], sampling: Sampling) -> SampleChange:
    """Compare the samples of two sides, or look at those of one."""
    missing = [word for word, side in sides.items() if not side.is_cached(sampling)]
    if missing and not sampling.build:
        return SampleChange(note=f"not compared: {_are(missing, 'not cached')} (see --build)")
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


def pinned(spec: DatasetSpec, values: Mapping[str, Origin]) -> DatasetSpec:
    """Return a dataset with the revisions that the lockfile pins its sources to."""
    found = [values.get(f"pin.sources[{n}].revision") for n in range(len(spec.sources))]
    revisions = [None if one is None else one.value for one in found]
    if not any(revisions):
        return spec
    pairs = zip(spec.sources, revisions, strict=True)
    sources = [_at(source, revision) for source, revision in pairs]
    update: dict[str, Any] = {"concat": tuple(sources)} if spec.concat else {"source": sources[0]}
    return spec.model_copy(update=update)


def _at(source: Any, revision: str | None) -> Any:
    if revision is None or not isinstance(source, HfSource):
        return source
    return source.model_copy(update={"revision": revision})
