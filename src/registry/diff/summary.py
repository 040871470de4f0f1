"""A review in few words: the headline, and the lines that every format says alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from registry.diff.escape import shown_value, visible
from registry.diff.models import DatasetChange, Inherited, KeyChange, Review, SampleChange
from registry.diff.severity import KINDS, worst_first
from registry.manifest.provenance import Origin

__all__ = [
    "count_text",
    "counts",
    "headline",
    "inherited_lines",
    "places",
    "sample_line",
    "some",
    "told_fact",
    "value_text",
    "verdict",
]

_MOST_NAMES = 20
_NOTHING = "(none)"

# What a reviewer of a new dataset looks at first; the rest follows in the manifest's order.
_FIRST_FACTS = ("description", "license", "source", "bytes", "pin", "mapper", "fields")


def count_text(number: int, word: str) -> str:
    """Return a number of things: `1 dataset`, `1,200 datasets`."""
    return f"{number:,} {word}" + ("" if number == 1 else "s")


def counts(review: Review) -> dict[str, int]:
    """Return how many datasets changed, each by its worst class, and how many came and went."""
    worst = Counter(change.kinds[0] for change in review.changes if change.status == "changed")
    others = Counter(str(change.status) for change in review.changes if change.status != "changed")
    ordered = {kind: worst[kind] for kind in KINDS if worst[kind]}
    return {**ordered, **{word: others[word] for word in _STATUSES if others[word]}}


_STATUSES = ("removed", "added", "renamed")


def headline(review: Review) -> str:
    """Return one line that says it all."""
    found = counts(review)
    kinds = {kind: found[kind] for kind in KINDS if kind in found}
    others = [(found[word], word) for word in _STATUSES if word in found]
    parts = []
    if kinds:
        told = ", ".join(f"{number:,} {kind}" for kind, number in kinds.items())
        parts.append(f"{count_text(sum(kinds.values()), 'dataset')} changed: {told}")
    elif others:
        number, word = others.pop(0)
        parts.append(f"{count_text(number, 'dataset')} {word}")
    parts += [f"{number:,} {word}" for number, word in others]
    parts += ["the index changed"] if review.shared else []
    problems = len(review.base_problems) + len(review.head_problems)
    parts += [count_text(problems, "problem")] if problems else []
    return "; ".join(parts) or "no differences"


def verdict(change: DatasetChange) -> str:
    """Return what became of a dataset: its classes of change, or that it came or went."""
    if change.status == "renamed":
        return f"renamed from {change.old_name}"
    kinds = worst_first(change.kinds)
    if len(kinds) > 1:  # "only" would not be true
        kinds = tuple(kind.removesuffix(" only") for kind in kinds)
    return ", ".join(kinds) or change.status


def value_text(origin: Origin | None) -> str:
    """Return a value for people."""
    return _NOTHING if origin is None or origin.value is None else shown_value(origin.value)


def places(change: KeyChange) -> str:
    """Return where the old and the new value stand; once, where that is the same."""
    found = [one.place for one in (change.old, change.new) if one is not None]
    return visible(" → ".join(dict.fromkeys(found)))


def told_fact(change: DatasetChange) -> Iterator[tuple[str, Origin]]:
    """Yield what a new dataset says, the most important first."""
    keys = sorted(change.facts, key=_fact_rank)
    yield from ((key, change.facts[key]) for key in keys)


def _fact_rank(key: str) -> int:
    ranks = (rank for rank, first in enumerate(_FIRST_FACTS) if key.startswith(first))
    return next(ranks, len(_FIRST_FACTS))


def inherited_lines(change: DatasetChange) -> Iterator[tuple[str, str]]:
    """Yield keys that change with another dataset, and that dataset."""
    by_dataset: dict[str, list[Inherited]] = {}
    for one in change.inherited:
        by_dataset.setdefault(one.dataset, []).append(one)
    for dataset, listed in by_dataset.items():
        yield ", ".join(one.key for one in listed), dataset or "the index"


def some(names: Sequence[str]) -> tuple[Sequence[str], str]:
    """Return the names that are shown, and a word on the others."""
    rest = len(names) - _MOST_NAMES
    return names[:_MOST_NAMES], f" and {rest:,} more" if rest > 0 else ""


def sample_line(samples: SampleChange) -> str:
    """Return how the samples differ, in numbers."""
    if samples.new is None:
        return samples.note
    return "; ".join(part for part in (_numbers(samples), samples.note) if part)


def _numbers(samples: SampleChange) -> str:
    if samples.old is None:
        return f"{samples.new:,}"
    if samples.is_same:
        return f"no difference in {samples.new:,}"
    fields = ", ".join(
        field if count == samples.changed else f"{field} of {count:,}"
        for field, count in samples.fields.items()
    )
    listed = [
        (samples.added, "added"),
        (samples.removed, "removed"),
        (samples.changed, f"changed ({fields})"),
        (samples.moved, "moved"),
    ]
    told = ", ".join(f"{number:,} {word}" for number, word in listed if number)
    return f"{samples.old:,} → {samples.new:,}: {told}; matched by {samples.matched_by}"
