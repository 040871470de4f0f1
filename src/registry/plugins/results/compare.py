"""Compare two results, or two datasets: their samples, and what their scores tell."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from pydantic import ValidationError

from registry import Sample
from registry.api import (
    ChangeClass,
    LogError,
    Provenance,
    SampleChange,
    Samples,
    compare_samples,
    count_text,
    equal_samples,
    list_names,
)
from registry.plugins.results.runs import Run, RunSample

__all__ = ["Comparison", "Mean", "ScoreChange", "Side", "compare", "mean_of", "side_of_run"]

_SHOWN = ("input", "choices", "target")
"""The fields of a sample that a log has as the dataset had them."""
_NAMED = 3


class Mean(Struct, frozen=True, kw_only=True):
    """The mean of numbers, one per sample."""

    value: float
    error: float | None
    """Its standard error, the deviation over the root of the number; None for one sample."""
    samples: int


class ScoreChange(Struct, frozen=True, kw_only=True):
    """One score of both sides; a sample that was run several times counts with its mean."""

    name: str
    old: Mean
    """Over all samples of the first side."""
    new: Mean
    common_old: Mean | None
    """Over the samples that both sides have, unchanged; None if there are none."""
    common_new: Mean | None
    difference: Mean | None
    """Of the second side to the first over these, sample by sample."""


class Side(Struct, frozen=True, kw_only=True):
    """A log or a dataset."""

    label: str
    dataset: str | None = None
    """Name of the dataset, as far as it is known."""
    samples: Samples
    provenance: Provenance | None = None
    problem: str | None = None
    """Why what it says of its data can't be trusted, or why samples may be missing."""
    scores: Mapping[str, Sequence[float]] = {}
    """Name of a score → the mean over the epochs of each sample, NaN where it has no number."""
    epochs: int = 1
    is_log: bool = False


class Comparison(Struct, frozen=True, kw_only=True):
    """What two sides have in common."""

    old: str
    new: str
    reasons: tuple[str, ...] = ()
    """Why scores over all samples can't be compared; empty if they can."""
    notes: tuple[str, ...] = ()
    """What else differs, or limits what is said."""
    kinds: tuple[ChangeClass, ...] = ()
    """Classes of the changes of samples, the most severe first."""
    samples: SampleChange
    common: int
    """Number of samples that both have, unchanged."""
    scores: tuple[ScoreChange, ...] = ()

    @property
    def is_comparable(self) -> bool:
        """Whether both have the same samples, in whatever order."""
        return not self.reasons


def side_of_run(run: Run) -> Side:
    """Return a log as one side; its samples once, however many epochs there were.

    Raises:
        LogError: its samples can't be read as samples.
    """
    found = run.repetitions()
    names = sorted({name for one in run.samples for name in one.scores})
    return Side(
        label=run.file,
        dataset=run.provenance.name if run.provenance is not None else run.dataset,
        samples=Samples([_sample(group[0], run) for group in found]),
        provenance=run.provenance,
        problem=run.problem or run.incomplete,
        scores={name: [_epochs_mean(name, group) for group in found] for name in names},
        epochs=max(map(len, found), default=1),
        is_log=True,
    )


def _sample(one: RunSample, run: Run) -> Sample:
    values = {"input": one.input, "choices": one.choices, "target": one.target, "id": one.id}
    try:
        return Sample.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise LogError(f"{run.file}: sample {one.id!r}: {where}: {first['msg']}") from error


def _epochs_mean(name: str, group: Iterable[RunSample]) -> float:
    values = [one.scores.get(name) for one in group]
    numbers = [value for value in values if isinstance(value, int | float)]
    return math.fsum(numbers) / len(numbers) if len(numbers) == len(values) else math.nan


def compare(old: Side, new: Side, *, examples: int = 3) -> Comparison:
    """Return what two sides have in common, with up to `examples` of each kind of difference."""
    if old.is_log or new.is_log:
        # A log has no more of a sample as the dataset had it: solvers may write metadata.
        before, after = _shown(old), _shown(new)
    else:
        before, after = old.samples, new.samples
    if not _ids_identify(old, new, before, after):
        before, after = (Samples(one.samples, auto_id=True) for one in (before, after))
    samples = compare_samples(before, after, examples=examples)
    pairs = equal_samples(before, after)
    return Comparison(
        old=old.label,
        new=new.label,
        reasons=tuple(_reasons(old, new, samples, len(pairs))),
        notes=tuple(_notes(old, new)),
        kinds=samples.kinds,
        samples=samples,
        common=len(pairs),
        scores=tuple(_scores(old, new, pairs)),
    )


