"""The case of whole real files: its goal, its result, and its table on the page."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.case import OURS, PEER, number
from benchmarks.real import RealFile, real_files
from benchmarks.report import CaseResult, GoalResult, Report, empty

__all__ = ["WHOLE_FILES", "WholeFiles", "failed_files", "files_markdown", "result_of_files"]

Measured = Mapping[str, Mapping[str, Sequence[float]]]
"""Dataset → who → the seconds of each round."""


@dataclass(frozen=True, kw_only=True)
class WholeFiles:
    """Every file of `real.yaml` that is at hand, whole and cold; the two have a process each."""

    name: str = "real"
    what: str = "cold builds of whole real files, their sum"
    at_least: float = 1.1
    """How many times the time of ours the peer needs, for the sum."""


WHOLE_FILES = WholeFiles()


def result_of_files(case: WholeFiles, measured: Measured) -> CaseResult:
    """Return the sums of the medians, in milliseconds, and the ratio that is held to the goal."""
    sums = {who: sum(_medians(measured, who).values()) * 1e3 for who in (OURS, PEER)}
    first = next(iter(measured.values()))
    return {
        **empty(case.name, f"{case.what} ({len(measured)} files)", "ms", peer=True),
        "rounds": len(first[OURS]),
        "runs": {who: {"median": value, "values": [value]} for who, value in sums.items()},
        "goals": [_goal(case, sums[PEER] / sums[OURS])],
        "files": {
            name: {who: list(values) for who, values in runs.items()}
            for name, runs in measured.items()
        },
    }


def failed_files(case: WholeFiles, message: str) -> CaseResult:
    """Return the case where it could not be measured: its goal is not met."""
    result = empty(case.name, case.what, "ms", peer=True)
    return {**result, "goals": [_goal(case, None)], "failure": message}


def _goal(case: WholeFiles, value: float | None) -> GoalResult:
    return {
        "target": f"≥ {case.at_least:g} × as fast as {PEER}",  # noqa: RUF001 (times)
        "limit": case.at_least,
        "measured": "failed" if value is None else f"{value:.3g} ×",  # noqa: RUF001 (times)
        "value": value,
        "met": value is not None and value >= case.at_least,
    }


def _medians(measured: Measured, who: str) -> dict[str, float]:
    return {name: statistics.median(runs[who]) for name, runs in measured.items()}


def files_markdown(report: Report) -> str:
    """Return the table of all files, the slowest against the peer first, and their sum."""
    (case,) = (case for case in report["cases"] if "files" in case)
    ours, theirs = (_medians(case["files"], who) for who in (OURS, PEER))
    known = real_files()
    rows = [
        _row(name, known[name], ours[name], theirs[name])
        for name in sorted(ours, key=lambda name: theirs[name] / ours[name])
    ]
    total = _cells(sum(ours.values()), sum(theirs.values()))
    records = sum(known[name].records for name in ours)
    return "\n".join(
        [
            f"| dataset | records | kB | ms, {OURS} | ms, {PEER} | ratio | origin |",
            "| --- | --- | --- | --- | --- | --- | --- |",
            *rows,
            f"| {len(ours)} files | {records:,} |  | {' | '.join(total)} |  |",
        ]
    )


def _row(name: str, file: RealFile, ours: float, theirs: float) -> str:
    size = f"{file.bytes / 1e3:,.0f}"
    cells = (name, f"{file.records:,}", size, *_cells(ours, theirs), f"`{file.origin}`")
    return f"| {' | '.join(cells)} |"


def _cells(ours: float, theirs: float) -> tuple[str, str, str]:
    return number(ours * 1e3), number(theirs * 1e3), f"{theirs / ours:.2f}"
