"""Walk from the present state of a dataset to older ones: one step for each commit that matters."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from registry.diff.history.commits import Commit
from registry.diff.history.states import History, State, difference
from registry.diff.models import DatasetChange, KeyChange
from registry.errors import RevisionError, count_text

__all__ = ["SHALLOW", "Change", "Edge", "changes_of", "edges_of", "pin_of_state", "step_of"]

SHALLOW = "the clone is shallow, so what came before is not here (`git fetch --unshallow` gets it)"
_PIN_KEYS = ("samples", "ordered", "version")


@dataclass(frozen=True)
class Edge:
    """How a state of a dataset differs from one of those right before it."""

    old: State
    change: DatasetChange | None = None
    """None if nothing differs, or one of both can't be read."""
    keys: tuple[KeyChange, ...] = ()
    """All keys that differ, those of the index's defaults among them."""
    problem: str = ""
    """Why they can't be compared."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """What a commit changed in a dataset, or why nobody can tell."""

    commit: Commit | None
    """None for what is not committed yet."""
    name: str
    """Of the dataset, after the commit."""
    change: DatasetChange | None = None
    keys: tuple[KeyChange, ...] = ()
    pin: dict[str, Any] | None = None
    """Samples, ordered digest and, if it has one, version of the pin after the commit."""
    unknown: str = ""
    """Why it is not known what this commit changed, or what came before it."""


def step_of(history: History, state: State) -> tuple[Commit | None, tuple[str, ...]]:
    """Return the commit that made a state what it is, and the parents of that commit.

    The commit is None for the working tree, or if no commit has any of its files.
    """
    if not state.commit:
        return None, (history.head,)
    try:
        commit = history.commits.last(state.commit, state.pathspecs())
    except RevisionError:  # a partial clone lacks folders: one step, as far as they are here
        commit = history.commits.read(state.commit)
    return commit, () if commit is None else commit.parents


def edges_of(history: History, state: State, parents: tuple[str, ...]) -> Iterator[Edge]:
    """Yield how a state differs from each of those before it.

    Raises:
        RevisionError: git lacks the files of a parent.
    """
    for parent in parents:
        old = history.at(parent, state)
        if problem := state.problem or old.problem:
            yield Edge(old, problem=problem)
            continue
        if not old.exists:
            yield Edge(old, DatasetChange(name=state.name, status="added"))
            continue
        found = difference(old.contents, state.contents)
        change = next((one for one in found.changes if one.name == state.name), None)
        shared = tuple(one for one in found.shared if state.name in one.inherited_by)
        keys = () if change is None else (*change.keys, *shared)
        # A side that could not be read in part is not equal.
        problems = (str(one) for _, one in found.problems)
        unread = state.name in found.not_compared
        problem = next(problems, f"{state.name} can't be read in full") if unread else ""
        yield Edge(old, change, keys, problem)


def changes_of(history: History, state: State, announce: Callable[[str], None]) -> Iterator[Change]:
    """Yield the changes of a dataset, the newest first, until it was added or history ends."""
    # By date, as several branches may be walked at once.
    waiting: list[tuple[float, int, State, Commit | None, tuple[str, ...]]] = []
    numbers = count()

    def push(one: State) -> None:
        commit, parents = step_of(history, one)
        time = float("inf") if commit is None else commit.time
        heapq.heappush(waiting, (-time, next(numbers), one, commit, parents))

    push(state)
    seen = set[tuple[str, str]]()
    while waiting:
        _, _, new, commit, parents = heapq.heappop(waiting)
        key = (commit.id if commit else "", new.name)
        if key in seen or (commit is None and new.commit):
            new.close()
            continue
        seen.add(key)
        if commit is not None:
            announce(f"{count_text(len(seen), 'commit')} read, back to {commit.date:%Y-%m-%d}")
        found, older = _change(history, new, commit, parents)
        if found is not None:
            yield found
        for one in older:
            push(one)
        new.close()


def _change(
    history: History, new: State, commit: Commit | None, parents: tuple[str, ...]
) -> tuple[Change | None, list[State]]:
    """Return what a commit changed, if anything, and the older states to go on with."""
    found = Change(commit=commit, name=new.name, pin=pin_of_state(new))
    if commit is not None and commit.id in history.commits.cut:
        return replace(found, unknown=SHALLOW), []
    if not parents:
        return replace(found, change=DatasetChange(name=new.name, status="added")), []
    try:
        edges = list(edges_of(history, new, parents))
    except RevisionError as error:
        return replace(found, unknown=str(error)), []
    same = next((edge for edge in edges if edge.change is None and not edge.problem), None)
    if same is not None:
        for edge in edges:
            if edge is not same:
                edge.old.close()
        return None, [same.old]
    older = [edge.old for edge in edges if edge.old.exists or edge.old.contents.catalog is None]
    if problem := next((edge.problem for edge in edges if edge.problem), ""):
        return replace(found, unknown=problem), older
    first = edges[0]
    # What a merge takes from any of its parents was changed there.
    common = set[str].intersection(*({one.key for one in edge.keys} for edge in edges))
    keys = tuple(one for one in first.keys if one.key in common)
    if len(edges) > 1 and not keys:
        return None, older
    return replace(found, change=first.change, keys=keys), older


def pin_of_state(state: State) -> dict[str, Any] | None:
    """Return what the lockfile of a state says of the samples; None without a pin."""
    origins = {one.key: one.value for one in state.contents.pins.get(state.name, ())}
    return {key: origins.get(f"pin.{key}") for key in _PIN_KEYS} if origins else None
