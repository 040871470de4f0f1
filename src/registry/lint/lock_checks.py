"""Find the pins that are of other manifests than there are, by digests alone."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import structs

from registry.catalog.catalog import shown
from registry.errors import LockError, Problem
from registry.lockfile.models import Lock, lock_of, read_documents
from registry.lockfile.pinned import changes
from registry.lockfile.spec_digest import spec_digest
from registry.manifest.merge import Entry
from registry.manifest.models import DatasetSpec
from registry.rules import RULES
from registry.yamldoc.reader import Document

__all__ = ["CheckedLock", "gone_pins", "read_checked", "stale_pin"]

_GONE = "`python -m registry lock` drops it"


@dataclass(frozen=True, kw_only=True)
class CheckedLock:
    """The lockfile of a catalog, as a check looks at it."""

    lock: Lock = field(default_factory=Lock)
    documents: Sequence[Document] = ()
    problems: tuple[Problem, ...] = ()
    """What is wrong in the file itself; then it has no pins."""


def read_checked(path: Path) -> CheckedLock:
    """Read a lockfile to check it; there need be none."""
    try:
        documents = read_documents(path, shown_as=shown(path))
    except LockError as error:
        return CheckedLock(problems=tuple(_bad(problem) for problem in error.problems))
    return CheckedLock(lock=lock_of(documents), documents=documents)


def _bad(problem: Problem) -> Problem:
    rule = RULES["bad-lock"]
    hint = problem.hint or "mend it, or remove the file and run `python -m registry lock`"
    return structs.replace(problem, rule=rule.id, severity=rule.severity, hint=hint)


def stale_pin(entry: Entry, spec: DatasetSpec, checked: CheckedLock) -> Iterator[Problem]:
    """Yield a problem at the key of a dataset whose pin is of another manifest.

    One without a pin is none: its sources may be out of reach for whoever writes the lock.
    """
    pin = checked.lock.pins.get(spec.name)
    if pin is not None and not pin.agrees(spec_digest(spec)):
        message = f"datasets.lock is of another manifest: {changes(spec, pin)}"
        hint = f"`python -m registry lock {spec.name}` pins this one"
        yield entry.problem((), message, hint, rule="stale-lock")


def gone_pins(checked: CheckedLock, names: Container[str]) -> Iterator[Problem]:
    """Yield a problem for each pin, at its line, of a dataset that is not among `names`."""
    for document in checked.documents:
        for name in document.value["datasets"]:
            if name not in names:
                message = f"'{name}' is pinned and in no manifest"
                yield document.problem(("datasets", name), message, _GONE, rule="stale-lock")
