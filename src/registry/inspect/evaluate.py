"""How a dataset is evaluated: its `eval` block as solvers and scorers of Inspect AI."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import inspect_ai.scorer
import inspect_ai.solver
from inspect_ai import Epochs, Task
from inspect_ai.util import resource
from msgspec.structs import replace

from registry.catalog.catalog import Catalog
from registry.load.dataset import get_dataset
from registry.manifest.resolve import evaluation_of
from registry.samples.letters import index_of

if TYPE_CHECKING:
    from inspect_ai.scorer import Scorer
    from inspect_ai.solver import Solver

    from registry.manifest import models
    from registry.samples.dataset import Dataset
    from registry.samples.sample import Sample

__all__ = ["task_of"]

_URL = re.compile(r"\s*[\w+.:-]+://")


def task_of(name: str, given: Mapping[str, Any], **arguments: Any) -> Task:
    """Return the task of a dataset, or of a member of a group.

    Args:
        name: Its name.
        given: The solver and the scorer to use in place of those of its `eval` block, or None.
        **arguments: Those of `get_dataset`.

    Raises:
        ValueError: it is not known how to evaluate it. Other errors as `get_dataset`.
    """
    samples = get_dataset(name, **arguments)
    catalog = Catalog.open(arguments.get("root"))
    how = catalog[name].eval
    chosen = {key: value for key, value in given.items() if value is not None}
    if chosen:
        wanted = evaluation_of(chosen)
        changed = {one: getattr(wanted, one) for one in chosen}
        how = wanted if how is None else replace(how, **changed)
    try:
        solvers, scorers = _solvers_and_scorers(how, samples)
    except ValueError as error:
        if chosen:
            raise
        entry = catalog.entries[catalog.named(name)]
        document = entry.document
        line, column = document.position(("datasets", entry.written, "eval"))
        raise ValueError(f"{document.file}:{line}:{column}: {name}: {error}") from error
    data = samples.to_inspect()
    return Task(
        dataset=data,
        solver=solvers,
        scorer=scorers,
        epochs=None if how is None else Epochs(how.epochs or 1, how.epoch_reducer),
        display_name=name,
        version=data.provenance.version or 0,
    )


def _solvers_and_scorers(
    how: models.Evaluation | None, samples: Dataset
) -> tuple[list[Solver], list[Scorer]]:
    """Return those of an `eval` block; what it leaves out is multiple choice if it can be.

    Raises:
        ValueError: the block has no scorer, and not every sample has choices.
    """
    solvers = [_create(inspect_ai.solver, one) for one in how.solver] if how else []
    scorers = [_create(inspect_ai.scorer, one) for one in how.scorer] if how else []
    named: list[models.Solver | models.Scorer] = [*how.solver, *how.scorer] if how else []
    names: set[str] = {one.name for one in named}
    is_choice = not scorers or "choice" in names
    for need in sorted(names & {"choice", "multiple_choice"}) or [""] * is_choice:
        _check_all_have_choices(samples, need)
    several = is_choice and _has_several_answers(samples)
    if not solvers and is_choice:
        solvers = [inspect_ai.solver.multiple_choice(multiple_correct=several)]
    solvers = solvers or [inspect_ai.solver.generate()]
    return solvers, scorers or [inspect_ai.scorer.choice()]


def _check_all_have_choices(samples: Dataset, need: str) -> None:
    """Raise an error if `need`, or the lack of a scorer, requires choices that samples lack."""
    count = sum(1 for sample in samples if sample.choices)
    if count == len(samples):
        return
    found = f"{count:,} of {len(samples):,} samples have choices"
    if need:
        raise ValueError(
            f"`eval`: {need} needs choices, and {found} (map `choices`, or name another)"
        )
    raise ValueError(
        f"{found}, and the dataset does not say how to score the others: add, for example,"
        " `eval: {scorer: includes}`, or name one: `-T scorer=includes`"
        " (docs/how-to/inspect.md lists the scorers)"
    )


def _create(module: Any, part: models.Solver | models.Scorer) -> Any:
    """Return a solver or scorer; only names of the models' tables get here."""
    for value in _strings_in(part.args):
        # Inspect reads a template from a file or a URL if it can, and sends it to the model: only
        # text may come from a manifest. `resource` decides what is a file; URLs are not tried.
        if _URL.match(value) or resource(value) != value:
            raise ValueError(f"`eval`: {part.name}: {value!r} is a file; write its text instead")
    try:
        return getattr(module, part.name)(**part.args)
    except TypeError as error:
        raise ValueError(f"`eval`: {error}") from error


def _strings_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings_in(item)


def _has_several_answers(samples: Iterable[Sample]) -> bool:
    """Return whether a sample has more than one right choice.

    Raises:
        ValueError: a target is not the letter of a choice.
    """
    several = False
    for number, sample in enumerate(samples, 1):
        targets = sample.target if isinstance(sample.target, list) else [sample.target]
        # Inspect's scorer takes "A, C" and "AC" for two letters, too.
        words = [word for target in targets for word in target.replace(",", " ").split()]
        letters = [one for word in words for one in ([word] if word.isnumeric() else word)]
        several |= len(letters) > 1
        if not letters or not all(_is_letter(one, sample.choices or []) for one in letters):
            raise ValueError(
                f"sample {number}: the target {sample.target!r} is not the letter of one of its"
                f" {len(sample.choices or [])} choices (map it by `do: [letter]` or"
                " `letter_in`, or name a solver and a scorer under `eval`)"
            )
    return several


def _is_letter(text: str, choices: Sequence[str]) -> bool:
    try:
        return index_of(text) < len(choices)
    except ValueError:
        return False
