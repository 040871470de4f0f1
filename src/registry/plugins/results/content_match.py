"""Find the dataset that the samples of a log came from, by their texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from registry import Dataset, RegistryError
from registry.api import choice_of
from registry.plugins.results.here import Here
from registry.plugins.results.runs import Run, RunSample, index_in

__all__ = ["Match", "find_dataset", "match"]


class Match(Struct, frozen=True, kw_only=True):
    """How many samples of a log a dataset contains."""

    dataset: str
    of: int
    """Number of samples of the dataset."""
    exact: int
    """Samples of the log whose input and target are those of a sample of the dataset."""
    inputs: int
    """Samples of the log whose input is that of one, whatever its target."""
    other_target: tuple[str, ...] = ()
    """Ids of samples whose input is in the dataset, with another target."""
    absent: tuple[str, ...] = ()
    """Ids of samples that are not in the dataset."""
    also: tuple[str, ...] = ()
    """Other datasets over the same samples."""


def find_dataset(run: Run, here: Here) -> Match | None:
    """Return the dataset with most samples of a log, of those that open without a request.

    One whose name the log states is preferred. None if no dataset has a sample of it.
    """
    groups: dict[str, list[str]] = {}
    for name, fingerprint in here.openable():
        groups.setdefault(fingerprint, []).append(name)
    stated = {text for text in (run.dataset, run.task) if text}
    samples = [one for one, *_ in run.repetitions()]
    best: Match | None = None
    for names in sorted(groups.values(), key=stated.isdisjoint):
        # Of those over the same samples: the one that is named, else the one with all samples.
        names.sort(
            key=lambda name: (name not in stated, here.catalog.resolve(name).view.is_part, name)
        )
        try:
            found = match(samples, names[0], here.open(names[0], offline=True), names[1:])
        except RegistryError:
            continue  # its source is not here, or not valid: `validate` and `sync` say why
        if best is None or (found.exact, found.inputs) > (best.exact, best.inputs):
            best = found
        if best.exact == len(samples):
            break
    return best if best is not None and best.inputs else None


def match(
    samples: Sequence[RunSample], name: str, dataset: Dataset, also: Iterable[str] = ()
) -> Match:
    """Count the samples of a log that a dataset contains; white space makes no difference."""
    wanted: dict[str, list[int]] = {}
    targets: list[set[str]] = []
    for number, sample in enumerate(samples):
        targets.append(_targets(sample.target, sample.choices))
        for text in _inputs(sample.input) | _texts_of_record(sample.metadata):
            wanted.setdefault(text, []).append(number)
    inputs: set[int] = set()
    exact: set[int] = set()
    for one in dataset:
        for text in _inputs(one.input):
            for number in wanted.get(text, ()):
                inputs.add(number)
                if targets[number] & _targets(one.target, one.choices):
                    exact.add(number)
    differing = inputs - exact
    numbered = [(number, str(one.id)) for number, one in enumerate(samples)]
    return Match(
        dataset=name,
        of=len(dataset),
        exact=len(exact),
        inputs=len(inputs),
        other_target=tuple(one for number, one in numbered if number in differing),
        absent=tuple(one for number, one in numbered if number not in inputs),
        also=tuple(also),
    )


def _plain(text: str) -> str:
    return " ".join(text.split())


def _inputs(value: Any) -> set[str]:
    """Return the texts by which an input is known: records of EEE have those of users alone."""
    if isinstance(value, str):
        return {_plain(value)}
    messages = [
        (one["role"], _message_text(one.get("content")))
        if isinstance(one, Mapping)
        else (one.role, one.text)
        for one in value
    ]
    users = [text for role, text in messages if role == "user"]
    return {_plain(" ".join(text for _, text in messages)), _plain(" ".join(users))}


def _message_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content or ()
    return " ".join(str(part.get("text", "")) for part in parts if isinstance(part, Mapping))


def _texts_of_record(record: Mapping[str, Any]) -> set[str]:
    """Return the texts of a record: lm-eval logs it beside the prompt that was made of it."""
    return {_plain(one) for one in record.values() if isinstance(one, str)} - {""}


def _targets(target: str | Sequence[str], choices: Sequence[str] | None) -> set[str]:
    """Return a target in each way that tools write it: its text, and that of the choice it names.

    A choice is named by its letter or, as in records of lm-eval, by its index.
    """
    found = {_plain(target if isinstance(target, str) else " ".join(target))}
    if isinstance(target, str) and choices:
        index = index_in(choices, target)
        index = choice_of(target, choices) if index is None else index
        if index is not None:
            found.add(_plain(choices[index]))
    return found
