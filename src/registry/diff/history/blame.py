"""Find the commit that last changed each field of a sample."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from copy import deepcopy
from dataclasses import dataclass

from registry.cache.cache import Cache
from registry.diff.history.commits import Commit
from registry.diff.history.states import (
    SHALLOW,
    Edge,
    History,
    State,
    edges_of,
    outside,
    pin_of_state,
    step_of,
)
from registry.diff.matching import field_bytes, field_text
from registry.diff.models import Chunk, Snapshot
from registry.diff.review import has_fixed_bytes
from registry.diff.samples import Samples, counterpart, field_change
from registry.diff.sampling import open_samples
from registry.diff.severity import SAME_SAMPLES
from registry.diff.snapshot import OpenSnapshot
from registry.diff.snapshots.mapper_code import changed_code, python_files_of
from registry.errors import RegistryError, RevisionError, SampleNotFoundError, count_text
from registry.load.named_files import named_files
from registry.samples.fields import COMPARED
from registry.samples.sample import Sample
from registry.settings import lock_file_of

__all__ = ["FIELDS", "Blame", "UnreadableStateError", "blame"]

FIELDS = ("id", *COMPARED)
"""The fields of a sample, each of which has a last change."""
_WITH_FILES = ("input", "files", "setup", "sandbox")
_NAMED = "named."


class UnreadableStateError(RevisionError):
    """The samples of the working tree can't be read, so there is nothing to explain."""


@dataclass(frozen=True, kw_only=True)
class Blame:
    """The last change of one field of a sample, or why it is not known."""

    field: str
    commit: Commit | None
    """None for what is not committed yet; with `unknown`, the newest that may have changed it."""
    dataset: str
    """Its name after the commit."""
    before: str | None = None
    """The value before; None if there was no such sample."""
    after: str = ""
    chunks: tuple[Chunk, ...] = ()
    """How the value changed, word by word; nothing if only its `files` did."""
    files: tuple[str, ...] = ()
    """Files that the field names and whose bytes changed, as paths from the catalog's folder."""
    version: str | None = None
    """Of the dataset's pin after the commit."""
    unknown: str = ""
    """Why the commit is not known."""


@dataclass(frozen=True)
class _Task:
    """Fields of a sample in one state whose last change is in it or before it."""

    state: State
    samples: Samples
    """Those of this state, or of a newer one that has the same."""
    position: int
    fields: tuple[str, ...]

    @property
    def sample(self) -> Sample:
        return self.samples.samples[self.position]


@dataclass(frozen=True)
class Opener:
    """Opens the samples of states, as far as their bytes are here and their code is trusted."""

    history: History
    cache: Cache
    runs_changed_code: bool = False

    def open(self, state: State) -> Samples | str:
        """Return the samples of a state, or why they are not known."""
        if reason := self._obstacle(state):
            return reason
        try:
            return open_samples(state.name, _snapshot(state), self.cache)
        except (RegistryError, OSError) as error:
            first = (str(error).splitlines() or [type(error).__name__])[0]
            return state.contents.checkout.strip_folders(first)

    def _obstacle(self, state: State) -> str:
        """Return why the samples of a state must not be opened, or would be a guess."""
        if not state.contents.has_valid_lock:
            lock = os.path.basename(lock_file_of(state.contents.checkout.index))
            problems = (one for one in state.contents.problems if one.file.endswith(lock))
            return str(next(problems, "its lockfile can't be read"))
        if state.commit and (reason := _unfixed(state)):
            return reason
        mapper = state.contents.specs[state.name].mapper
        return "" if mapper is None else self._code_obstacle(state, mapper)

    def _code_obstacle(self, state: State, mapper: str) -> str:
        rules, checkout = self.history.rules, state.contents.checkout
        if mapper not in state.contents.boundary.trust:
            hint = "`--config-from` names an index that trusts it"
            return f"the base does not trust the mapper '{mapper}', so it is not run ({hint})"
        base = checkout if self.runs_changed_code else rules.checkout
        changed = changed_code((mapper,), base, checkout)
        if mapper not in changed:
            return ""
        if self.runs_changed_code:
            return f"{changed[mapper].file}, code of its mapper, is not as it is here"
        return f"{changed[mapper].message} (`--run-changed-code` runs it, once you have read it)"


def _snapshot(state: State) -> OpenSnapshot:
    contents, label = state.contents, Snapshot(label=state.label, datasets={})
    return OpenSnapshot(contents.checkout, label, contents.specs, contents.lock, contents.boundary)


def _unfixed(state: State) -> str:
    """Return what of a state neither a commit nor a pin fixes: it may have changed at any time."""
    contents, checkout = state.contents, state.contents.checkout
    spec, pin = contents.specs[state.name], contents.lock.pins.get(state.name)
    if pin is not None and pin.agrees(spec):
        return ""
    if spec.is_remote and not has_fixed_bytes(spec, pin):
        return "its source is remote, and nothing pinned the bytes that it had"
    if path := outside(state):
        return f"its source {path} is outside the repository, and was not pinned"
    if state.is_installed:
        return "a part of its manifest is of an installed package, and was not pinned"
    if spec.mapper is not None:
        files = python_files_of(spec.mapper, checkout, checkout)
        if not any(file.is_relative_to(checkout.top) for file in files):
            return "its mapper is of an installed package, and was not pinned"
    return ""


