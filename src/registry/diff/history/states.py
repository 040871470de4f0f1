"""Open the states of one dataset, and walk from the present one to older ones.

A state is the dataset as the working tree has it, or a commit; a step leads from it to the commit
that made it what it is.
"""

from __future__ import annotations

import heapq
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from registry.base.git import repository_of
from registry.base.locations import Location
from registry.boundary.paths import fixed_folder
from registry.catalog.catalog import Catalog
from registry.diff.checkout import (
    Checkout,
    Rules,
    checkout_of,
    commit_checkout,
    commit_of,
    folder_checkout,
    no_rules,
    rules_in,
)
from registry.diff.compare import compare
from registry.diff.history.commits import Commit, Commits
from registry.diff.models import CatalogDiff, DatasetChange, KeyChange
from registry.diff.snapshot import open_pair
from registry.diff.snapshots.contents import Contents, local_patterns, read_contents
from registry.diff.snapshots.file_names import MARKS, file_names, words_in
from registry.errors import RevisionError, count_text
from registry.manifest.merge import Entry
from registry.settings import lock_file_of

__all__ = [
    "SHALLOW",
    "Change",
    "Edge",
    "History",
    "State",
    "changes_of",
    "difference",
    "edges_of",
    "open_history",
    "outside",
    "pin_of_state",
    "step_of",
]

SHALLOW = "the clone is shallow, so what came before is not here (`git fetch --unshallow` gets it)"
_PIN_KEYS = ("samples", "ordered", "version")