def _shown(side: Side) -> Samples:
    samples = [
        Sample(input=_input(one), choices=one.choices, target=one.target, id=one.id)
        for one in side.samples.samples
    ]
    return Samples(samples, auto_id=side.samples.auto_id)


def _input(sample: Sample) -> Any:
    if isinstance(sample.input, str):
        return sample.input
    # Inspect notes in a log where a message comes from.
    return [one.model_copy(update={"source": None}) for one in sample.input]


def _ids_identify(old: Side, new: Side, before: Samples, after: Samples) -> bool:
    """Return whether equal ids mean the same sample: of the same dataset, or mostly equal ones."""
    if any(one.id is None for side in (before, after) for one in side.samples):
        return False  # those of a log are numbers that the tool has counted
    if old.dataset is not None and old.dataset == new.dataset:
        return True
    inputs = {one.id: one.input for one in before.samples}
    shared = [one for one in after.samples if one.id is not None and one.id in inputs]
    equal = sum(inputs[one.id] == one.input for one in shared)
    return 2 * len(shared) >= min(len(before.samples), len(after.samples)) and 2 * equal >= len(
        shared
    )


def _reasons(old: Side, new: Side, samples: SampleChange, common: int) -> Iterator[str]:
    """Yield why scores over all samples of both sides can't be compared."""
    for side in (old, new):
        if side.problem is not None:
            yield f"{side.label}: {side.problem}"
        if not side.samples.samples:
            yield f"{side.label} has no samples"
    versions = [None if one.provenance is None else one.provenance.version for one in (old, new)]
    numbers = [None if one is None else one.partition("-")[0] for one in versions]
    if old.dataset == new.dataset and None not in numbers and numbers[0] != numbers[1]:
        yield f"version {versions[0]} of the data, and {versions[1]}"
    if not (common or samples.changed) and old.samples.samples and new.samples.samples:
        yield "no sample in common"
        return
    if not samples.fields.keys().isdisjoint(_SHOWN):
        verb = "differs" if samples.changed == 1 else "differ"
        fields = ", ".join(f"{name} of {count:,}" for name, count in samples.fields.items())
        yield f"{count_text(samples.changed, 'sample')} {verb} ({fields})"
    if samples.removed:
        yield f"{count_text(samples.removed, 'sample')} only in {old.label}"
    if samples.added:
        yield f"{count_text(samples.added, 'sample')} only in {new.label}"


def _notes(old: Side, new: Side) -> Iterator[str]:
    if old.dataset != new.dataset and None not in (old.dataset, new.dataset):
        yield f"two names: {old.dataset} and {new.dataset}"
    if old.is_log and new.is_log and old.epochs != new.epochs:
        yield f"epochs: {old.epochs} and {new.epochs}; each sample counts with its mean"
    if old.is_log and new.is_log and old.scores.keys() != new.scores.keys():
        names = [list_names(sorted(one.scores), _NAMED) or "none" for one in (old, new)]
        yield f"different scores: {names[0]}; and {names[1]}"
    if old.is_log != new.is_log:
        yield f"compared by {', '.join(_SHOWN)} and id, which a log has as the dataset had them"
    for side in (old, new):
        ids = Counter(one.id for one in side.samples.samples)
        several = [str(one) for one, count in ids.items() if count > 1 and one is not None]
        if several:
            yield f"{side.label}: several samples have the id {list_names(several, _NAMED)}"


# --- scores ---


def _scores(old: Side, new: Side, pairs: Sequence[tuple[int, int]]) -> Iterator[ScoreChange]:
    for name in sorted(old.scores.keys() & new.scores.keys()):
        before, after = old.scores[name], new.scores[name]
        whole = mean_of(before), mean_of(after)
        if whole[0] is None or whole[1] is None:
            continue  # a score in words
        both = [(before[i], after[j]) for i, j in pairs]
        both = [one for one in both if not any(map(math.isnan, one))]
        yield ScoreChange(
            name=name,
            old=whole[0],
            new=whole[1],
            common_old=mean_of([one for one, _ in both]),
            common_new=mean_of([two for _, two in both]),
            difference=mean_of([two - one for one, two in both]),
        )


def mean_of(numbers: Iterable[float]) -> Mean | None:
    """Return the mean of the numbers that are not NaN; None if there are none."""
    values = [one for one in numbers if not math.isnan(one)]
    if not values:
        return None
    mean = math.fsum(values) / len(values)
    error = None
    if len(values) > 1:
        variance = math.fsum((one - mean) ** 2 for one in values) / (len(values) - 1)
        error = math.sqrt(variance / len(values))
    return Mean(value=mean, error=error, samples=len(values))
