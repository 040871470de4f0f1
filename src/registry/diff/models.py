"""The values of a diff: two snapshots of a catalog, and what differs between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from registry.diff.severity import ChangeClass, by_severity, change_class
from registry.errors import Problem
from registry.manifest.models import NO_LICENSE
from registry.manifest.origins import Origin

if TYPE_CHECKING:
    from registry.samples.sample import Sample

__all__ = [
    "REACH_KINDS",
    "CatalogDiff",
    "Chunk",
    "CorrectionChange",
    "DatasetChange",
    "DatasetStatus",
    "Example",
    "FieldChange",
    "InheritedChange",
    "KeyChange",
    "NewReach",
    "Obstacle",
    "Reach",
    "SampleChange",
    "Snapshot",
    "terms_of",
]

_TERMS = ("license", "access")
"""Keys that say under which terms the data can be had."""
DatasetStatus = Literal["removed", "changed", "added", "renamed"]
Obstacle = Literal[
    "not cached",
    "needs network",
    "offline",
    "too many new",
    "package not installed",
    "package changed",
    "untrusted mapper",
    "own credentials",
    "changed code",
    "other code",
    "error",
]
"""Why samples were not compared."""
ReachKind = Literal[
    "nested index",
    "mapper",
    "code in the sandbox",
    "permission",
    "variable",
    "local path",
    "package",
    "host",
    "scheme",
]

REACH_KINDS: tuple[ReachKind, ...] = get_args(ReachKind)
"""What a catalog may reach beyond its own files, what needs most care first."""


class Reach(NamedTuple):
    """Something beyond the catalog's own files that a dataset, or the index, reaches."""

    kind: ReachKind
    name: str
    """`data.example.org`, `TOKEN to data.example.org`, `package.module:function`, …"""


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """One state of a catalog."""

    label: str
    """Its name for people: `main (1a2b3c4)`, `work tree`."""
    datasets: Mapping[str, Mapping[str, Origin]]
    """Dataset → dotted key → resolved value; paths are relative to the catalog's folder."""
    index: Mapping[str, Origin] = field(default_factory=dict)
    """Keys of the index other than datasets and their defaults: `trust`, `include`, …"""
    reach: Mapping[str, frozenset[Reach]] = field(default_factory=dict)
    """Dataset → what it reaches; the empty name is the index."""
    problems: tuple[Problem, ...] = ()
    broken: frozenset[str] = frozenset()
    """Datasets that exist but don't resolve."""
    unrun: frozenset[str] = frozenset()
    """Datasets whose mapper is not run, as its code in the repository differs from the base."""
    unreadable: bool = False
    """Whether the index itself is invalid, so that nothing is known about its datasets."""
    notes: tuple[str, ...] = ()
    """How a part of it was compared that is not in its files."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Old name → new name of the datasets that it says were renamed."""


# The names of the fields below are the keys of `diff --format json`.


@dataclass(frozen=True)
class NewReach:
    """Something that the head reaches, and nothing of the base."""

    kind: ReachKind
    name: str
    datasets: tuple[str, ...]
    """Those that reach it; empty for the index."""


def terms_of(origin: Origin | None) -> str:
    """Return a license without where it was read, or a kind of access without its URL."""
    value = None if origin is None else origin.value
    if isinstance(value, dict):
        known = value.get("spdx") or (NO_LICENSE if "none-stated" in value else "")
        return str(known or next(iter(value), ""))
    return "(none)" if value is None else str(value)


@dataclass(frozen=True, kw_only=True)
class KeyChange:
    """One resolved key whose value changed, reported where it was edited."""

    key: str
    kind: ChangeClass | Literal[""]
    """Empty for what only follows from other changes."""
    old: Origin | None
    """None if there was no value."""
    new: Origin | None
    inherited_by: tuple[str, ...] = ()
    """Other datasets whose value changes with it."""

    @property
    def is_of_terms(self) -> bool:
        """Whether the data comes under other terms than before, as far as these were known."""
        if self.key not in _TERMS or self.old is None or self.old.value is None:
            return False
        return terms_of(self.old).casefold() != terms_of(self.new).casefold()


@dataclass(frozen=True)
class InheritedChange:
    """A change that is reported at another dataset."""

    key: str
    dataset: str
    """Where it is reported; empty for the defaults of the index."""


class Chunk(NamedTuple):
    """A part of a word diff: unchanged, removed or added."""

    sign: Literal["=", "-", "+"]
    text: str


@dataclass(frozen=True)
class FieldChange:
    """How one field of a sample differs."""

    field: str
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True)
class Example:
    """One sample that differs, or of a page with all of them one that does not."""

    status: Literal["changed", "added", "removed", "equal"]
    label: str
    """Its id, or its position."""
    fields: tuple[FieldChange, ...]
    samples: tuple[Sample, ...] = field(default=(), compare=False, repr=False)
    """The sample before and after, or the only one, for a format that shows it whole."""


