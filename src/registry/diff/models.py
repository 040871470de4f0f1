"""The values of a review: two sides in, what differs between them out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from registry.errors import Problem
from registry.manifest.provenance import Origin

__all__ = [
    "Chunk",
    "DatasetChange",
    "Example",
    "FieldChange",
    "Inherited",
    "KeyChange",
    "Review",
    "SampleChange",
    "Side",
    "Status",
]

Status = Literal["removed", "changed", "added", "renamed"]


@dataclass(frozen=True, kw_only=True)
class Side:
    """One state of a catalog."""

    label: str
    """What people call it: `main (1a2b3c4)`, `work tree`."""
    datasets: Mapping[str, Mapping[str, Origin]]
    """Dataset → dotted key → resolved value, its paths relative to the catalog's folder."""
    index: Mapping[str, Origin] = field(default_factory=dict)
    """What the index says beside datasets and their defaults: `trust`, `include`, …"""
    problems: tuple[Problem, ...] = ()
    broken: frozenset[str] = frozenset()
    """Datasets that are there and don't resolve."""
    unreadable: bool = False
    """Whether the index itself can't be used, so that nothing is known."""


@dataclass(frozen=True, kw_only=True)
class KeyChange:
    """One resolved key with another value, at the place where it was changed."""

    key: str
    kind: str
    """A class of change; empty for what only follows from other changes."""
    old: Origin | None
    """None where there was no value."""
    new: Origin | None
    inherited_by: tuple[str, ...] = ()
    """Other datasets whose value changes with it."""


@dataclass(frozen=True)
class Inherited:
    """A change that is told elsewhere."""

    key: str
    dataset: str
    """Where it is told; empty for the defaults of the index."""


class Chunk(NamedTuple):
    """A part of a text that is compared word by word."""

    sign: Literal["=", "-", "+"]
    text: str


@dataclass(frozen=True)
class FieldChange:
    """How one field of a sample differs."""

    field: str
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True)
class Example:
    """One sample that differs."""

    status: Literal["changed", "added", "removed"]
    label: str
    """Its id, or its place."""
    fields: tuple[FieldChange, ...]


@dataclass(frozen=True, kw_only=True)
class SampleChange:
    """How the samples of a dataset differ."""

    old: int | None = None
    """How many there were; None where that was not looked at."""
    new: int | None = None
    matched_by: Literal["id", "content", ""] = ""
    added: int = 0
    removed: int = 0
    changed: int = 0
    moved: int = 0
    """Samples that are in both, in another order."""
    fields: Mapping[str, int] = field(default_factory=dict)
    """In how many of the changed samples a field differs."""
    examples: tuple[Example, ...] = ()
    note: str = ""
    """Why samples were not compared, or what was built for it."""

    @property
    def is_same(self) -> bool:
        """Whether both sides have the same samples in the same order."""
        return not (self.added or self.removed or self.changed or self.moved)


@dataclass(frozen=True, kw_only=True)
class DatasetChange:
    """What became of one dataset."""

    name: str
    status: Status
    kinds: tuple[str, ...] = ()
    """Classes of change, worst first."""
    keys: tuple[KeyChange, ...] = ()
    """Changes that are told here."""
    inherited: tuple[Inherited, ...] = ()
    """Changes that are told where they stand."""
    old_name: str = ""
    """What a renamed dataset was called."""
    place: str = ""
    """`file:line` of its source."""
    facts: Mapping[str, Origin] = field(default_factory=dict)
    """What a new dataset says, by key, without what is built in."""
    samples: SampleChange | None = None


@dataclass(frozen=True, kw_only=True)
class Review:
    """All differences between two sides."""

    base: str
    head: str
    changes: tuple[DatasetChange, ...] = ()
    """Worst first."""
    shared: tuple[KeyChange, ...] = ()
    """Changes in the index: its defaults, whose code it trusts, what it includes."""
    base_problems: tuple[Problem, ...] = ()
    head_problems: tuple[Problem, ...] = ()
    not_compared: tuple[str, ...] = ()
    """Datasets that don't resolve on one side or both."""

    @property
    def problems(self) -> Iterator[tuple[str, Problem]]:
        """The problems of both sides, each with its side."""
        yield from ((self.base, problem) for problem in self.base_problems)
        yield from ((self.head, problem) for problem in self.head_problems)

    @property
    def is_clean(self) -> bool:
        """Whether nothing differs, and everything could be compared."""
        return not (self.changes or self.shared or self.base_problems or self.head_problems)
