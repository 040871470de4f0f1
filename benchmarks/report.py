"""Results as JSON, and as tables of the terminal and of docs/explanation/performance.md."""

from __future__ import annotations

import datetime as dt
import statistics
from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from benchmarks.case import OURS, PEER, Case, Goal, met, number
from benchmarks.machine import sentence

__all__ = [
    "CaseResult",
    "GoalResult",
    "Report",
    "Tables",
    "empty",
    "failed",
    "markdown",
    "merged",
    "result_of",
    "table",
]

_HEAD = ("case", "what", OURS, "beside it", "target", "measured", "met", "rounds")


class RunResult(TypedDict):
    """One run of a case."""

    median: float
    values: list[float]


class GoalResult(TypedDict):
    """One goal of a case."""

    target: str
    limit: float
    measured: str
    value: float | None
    """A ratio, a difference or a median in the case's unit; None where the case failed."""
    met: bool


class CaseResult(TypedDict):
    """One case."""

    name: str
    what: str
    unit: str
    peer: bool
    rounds: int
    date: str
    runs: dict[str, RunResult]
    goals: list[GoalResult]
    failure: str | None
    files: NotRequired[dict[str, dict[str, list[float]]]]
    """Dataset of a whole real file → who → the seconds of each round."""


class Tables(TypedDict, total=False):
    """What is measured beside the cases."""

    imports: dict[str, float]
    """Package → milliseconds of importing it in a new process."""


class Report(Tables):
    """All results of a machine."""

    machine: dict[str, str | int]
    quick: bool
    cases: list[CaseResult]


def result_of(case: Case, values: Mapping[str, Sequence[float]]) -> CaseResult:
    """Return the medians of a case, and whether they meet its goals."""
    medians = {name: statistics.median(one) for name, one in values.items()}
    return {
        **_empty(case),
        "rounds": len(values[OURS]),
        "runs": {
            name: {"median": medians[name], "values": list(one)} for name, one in values.items()
        },
        "goals": [_goal_result(goal, goal.value(medians), case.unit) for goal in case.goals],
    }


def _goal_result(goal: Goal, value: float | None, unit: str) -> GoalResult:
    return {
        "target": goal.text(unit),
        "limit": goal.limit,
        "measured": "failed" if value is None else goal.reading(value, unit),
        "value": value,
        "met": value is not None and met(goal, value),
    }


def failed(case: Case, message: str) -> CaseResult:
    """Return a case that could not be measured: none of its goals is met."""
    goals = [_goal_result(goal, None, case.unit) for goal in case.goals]
    return {**_empty(case), "goals": goals, "failure": message}


def _empty(case: Case) -> CaseResult:
    return empty(case.name, case.what, case.unit, peer=PEER in case.runs)


def empty(name: str, what: str, unit: str, *, peer: bool) -> CaseResult:
    """Return a result of today without figures."""
    return {
        "name": name,
        "what": what,
        "unit": unit,
        "peer": peer,
        "rounds": 0,
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "runs": {},
        "goals": [],
        "failure": None,
    }


def merged(old: Report | None, new: Report) -> Report:
    """Return the new results, and those of before that were not measured again.

    Figures of another machine, of other versions or of another size are dropped.
    """
    if old is None or (old["machine"], old["quick"]) != (new["machine"], new["quick"]):
        return new
    renewed = {one["name"] for one in new["cases"]}
    kept = [one for one in old["cases"] if one["name"] not in renewed]
    return {**old, **new, "cases": [*kept, *new["cases"]]}


def _rows(report: Report, order: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the cells of the table: a row for each goal, the first names the case."""
    # A case that is no more, of a file that was kept, is not shown.
    cases = {case["name"]: case for case in report["cases"]}
    return [row for name in order if name in cases for row in _rows_of(cases[name])]


def _rows_of(case: CaseResult) -> list[tuple[str, ...]]:
    about = (case["name"], case["what"], _ours(case), _others(case))
    return [
        (
            *(about if place == 0 else ("", "", "", "")),
            goal["target"],
            goal["measured"],
            "yes" if goal["met"] else "no",
            str(case["rounds"]) if place == 0 else "",
        )
        for place, goal in enumerate(case["goals"])
    ]


def _ours(case: CaseResult) -> str:
    if OURS not in case["runs"]:
        return "failed"
    return f"{number(case['runs'][OURS]['median'])} {case['unit']}"


def _others(case: CaseResult) -> str:
    shown = [
        f"{name} {number(run['median'])} {case['unit']}"
        for name, run in case["runs"].items()
        if name != OURS
    ]
    return "; ".join(shown if case["peer"] else [*shown, "no peer"])


def table(report: Report, order: Sequence[str]) -> str:
    """Return the table for a terminal."""
    rows = [_HEAD, *_rows(report, order)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([sentence(report["machine"]), "", *lines])


def markdown(report: Report, order: Sequence[str]) -> str:
    """Return the table for a document, with the machine and the days above it."""
    days = sorted({one["date"] for one in report["cases"]})
    when = " to ".join(dict.fromkeys((days[0], days[-1])))
    head = f"Measured {when} on {sentence(report['machine'])}."
    rows = [_HEAD, ("---",) * len(_HEAD), *_rows(report, order)]
    return "\n".join([head, "", *(f"| {' | '.join(row)} |" for row in rows)])