def blame(
    opener: Opener,
    state: State,
    identifier: str,
    fields: Collection[str],
    announce: Callable[[str], None],
) -> Iterator[Blame]:
    """Yield the last change of each field of a sample, as soon as it is found.

    Raises:
        SampleNotFoundError: the dataset has no sample with this id; the error has similar ones.
        UnreadableStateError: the samples of the working tree can't be read.
    """
    samples = opener.open(state) if not state.problem else state.problem
    if isinstance(samples, str):
        message = f"{state.name}: its present samples can't be read: {samples}"
        hint = f" (`registry sync {state.name}` builds them)"
        raise UnreadableStateError(message + (hint if state.contents.has_valid_lock else ""))
    ids = [None if one.id is None else str(one.id) for one in samples.samples]
    if identifier not in ids:
        raise SampleNotFoundError(identifier, filter(None, ids), dataset=state.name)
    chosen = tuple(field for field in FIELDS if field in fields)
    tasks = [_Task(state, samples, ids.index(identifier), chosen)]
    seen = 0
    while tasks:
        task = tasks.pop()
        commit, parents = step_of(opener.history, task.state)
        seen += 1
        if commit is not None:
            announce(f"{count_text(seen, 'commit')} read, back to {commit.date:%Y-%m-%d}")
        found, older = _step(opener, task, commit, parents)
        yield from found
        tasks += older
        task.state.close()


def _step(
    opener: Opener, task: _Task, commit: Commit | None, parents: tuple[str, ...]
) -> tuple[list[Blame], list[_Task]]:
    """Return the fields that a commit changed, and what is left for each of its parents."""
    if commit is not None and commit.id in opener.history.commits.cut:
        return [_unknown(task, commit, field, SHALLOW) for field in task.fields], []
    if commit is None and task.state.commit:
        reason = f"no commit has the files that define {task.state.name}"
        return [_unknown(task, None, field, reason) for field in task.fields], []
    if commit is not None and not task.state.problem and (reason := _unfixed(task.state)):
        return [_unknown(task, commit, field, reason) for field in task.fields], []
    try:
        edges = list(edges_of(opener.history, task.state, parents))
    except RevisionError as error:
        return [_unknown(task, commit, field, str(error)) for field in task.fields], []
    left, older, reason = list(task.fields), [], ""
    before: Sample | None = None
    replaced: dict[str, tuple[str, ...]] = {}
    for edge in edges:
        found = _before(opener, task, edge)
        if isinstance(found, str):
            reason = reason or found
        elif found is not None:
            replaced = _replaced_files(task, found, edge)
            same = tuple(
                field for field in left if field not in replaced and _is_same(found, task, field)
            )
            left = [field for field in left if field not in same]
            before = before or found.sample
            if same:
                older.append(_Task(found.state, found.samples, found.position, same))
                continue
        edge.old.close()
    if reason:
        return [_unknown(task, commit, field, reason) for field in left], older
    return [_changed(task, commit, field, before, replaced.get(field, ())) for field in left], older


def _before(opener: Opener, task: _Task, edge: Edge) -> _Task | str | None:
    """Return the sample in an older state, None if it was not there, or why nobody can tell."""
    if edge.problem:
        return edge.problem
    if not edge.old.exists:
        return None
    change = edge.change
    if change is None or (change.status == "changed" and SAME_SAMPLES.issuperset(change.kinds)):
        return _Task(edge.old, task.samples, task.position, task.fields)
    samples = opener.open(edge.old)
    if isinstance(samples, str):
        return f"the samples before it, of {edge.old.label}, are not known: {samples}"
    position = counterpart(samples, task.samples, task.position)
    return None if position is None else _Task(edge.old, samples, position, task.fields)


def _is_same(old: _Task, new: _Task, field: str) -> bool:
    if field != "id":
        return field_bytes(old.sample, field) == field_bytes(new.sample, field)
    are_numbers = old.samples.auto_id or new.samples.auto_id
    return are_numbers or old.sample.id == new.sample.id


def _text(sample: Sample, field: str) -> str:
    return str(sample.id) if field == "id" else field_text(sample, field)


def _replaced_files(new: _Task, old: _Task, edge: Edge) -> dict[str, tuple[str, ...]]:
    """Return field → the files that it names, and whose bytes the commit changed."""
    changed = {one.key.removeprefix(_NAMED) for one in edge.keys if one.key.startswith(_NAMED)}
    if not changed:
        return {}
    found = {
        field: changed & (_named_by(old, field) | _named_by(new, field)) for field in _WITH_FILES
    }
    return {field: tuple(sorted(files)) for field, files in found.items() if files}


def _named_by(task: _Task, field: str) -> set[str]:
    """Return the files that a field of the sample names, as paths from the catalog's folder."""
    contents, name = task.state.contents, task.state.name
    base = contents.specs[name].source.base_location
    if base is None or not base.is_local:
        return set()
    _snapshot(task.state).extract_siblings([name])
    alone = Sample(input="")
    setattr(alone, field, deepcopy(getattr(task.sample, field)))
    found = named_files([alone], base, contents.boundary.of_location(base))
    return {contents.checkout.relative(path) for path in (*found.files, *found.sandbox)}


def _changed(
    task: _Task,
    commit: Commit | None,
    field: str,
    before: Sample | None,
    files: tuple[str, ...],
) -> Blame:
    after = _text(task.sample, field)
    if before is None:
        chunks: tuple[Chunk, ...] = (Chunk("+", after),) if after else ()
    elif files and _text(before, field) == after:
        chunks = ()
    else:
        chunks = field_change(before, task.sample, field).chunks
    return Blame(
        field=field,
        commit=commit,
        dataset=task.state.name,
        before=None if before is None else _text(before, field),
        after=after,
        chunks=chunks,
        files=files,
        version=(pin_of_state(task.state) or {}).get("version"),
    )


def _unknown(task: _Task, commit: Commit | None, field: str, reason: str) -> Blame:
    return Blame(
        field=field,
        commit=commit,
        dataset=task.state.name,
        after=_text(task.sample, field),
        unknown=reason,
    )
