"""Add to a review how samples differ: opened from the cache, or built where that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from registry.errors import RegistryError
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
    sides = [("base", base), ("head", head)] if change.status == "changed" else [("head", head)]
    notes: list[str] = []
    try:
        opened = [_samples(word, side, change.name, sampling, notes) for word, side in sides]
        found = [samples for samples in opened if samples is not None]
        compared = SampleChange()
        if len(found) == len(sides):
            look = compare_samples if len(found) == 2 else new_samples
            compared = look(*found, examples=sampling.examples)
    except RegistryError as error:
        compared = SampleChange()
        notes.append(f"samples not compared: {_first_line(error)}")
    return replace(change, samples=replace(compared, note="; ".join(notes)))


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _samples(
    word: str, side: OpenSide, name: str, sampling: Sampling, notes: list[str]
) -> Samples | None:
    """Open a dataset; where it is not cached and is not to be built, only note that."""
    side.fetch_beside(name)
    spec = pinned(side.specs[name], side.side.datasets[name])
    cached = peek(spec, sampling.cache) is not None
    if not cached and not sampling.build:
        notes.append(f"samples not compared: {word} is not cached (--build builds it)")
        return None
    if not cached:
        sampling.announce(f"building {name} of {side.side.label}")
        notes.append(f"{word} was built")
    # What is cached makes no request, whatever the source is now.
    opened = load(spec, sampling.cache, offline=cached or sampling.offline)
    return Samples(opened.dataset, str(side.place.folder), spec.view.auto_id)


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
