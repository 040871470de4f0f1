"""Progress is counted and waits are told; a deadline is for the time without progress."""

from __future__ import annotations

import logging

import pytest

from registry.progress import Deadline, Progress, WaitLines, counted, log_waits


def test_records_are_counted_while_they_are_parsed() -> None:
    reported: list[Progress] = []
    assert list(counted(range(25_000), reported.append)) == list(range(25_000))
    assert reported == [Progress("parse", 10_000), Progress("parse", 20_000)]


def test_wait_is_told_after_a_second_and_then_each_minute() -> None:
    lines: list[str] = []
    report = WaitLines("qa", lines.append)
    report(Progress("fetch", 5000))
    for seconds in (0, 1, 2, 60, 61, 119, 121):
        report(Progress("wait", seconds, note="process 7"))
    for note in ("process 8", "", "process 9"):  # other waits
        for seconds in (0, 1):
            report(Progress("wait", seconds, note=note))
    assert lines == [
        "qa: waiting for process 7 (1 s so far)",
        "qa: waiting for process 7 (61 s so far)",
        "qa: waiting for process 7 (121 s so far)",
        "qa: waiting for process 8 (1 s so far)",
        "qa: waiting for process 9 (1 s so far)",
    ]


def test_waits_are_logged_where_no_progress_is_shown(caplog: pytest.LogCaptureFixture) -> None:
    log_waits("qa")(Progress("wait", 1, note="process 7"))
    assert caplog.record_tuples == [
        ("registry", logging.WARNING, "qa: waiting for process 7 (1 s so far)")
    ]


def test_deadline_counts_from_the_last_progress() -> None:
    now = [100.0]
    deadline = Deadline(30, clock=lambda: now[0])
    now[0] += 20
    assert (deadline.elapsed, deadline.remaining) == (20, 10)
    assert deadline.progressed == 0
    deadline.progress()
    assert deadline.progressed == 1
    now[0] += 29
    assert (deadline.elapsed, deadline.remaining, deadline.silence) == (49, 1, 29)
    now[0] += 5
    assert deadline.remaining == 0
