"""How a dataset or a group is evaluated: its `eval` block as solvers and scorers of Inspect AI."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import inspect_ai.scorer
import inspect_ai.solver
from inspect_ai import Epochs, Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.scorer import value_to_float as to_float
from inspect_ai.solver import Generate, Solver, TaskState, chain, solver
from inspect_ai.util import resource
from msgspec.structs import replace

from registry.catalog.catalog import Catalog
from registry.errors import count_text
from registry.load.dataset import get_dataset
from registry.load.groups import get_group
from registry.manifest.paths import strings_in
from registry.manifest.resolve import evaluation_of
from registry.samples.letters import index_of

if TYPE_CHECKING:
    from registry.load.groups import GroupDatasets
    from registry.manifest import models
    from registry.samples.dataset import Dataset
    from registry.samples.sample import Sample as OwnSample

__all__ = ["MEMBER", "group_task", "group_tasks", "members", "task_of"]

_URL = re.compile(r"\s*[\w+.:-]+://")
MEMBER = "member"
"""Key of a sample's metadata in such a task: the member that has it."""


def task_of(name: str, given: Mapping[str, Any], **arguments: Any) -> Task:
    """Return the task of a dataset, or of a member of a group, by the arguments of `get_dataset`.

    The solver and the scorer that are `given`, if not None, replace those of its `eval` block.

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
    for _, value in strings_in(part.args):
        # Inspect reads a template from a file or a URL if it can, and sends it to the model: only
        # text may come from a manifest. `resource` decides what is a file; URLs are not tried.
        if _URL.match(value) or resource(value) != value:
            raise ValueError(f"`eval`: {part.name}: {value!r} is a file; write its text instead")
    try:
        return getattr(module, part.name)(**part.args)
    except TypeError as error:
        raise ValueError(f"`eval`: {error}") from error


def _has_several_answers(samples: Iterable[OwnSample]) -> bool:
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
                f" {count_text(len(sample.choices or []), 'choice')} (map it by `do: [letter]` or"
                " `letter_in`, or name a solver and a scorer under `eval`)"
            )
    return several


def _is_letter(text: str, choices: Sequence[str]) -> bool:
    try:
        return index_of(text) < len(choices)
    except ValueError:
        return False


def group_tasks(name: str, *, root: str | Path | None = None, **options: Any) -> list[Task]:
    """Return a task of each member of a group, for `inspect_ai.eval_set`; arguments as `dataset`.

    Its metadata has the group, the member and the member's weight.
    """
    given = {key: options.pop(key, None) for key in ("solver", "scorer")}
    options["root"] = root
    return [*_tasks(get_group(name, **options), given, options).values()]


def _tasks(
    found: GroupDatasets, given: Mapping[str, Any], options: Mapping[str, Any]
) -> dict[str, Task]:
    tasks = {}
    for one in found.group.members:
        made = tasks[one.name] = task_of(found.group.asked(one), given, **options)
        made.metadata = {"group": found.group.name, MEMBER: one.name, "weight": one.weight}
    return tasks


def group_task(
    name: str, given: Mapping[str, Any], *, root: str | Path | None = None, **options: Any
) -> Task:
    """Return a task over all members of a group; arguments as for `task_of`.

    Raises:
        ValueError: two members are run a different number of times. Other errors as `task_of`.
    """
    options["root"] = root
    found = get_group(name, **options)
    tasks = _tasks(found, given, options)
    epochs = list(dict.fromkeys(one.epochs or 1 for one in tasks.values()))
    if len(epochs) > 1:
        numbers = ", ".join(map(str, epochs))
        raise ValueError(
            f"{name}: its members are run a different number of times ({numbers}): evaluate them"
            " one by one"
        )
    first = next(iter(tasks.values()))
    return Task(
        dataset=_samples(name, tasks, found),
        solver=_by_member({member: chain(one.solver) for member, one in tasks.items()}),
        scorer=_scored_by_member(
            {member: _first(one.scorer) for member, one in tasks.items()}, found.weights
        ),
        epochs=Epochs(first.epochs or 1, first.epochs_reducer),
        display_name=name,
        metadata={"registry_group": _description(found, tasks)},
    )


def _samples(name: str, tasks: Mapping[str, Task], found: GroupDatasets) -> MemoryDataset:
    """Return the samples of all members; an id begins with the name of its member."""
    samples: list[Sample] = []
    for member, one in tasks.items():
        for number, sample in enumerate(one.dataset, 1):
            identifier = f"{member}/{number if sample.id is None else sample.id}"
            metadata = {**(sample.metadata or {}), MEMBER: member}
            samples.append(sample.model_copy(update={"id": identifier, "metadata": metadata}))
    return MemoryDataset(samples, name=name, location=f"{name}#{found.digest}")


def _description(found: GroupDatasets, tasks: Mapping[str, Task]) -> dict[str, Any]:
    """Return what the log says of the group: its digest, and each member with its provenance."""
    provenances = {name: getattr(one.dataset, "provenance", None) for name, one in tasks.items()}
    return {
        "name": found.group.name,
        "digest": found.digest,
        "members": {
            name: {"weight": weight, "registry": one and one.as_data()}
            for (name, weight), one in zip(found.weights.items(), provenances.values(), strict=True)
        },
    }


def _first(scorers: Any) -> Scorer:
    """Return the scorer whose score counts for the mean: the first one of a member."""
    found: Scorer = scorers[0] if isinstance(scorers, Sequence) else scorers
    return found


@solver
def _by_member(solvers: Any) -> Solver:
    """Run the solvers of the member that has the sample."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        run: Solver = solvers[state.metadata[MEMBER]]
        return await run(state, generate)

    return solve


def _scored_by_member(scorers: Mapping[str, Scorer], weights: Mapping[str, float]) -> Scorer:
    @scorer(metrics=[members(dict(weights))], name="by_member")
    def by_member() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score | None:
            return await scorers[state.metadata[MEMBER]](state, target)

        return score

    made: Scorer = by_member()
    return made


@metric
def members(weights: dict[str, float]) -> Metric:
    """Compute the mean of each member, and `weighted_mean` of these.

    Args:
        weights: Member → its share. Of members that no sample was scored of, the others have it.
    """
    as_float = to_float()

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        values: dict[str, list[float]] = {}
        for one in scores:
            member = str((one.sample_metadata or {})[MEMBER])
            values.setdefault(member, []).append(as_float(one.score.value))
        means = {name: sum(values[name]) / len(values[name]) for name in weights if name in values}
        total = sum(weights[name] for name in means)
        whole = sum(weights[name] * mean for name, mean in means.items()) / total if means else 0.0
        return {**means, "weighted_mean": whole}

    return compute