@dataclass(frozen=True)
class State:
    """One dataset as a commit has it, or the working tree."""

    name: str
    contents: Contents
    commit: str = ""
    """Empty for the working tree."""
    folder: Path | None = None
    """The temporary folder with its files."""

    @property
    def label(self) -> str:
        """What it is called in messages."""
        return self.commit[:7] or "the working tree"

    @property
    def exists(self) -> bool:
        """Whether the catalog has the dataset."""
        catalog = self.contents.catalog
        return catalog is not None and self.name in catalog

    @property
    def problem(self) -> str:
        """Why the dataset can't be read; empty if it can, or does not exist."""
        if self.contents.catalog is not None and (
            not self.exists or self.name in self.contents.specs
        ):
            return ""
        checkout = self.contents.checkout
        own = {checkout.file_name(entry.document.file) for entry in self.chain}
        problems = sorted(self.contents.problems, key=lambda one: one.file not in own)
        found = next(iter(problems), None)
        return f"{self.name} can't be read in {self.label}" + (f": {found}" if found else "")

    @property
    def chain(self) -> list[Entry]:
        """The entries of the dataset, of those that it extends, and of its examples.

        None if it does not exist.
        """
        catalog, spec = self.contents.catalog, self.contents.specs.get(self.name)
        if catalog is None or not self.exists:
            return []
        companion = None if spec is None else spec.companion
        names = [self.name] if companion is None else [self.name, companion.name]
        return [entry for name in names for entry in catalog.lineage(name)]

    @property
    def is_installed(self) -> bool:
        """Whether a part of its manifest is of an installed package."""
        folder = self.contents.checkout.folder
        return any(entry.folder != folder for entry in self.chain)

    def pathspecs(self) -> list[str]:
        """Return the files that may change the dataset, as pathspecs of git."""
        checkout = self.contents.checkout
        files = {str(checkout.index), str(lock_file_of(checkout.index))}
        files |= {os.path.abspath(entry.document.file) for entry in self.chain}
        spec = self.contents.specs.get(self.name)
        if spec is not None:
            files |= {fixed_folder(pattern) for pattern in local_patterns(spec)}
            files |= set(self._named())
        top = checkout.top
        inside = {os.path.relpath(file, top) for file in files if Path(file).is_relative_to(top)}
        found = {f":(top,literal){name}" for path in inside for name in _with_links(checkout, path)}
        if spec is not None and spec.mapper is not None:
            found.add(":(top,glob)**/*.py")
        return sorted(found)

    def _named(self) -> Iterator[str]:
        """Yield the files and folders that samples may name."""
        contents, checkout = self.contents, self.contents.checkout
        boundary = contents.boundary.allowing([str(checkout.top)])
        names = file_names(
            contents,
            self.name,
            lambda _: frozenset(),
            lambda path: words_in(os.path.join(checkout.folder, path), boundary, MARKS),
        )
        if names.globs:
            yield from (
                os.path.normpath(checkout.folder / path)
                for path in checkout.paths
                if names.names(path)
            )
        if names.folder is not None:  # a file beside the data, whatever it is called
            yield os.path.normpath(checkout.folder / names.folder)

    def close(self) -> None:
        """Remove the temporary files."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


def _with_links(checkout: Checkout, path: str) -> Iterator[str]:
    """Yield a path from the top, the links that lead to it, and the submodule that contains it."""
    yield path
    tree = checkout.tree
    if tree is None:
        return
    yield tree.follow(path)
    for place in (*tree.links, *tree.submodules, *tree.missing):
        if path == place or path.startswith(f"{place}/"):
            yield place


@dataclass(frozen=True)
class History:
    """The states of a catalog in a repository."""

    index: Path
    commits: Commits
    head: str
    rules: Rules
    """The index that decides what old states may read, and whose code may be run."""
    folder: Path
    _numbers: Iterator[int] = field(default_factory=count)

    def work_tree(self, name: str) -> State:
        """Return a dataset as it is in the working tree.

        Raises:
            RegistryError: the catalog does not have it; the error has similar names.
        """
        name = Catalog.open(self.index).named(name)
        checkout = folder_checkout(self.index, "work tree")
        return State(name, read_contents(checkout, self.rules.index, {name}))

    def at(self, commit: str, newer: State) -> State:
        """Return a dataset as a commit has it, perhaps by another name than in a newer state."""
        folder = self.folder / str(next(self._numbers))
        repository = self.commits.repository
        checkout = commit_checkout(repository, commit, self.index, folder, label=commit)
        read = partial(read_contents, rules=self.rules.index)
        after = newer.contents.catalog
        contents = read(checkout, names={newer.name}, earlier=after)
        state, before = State(newer.name, contents, commit, folder), contents.catalog
        if state.exists or before is None or after is None:
            return state
        gone, added = before.keys() - after.keys(), after.keys() - before.keys()
        if not gone:
            return state
        old = read(checkout, names=gone, earlier=before)
        new = read(newer.contents.checkout, names=added, earlier=after)
        found = (one.old_name for one in difference(old, new).changes if one.name == newer.name)
        if not (name := next(found, "")):
            return state
        return State(name, read(checkout, names={name}, earlier=before), commit, folder)


def difference(old: Contents, new: Contents) -> CatalogDiff:
    """Return what `registry diff` says of two states; no code is run for it."""
    before, after = open_pair(old, new, runs_changed_code=True, runs_code=False)
    return compare(before.snapshot, after.snapshot)


@contextmanager
def open_history(index: Path, rules: str | None) -> Iterator[History]:
    """Open the history of a catalog; the files of old states exist until the context exits.

    Args:
        index: The catalog in the working tree.
        rules: A folder or revision whose index decides what may be read and run; None is the
            commit where the current branch left the main branch, and without one nothing is
            permitted.

    Raises:
        RevisionError: there is no repository, or no commit.
    """
    index = Path(os.path.abspath(index))
    try:
        repository = repository_of(index.parent)
    except RevisionError as error:
        message = str(error).removesuffix(" (folders can be compared without git)")
        raise RevisionError(f"{message}, so there is no history") from error
    if repository.run("rev-parse", "--verify", "--quiet", "HEAD").returncode != 0:
        raise RevisionError(f"{repository.top}: no commit yet, so there is no history")
    head = commit_of(repository, "HEAD")
    with TemporaryDirectory(prefix="registry-history-") as temporary:
        folder = Path(temporary).resolve()
        try:
            judge = rules_in(checkout_of(rules, index, folder / "rules"), folder)
        except RevisionError:
            if rules is not None:
                raise
            judge = no_rules(checkout_of(head, index, folder / "head"), folder)
        yield History(index, Commits(repository), head, judge, folder)


def outside(state: State) -> str:
    """Return a local source of a dataset that the repository does not contain, if any."""
    checkout = state.contents.checkout
    patterns = local_patterns(state.contents.specs[state.name])
    away = (
        one for one in patterns if not Path(Location(one).local_path()).is_relative_to(checkout.top)
    )
    return checkout.strip_mirror(next(away, ""))


# --- the walk: one step for each commit that matters ---


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
