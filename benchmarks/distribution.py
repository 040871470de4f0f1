"""How much faster than the peer the catalog's own mappings are: goals, results and tables."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.case import OURS, PEER, number
from benchmarks.report import CaseResult, GoalResult, Report, empty

__all__ = [
    "Distribution",
    "Quantile",
    "distributions",
    "failed_distribution",
    "markdown",
    "quantile",
    "ratios",
    "result_of_mappings",
]

Measured = Mapping[str, Mapping[str, Sequence[float]]]
"""Mapping → who → the seconds of each round."""


@dataclass(frozen=True)
class Quantile:
    """The ratio that a share of the mappings stays below is at least a limit."""

    name: str
    share: float
    limit: float

    def text(self) -> str:
        """Return the goal in words."""
        return f"{self.name} ≥ {self.limit:g} ×"  # noqa: RUF001 (times)


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """Every mapping of the parity tests, with so many records each."""

    name: str
    rows: int
    goals: tuple[Quantile, ...]
    rounds: int
    """How many rounds for each one that is asked for: small builds vary more."""

    @property
    def what(self) -> str:
        """What is measured, for the table."""
        return f"cold build, the catalog's mappings, JSONL, {self.rows:,} records each (medians)"


_LARGE = (
    Quantile("median", 0.5, 8),
    Quantile("10th percentile", 0.1, 3),
    Quantile("slowest", 0, 1.5),
)
_SMALL = (Quantile("median", 0.5, 2), Quantile("slowest", 0, 1))


def distributions(rows: int, few: int) -> tuple[Distribution, ...]:
    """Return the cases with many and with few records."""
    return (
        Distribution(name="mappings", rows=rows, goals=_LARGE, rounds=1),
        Distribution(name="mappings-few", rows=few, goals=_SMALL, rounds=3),
    )


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which a share of the values is."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def ratios(measured: Measured) -> dict[str, float]:
    """Return how many times the time of ours the peer needs, from the medians of each mapping."""
    return {
        name: statistics.median(runs[PEER]) / statistics.median(runs[OURS])
        for name, runs in measured.items()
    }


def result_of_mappings(case: Distribution, measured: Measured) -> CaseResult:
    """Return the result of a case: medians over the mappings, in µs a record, and the goals."""
    found = list(ratios(measured).values())
    medians = {who: _per_record(measured, who, case.rows) for who in (OURS, PEER)}
    return {
        **_empty(case),
        "rounds": len(next(iter(measured.values()))[OURS]),
        "runs": {
            who: {"median": statistics.median(values), "values": values}
            for who, values in medians.items()
        },
        "goals": [_goal(goal, quantile(found, goal.share)) for goal in case.goals],
        "mappings": {
            name: {who: list(values) for who, values in runs.items()}
            for name, runs in measured.items()
        },
    }


def _per_record(measured: Measured, who: str, rows: int) -> list[float]:
    return [statistics.median(runs[who]) / rows * 1e6 for runs in measured.values()]


def failed_distribution(case: Distribution, message: str) -> CaseResult:
    """Return a case that could not be measured: none of its goals is met."""
    goals = [_goal(goal, None) for goal in case.goals]
    return {**_empty(case), "goals": goals, "failure": message}


def _empty(case: Distribution) -> CaseResult:
    return {**empty(case.name, case.what, "µs", peer=True), "rows": case.rows}


def _goal(goal: Quantile, value: float | None) -> GoalResult:
    return {
        "target": goal.text(),
        "limit": goal.limit,
        "measured": "failed" if value is None else f"{value:.3g} ×",  # noqa: RUF001 (times)
        "value": value,
        "met": value is not None and value >= goal.limit,
    }


# ---------------------------------------------------------------- the page

_SHARES = {"slowest": 0.0, "10 %": 0.1, "25 %": 0.25, "median": 0.5, "75 %": 0.75, "90 %": 0.9}


def markdown(report: Report, picture: str) -> str:
    """Return the plot, the quantiles of each case, and a table of all mappings."""
    found = [case for case in report["cases"] if "mappings" in case]
    if not found:
        return "Not measured."
    return "\n".join(
        [
            f"![Ratio to inspect_ai over the mappings, sorted]({picture})",
            "",
            *_table(["records each", "mappings", *_SHARES, "slower than the peer"], _shares(found)),
            "",
            "<details><summary>Each mapping: ratio, and µs a record of ours and theirs</summary>",
            "",
            *_table(_head(found), _each(found)),
            "",
            "</details>",
        ]
    )


def _shares(found: Sequence[CaseResult]) -> list[list[str]]:
    rows = []
    for case in found:
        values = list(ratios(case["mappings"]).values())
        shown = [f"{quantile(values, share):.2f}" for share in _SHARES.values()]
        slower = sum(value < 1 for value in values)
        rows.append([f"{case['rows']:,}", str(len(values)), *shown, str(slower)])
    return rows


def _head(found: Sequence[CaseResult]) -> list[str]:
    return ["mapping", *(f"{case['rows']:,}: {what}" for case in found for what in _WHAT)]


_WHAT = ("ratio", "ours", "theirs")


def _each(found: Sequence[CaseResult]) -> list[list[str]]:
    """Return a row for each mapping, the slowest of the first case first."""
    order = ratios(found[0]["mappings"])
    return [
        [name, *(cell for case in found for cell in _cells(case, name))]
        for name in sorted(order, key=lambda name: order[name])
    ]


def _cells(case: CaseResult, name: str) -> list[str]:
    if name not in case["mappings"]:
        return ["", "", ""]
    one = {name: case["mappings"][name]}
    times = [number(_per_record(one, who, case["rows"])[0]) for who in (OURS, PEER)]
    return [f"{ratios(one)[name]:.2f}", *times]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]
