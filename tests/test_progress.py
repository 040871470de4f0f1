"""Progress is a value; a deadline is for the time without it."""

from __future__ import annotations

import pytest

from registry.progress import Deadline, Progress, Report, silent


def test_progress_is_immutable() -> None:
    progress = Progress("fetch", 3)
    assert progress == Progress("fetch", 3, None)
    assert progress != Progress("map", 3)
    with pytest.raises(AttributeError):
        progress.done = 4  # type: ignore[misc]


def test_silent_reports_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    report: Report = silent
    report(Progress("map", 1, 2))
    assert capsys.readouterr() == ("", "")


def test_deadline_counts_from_the_last_progress() -> None:
    now = [100.0]
    deadline = Deadline(30, clock=lambda: now[0])
    now[0] += 20
    assert (deadline.elapsed, deadline.remaining) == (20, 10)
    assert deadline.progressed == 0
    deadline.progress()
    assert deadline.progressed == 1
    now[0] += 29
    assert (deadline.elapsed, deadline.remaining) == (49, 1)
    now[0] += 5
    assert deadline.remaining == 0
