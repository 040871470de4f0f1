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
    "Goal",
    "Need",
    "Over",
    "Program",
    "Run",
    "Times",
    "Within",
    "number",
]

OURS = "registry"
PEER = "inspect_ai"

CacheUse = Literal["fresh", "kept"]
"""A new empty cache for each measurement, or the one that the case keeps."""


Need = tuple[int, Literal["csv", "jsonl", "parquet", "manifests"]]
"""Rows in a file of a format, or manifests in a catalog: made before a case runs."""


@dataclass(frozen=True)
class Call:
    """A function of a child process that returns what it measured, in a base unit."""

    function: str
    """`module:name`."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    cache: CacheUse = "kept"
    takes_cache: bool = False
    """Whether it is given the folder of the cache, as `cache`."""


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
    """What is asked of a case."""

    def text(self, unit: str) -> str:
        """Return the goal in words."""

    def reading(self, medians: Mapping[str, float], unit: str) -> str:
        """Return what was measured, in the goal's terms."""

    def met(self, medians: Mapping[str, float]) -> bool:
        """Return whether the medians meet it."""


@dataclass(frozen=True)
class AtMost:
    """Ours is at most so much."""

    limit: float

    def text(self, unit: str) -> str:
        """Return the goal in words."""
        return f"≤ {self.limit:g} {unit}"

    def reading(self, medians: Mapping[str, float], unit: str) -> str:
        """Return the median."""
        return f"{number(medians[OURS])} {unit}"

    def met(self, medians: Mapping[str, float]) -> bool:
        """Return whether it is."""
        return medians[OURS] <= self.limit


@dataclass(frozen=True)
class Times:
    """Ours is at most so many times another run's; a limit below one is shown as a fraction."""

    limit: float
    than: str = PEER

    def text(self, unit: str) -> str:
        """Return the goal in words."""
        return f"≤ {_factor(self.limit)} {self.than}"

    def reading(self, medians: Mapping[str, float], unit: str) -> str:
        """Return the ratio."""
        return _factor(medians[OURS] / medians[self.than])

    def met(self, medians: Mapping[str, float]) -> bool:
        """Return whether it is."""
        return medians[OURS] <= self.limit * medians[self.than]


@dataclass(frozen=True)
class Over:
    """Ours is at most so much more than another run's."""

    limit: float
    than: str

    def text(self, unit: str) -> str:
        """Return the goal in words."""
        return f"≤ {self.limit:g} {unit} over {self.than}"

    def reading(self, medians: Mapping[str, float], unit: str) -> str:
        """Return the difference."""
        return f"{number(medians[OURS] - medians[self.than])} {unit}"

    def met(self, medians: Mapping[str, float]) -> bool:
        """Return whether it is."""
        return medians[OURS] - medians[self.than] <= self.limit


@dataclass(frozen=True)
class Within:
    """Another run needs as much as ours, give or take a share."""

    share: float
    than: str

    def text(self, unit: str) -> str:
        """Return the goal in words."""
        return f"{self.than} the same ± {self.share:.0%}"

    def reading(self, medians: Mapping[str, float], unit: str) -> str:
        """Return how much more or less the other run needs."""
        return f"{medians[self.than] / medians[OURS] - 1:+.0%}"

    def met(self, medians: Mapping[str, float]) -> bool:
        """Return whether it does."""
        return abs(medians[self.than] / medians[OURS] - 1) <= self.share


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
