"""Progress is a value; `silent` ignores it."""

from __future__ import annotations

import pytest

from registry.progress import Progress, Report, silent


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