@dataclass(frozen=True, kw_only=True)
class CorrectionChange:
    """A row of a corrections file that one state has, or has otherwise."""

    status: Literal["added", "removed", "changed"]
    label: str
    """Its sample: `id 'q-17'`."""
    field: str
    was: Any
    now: Any
    drop: bool
    """Whether the sample is left out."""
    verdict: str
    reason: str
    source: str
    by: str
    evidence: str
    """Verdict, reason, source and reviewer in one line."""


@dataclass(frozen=True, kw_only=True)
class SampleChange:
    """How the samples of a dataset differ."""

    old: int | None = None
    """Number of samples before; None if they were not compared."""
    new: int | None = None
    matched_by: Literal["id", "content", ""] = ""
    similar: int = 0
    """Changed samples whose partner was found by similarity alone."""
    unsearched: int = 0
    """Added and removed samples that no similar one was looked for, as there are too many."""
    added: int = 0
    removed: int = 0
    changed: int = 0
    moved: int = 0
    """Samples that both snapshots have, in a different order."""
    fields: Mapping[str, int] = field(default_factory=dict)
    """Field → number of changed samples in which it differs."""
    examples: tuple[Example, ...] = ()
    warnings: tuple[str, ...] = ()
    """What is questionable in more of the samples than before."""
    corrections: tuple[CorrectionChange, ...] = ()
    """The reviewed rows behind it, with their reasons and sources."""
    note: str = ""
    """Why samples were not compared, or what was built for the comparison."""
    obstacle: Obstacle | Literal[""] = ""
    """Why samples were not compared; empty if they were."""
    command: str = ""
    """The command that compares them."""

    def without_samples(self) -> SampleChange:
        """Return it without the samples of its examples, which JSON has as fields alone."""
        return replace(self, examples=tuple(replace(one, samples=()) for one in self.examples))

    @property
    def is_same(self) -> bool:
        """Whether both snapshots have the same samples in the same order."""
        return not (self.added or self.removed or self.changed or self.moved)

    @property
    def kinds(self) -> tuple[ChangeClass, ...]:
        """The classes of what differs in the samples themselves, most severe first."""
        kinds = {change_class(f"fields.{field}") for field in self.fields}
        kinds |= {ChangeClass.SUBSET} if self.added or self.removed else set()
        return by_severity(kinds | ({ChangeClass.ORDER} if self.moved else set()))


@dataclass(frozen=True, kw_only=True)
class DatasetChange:
    """How one dataset differs."""

    name: str
    status: DatasetStatus
    kinds: tuple[ChangeClass, ...] = ()
    """Most severe first."""
    keys: tuple[KeyChange, ...] = ()
    """Changes that are reported at this dataset."""
    inherited: tuple[InheritedChange, ...] = ()
    """Changes that are reported elsewhere."""
    old_name: str = ""
    """The former name of a renamed dataset, which may have other changes too."""
    place: str = ""
    """`file:line` of its entry."""
    facts: Mapping[str, Origin] = field(default_factory=dict)
    """Values by key: of a new dataset all but built-in defaults, of a removed one the main ones."""
    used_by: tuple[str, ...] = ()
    """What used a removed dataset: those that extended it, took examples from it, groups of it."""
    samples: SampleChange | None = None


@dataclass(frozen=True, kw_only=True)
class CatalogDiff:
    """All differences between two snapshots."""

    base: str
    head: str
    changes: tuple[DatasetChange, ...] = ()
    """Most severe first."""
    reach: tuple[NewReach, ...] = ()
    """What the head reaches, and nothing of the base."""
    shared: tuple[KeyChange, ...] = ()
    """Changes in the index: its defaults, whose code it trusts, what it includes."""
    base_problems: tuple[Problem, ...] = ()
    head_problems: tuple[Problem, ...] = ()
    not_compared: tuple[str, ...] = ()
    """Datasets that could not be read in at least one snapshot, or whose code was not run."""
    notes: tuple[str, ...] = ()
    """How parts were compared that are not in the files of the snapshots."""
    verdict: str = ""
    """The headline of a comparison of samples alone, which has no keys and no reach."""

    @property
    def problems(self) -> Iterator[tuple[str, Problem]]:
        """The problems of both snapshots, each with the snapshot's label."""
        yield from ((self.base, problem) for problem in self.base_problems)
        yield from ((self.head, problem) for problem in self.head_problems)

    @property
    def is_complete(self) -> bool:
        """Whether both snapshots could be read, so that everything could be compared."""
        return not (self.base_problems or self.head_problems or self.not_compared)

    @property
    def is_clean(self) -> bool:
        """Whether nothing differs and everything could be compared."""
        return self.is_complete and not (self.changes or self.shared or self.reach)

    @property
    def says_reach(self) -> bool:
        """Whether what is new in reach is said, or that nothing is: not of samples alone."""
        return not (self.is_clean or self.verdict)
