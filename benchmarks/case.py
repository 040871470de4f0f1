"""What a case is: runs that alternate, and goals that their medians are held against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

__all__ = [
    "OURS",
    "PEER",
    "AtMost",
    "Call",
    "Case",
    "EachAtMost",
    "Goal",
    "Need",
    "Over",
    "Program",
    "Run",
    "Times",
    "Within",
    "met",
    "number",
]

OURS = "registry"
PEER = "inspect_ai"

CacheUse = Literal["fresh", "kept"]
"""A new empty cache for each measurement, or the one that the case keeps."""


Need = tuple[int, Literal["jsonl", "parquet", "real.jsonl", "manifests", "change", "datasets"]]
"""Rows in a file of a format, manifests or datasets in a catalog, or changed datasets."""


@dataclass(frozen=True)
class Call:
    """A function of a child process that returns what it measured, in a base unit."""

    function: str
    """`module:name`."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    cache: CacheUse = "kept"
    takes_cache: bool = False
    """Whether it is given the folder of the cache, as `cache`."""
    jobs: int | None = None
    """How many processes a build may use; None is the default."""


@dataclass(frozen=True)
class Program:
    """A program whose whole time is measured, from its start to its end."""

    arguments: tuple[str, ...]
    """Of the Python interpreter."""
    cache: CacheUse = "kept"
    times: int = 1
    """How often in a round; the median counts."""


Run = Call | Program


class Goal(Protocol):
    """What is asked of a case: a value made of the medians is at most a limit."""

    @property
    def limit(self) -> float:
        """What the value is at most; it is compared without its sign."""

    def value(self, medians: Mapping[str, float]) -> float:
        """Return what is held against the limit."""

    def text(self, unit: str) -> str:
        """Return the goal in words."""

    def reading(self, value: float, unit: str) -> str:
        """Return a value in the goal's terms."""


@dataclass(frozen=True)
class AtMost:
    """Ours is at most so much."""

    limit: float

    def value(self, medians: Mapping[str, float]) -> float:
        """Return our median."""
        return medians[OURS]

    def text(self, unit: str) -> str:
        """Return the goal in words."""
        return f"≤ {self.limit:g} {unit}"

    def reading(self, value: float, unit: str) -> str:
        """Return the median with its unit."""
        return f"{number(value)} {unit}"


@dataclass(frozen=True)
class EachAtMost(AtMost):
    """Every run is at most so much."""

    def value(self, medians: Mapping[str, float]) -> float:
        """Return the largest median."""
        return max(medians.values())

    def text(self, unit: str) -> str:
        """Return the goal in words."""
        return f"each ≤ {self.limit:g} {unit}"


@dataclass(frozen=True)
class Times:
    """A run is at most so many times another's; a limit below one is shown as a fraction."""

    limit: float
    than: str = PEER
    run: str = OURS

    def value(self, medians: Mapping[str, float]) -> float:
        """Return the ratio."""
        return medians[self.run] / medians[self.than]

    def text(self, unit: str) -> str:
        """Return the goal in words."""
        who = "" if self.run == OURS else f"{self.run} "
        return f"{who}≤ {_factor(self.limit)} {self.than}"

    def reading(self, value: float, unit: str) -> str:
        """Return the ratio as the goal is written."""
        return _factor(value)


@dataclass(frozen=True)
class Over:
    """Ours is at most so much more than another run's."""

    limit: float
    than: str

    def value(self, medians: Mapping[str, float]) -> float:
        """Return the difference; less than the other is no difference."""
        return max(medians[OURS] - medians[self.than], 0.0)

    def text(self, unit: str) -> str:
        """Return the goal in words."""
        return f"≤ {self.limit:g} {unit} over {self.than}"

    def reading(self, value: float, unit: str) -> str:
        """Return the difference with its unit."""
        return f"{number(value)} {unit}"


@dataclass(frozen=True)
class Within:
    """Another run needs as much as ours, give or take a share."""

    limit: float
    than: str

    def value(self, medians: Mapping[str, float]) -> float:
        """Return how much more or less the other run needs, as a share."""
        return medians[self.than] / medians[OURS] - 1

    def text(self, unit: str) -> str:
        """Return the goal in words."""
        return f"{self.than} the same ± {self.limit:.0%}"

    def reading(self, value: float, unit: str) -> str:
        """Return the share with its sign."""
        return f"{value:+.0%}"


def met(goal: Goal, value: float) -> bool:
    """Return whether a value is within a goal's limit."""
    return abs(value) <= goal.limit


@dataclass(frozen=True, kw_only=True)
class Case:
    """One thing that is measured."""

    name: str
    what: str
    """What is measured, for the table."""
    unit: str
    """A key of `UNITS` of the runner."""
    runs: Mapping[str, Run]
    """By who runs; ours is `registry`, and the others are what it is held against."""
    goals: tuple[Goal, ...]
    needs: tuple[Need, ...] = ()
    """What must lie in the work folder, beside the files of ten rows."""
    before: tuple[Call, ...] = ()
    """What is done once, before the rounds: warms the case's caches, is not measured."""
    cache: str = ""
    """Name of the cache that is kept; cases with the same one share what they warmed."""
    rounds: int | None = None
    """How many rounds, where the number does not depend on chance; None is what was asked for."""
    parity: bool = False
    """Whether its processes need inspect_evals, so the environment that `make parity` makes."""


def number(value: float) -> str:
    """Return a number with three digits that matter."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 10 else f"{value:.3g}"


def _factor(value: float) -> str:
    """Return a ratio; below one as a fraction, as the targets are written."""
    if value >= 1 or value == 0:
        return f"{value:.3g} ×"  # noqa: RUF001 (times)
    return f"1/{1 / value:.3g}"
