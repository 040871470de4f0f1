"""Check pins against manifests by comparing digests, without reading any data."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import structs

from registry.base.locations import Location
from registry.base.names import display_path
from registry.boundary.boundary import UNBOUNDED, Boundary
from registry.errors import LockError, Problem
from registry.lockfile.models import CommitPin, Lock, Pin, lock_of, read_documents
from registry.lockfile.pinned import staleness
from registry.lockfile.spec_digest import location_in
from registry.manifest.merge import Layer
from registry.manifest.models import DatasetSpec
from registry.rules import RULES, Finding, run_checks
from registry.yamldoc.reader import Document

__all__ = [
    "LockContent",
    "PinnedDataset",
    "orphaned_pins",
    "outside_path",
    "read_lock_content",
    "stale_lock",
]


@dataclass(frozen=True, kw_only=True)
class LockContent:
    """The content of a catalog's lockfile; empty if the lockfile has problems."""

    lock: Lock = field(default_factory=Lock)
    documents: Sequence[Document] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class PinnedDataset:
    """A pin and its dataset."""

    name: str
    pin: Pin | CommitPin
    spec: DatasetSpec | None
    """None if no manifest defines the dataset."""
    boundary: Boundary = UNBOUNDED
    """What the catalog may read."""


def read_lock_content(path: Path) -> LockContent:
    """Read a lockfile; a missing file has no pins."""
    try:
        documents = read_documents(path, shown_as=display_path(path))
    except LockError as error:
        rule = RULES["bad-lock"]
        repair = "fix it, or delete the file and run `registry lock`"
        return LockContent(
            problems=tuple(
                structs.replace(
                    problem, rule=rule.id, severity=rule.severity, hint=problem.hint or repair
                )
                for problem in error.problems
            )
        )
    return LockContent(lock=lock_of(documents), documents=documents)


def stale_lock(pinned: PinnedDataset) -> Iterator[Finding]:
    """Report a pin that was made for an older manifest, or whose dataset was removed.

    A dataset without a pin is valid: the author of the lockfile may have no access to its sources.
    """
    if pinned.spec is None:
        message = f"'{pinned.name}' is pinned and in no manifest"
        yield Finding((), message, "`registry lock` drops it")
    elif not pinned.pin.agrees(pinned.spec):
        reason, hint = staleness(pinned.spec, pinned.pin)
        yield Finding((), f"pinned {reason}", hint)


def outside_path(pinned: PinnedDataset) -> Iterator[Finding]:
    """Report pinned files that the catalog may not read: a lockfile is reviewed least of all."""
    if pinned.spec is None:
        return
    for source in pinned.pin.sources:
        path = Location(source.location).file
        # Of files inside the catalog, the check of the manifest has followed the links.
        if path.is_path and os.path.normpath(path).startswith(("/", "..")):
            refused = pinned.boundary.refusal(location_in(pinned.spec.folder, path))
            if refused is not None:
                message = f"datasets.lock pins '{source.location}', which {refused[0]}"
                hint = f"restore it, or run `registry lock --upgrade {pinned.name}`"
                yield Finding((), message, hint)


def orphaned_pins(content: LockContent, names: Container[str]) -> Iterator[Problem]:
    """Yield a problem for each pin whose dataset is not among `names`."""
    rows: dict[str, Pin | CommitPin] = {**content.lock.pins, **content.lock.commits}
    for document in content.documents:
        for name in document.value["datasets"]:
            if name not in names:
                pinned = PinnedDataset(name, rows[name], None)
                layer = Layer("lock", {}, document, ("datasets", name))
                yield from run_checks("lock", pinned, layer)
