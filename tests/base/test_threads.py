"""Jobs: a limited number at once, results as they are ready, and none after the caller stops."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import closing
from types import SimpleNamespace

import pytest

from registry.base import threads
from registry.base.threads import (
    LibraryError,
    NoProgressError,
    are_jobs_left,
    run_jobs,
    run_limited,
)
from registry.progress import Progress, Report

STEP = Progress("map", 1)


def ignore(name: str, progress: Progress) -> None:
    """Report nothing."""


@pytest.mark.parametrize("jobs", [1, 3])
def test_every_name_has_its_result(jobs: int) -> None:
    results = run_jobs("abc", lambda name, report: name.upper(), jobs=jobs, report=ignore)
    assert sorted(results) == ["A", "B", "C"]


def test_no_names_give_no_results() -> None:
    assert list(run_jobs([], lambda name, report: name, jobs=2, report=ignore)) == []


def test_no_more_than_the_given_number_run_at_once() -> None:
    running, most, guard = 0, 0, threading.Lock()
    full = threading.Barrier(2, timeout=10)

    def work(name: str, report: Report) -> None:
        nonlocal running, most
        with guard:
            running += 1
            most = max(most, running)
        full.wait()
        with guard:
            running -= 1

    list(run_jobs("abcdef", work, jobs=2, report=ignore))
    assert most == 2


def test_result_is_yielded_as_soon_as_it_is_ready() -> None:
    first_taken = threading.Event()

    def work(name: str, report: Report) -> str:
        if name == "slow":
            assert first_taken.wait(10)
        return name

    results = run_jobs(["slow", "quick"], work, jobs=2, report=ignore)
    assert next(results) == "quick"
    first_taken.set()
    assert list(results) == ["slow"]


def test_reports_carry_the_name() -> None:
    seen: list[tuple[str, Progress]] = []
    work = lambda name, report: report(STEP)  # noqa: E731 (one line is clearest here)
    list(run_jobs("ab", work, jobs=1, report=lambda *report: seen.append(report)))
    assert seen == [("a", STEP), ("b", STEP)]


def test_error_is_raised_and_cancels_jobs_that_have_not_started() -> None:
    started: list[str] = []

    def work(name: str, report: Report) -> None:
        started.append(name)
        raise ValueError(name)

    with pytest.raises(ValueError, match="a"):
        list(run_jobs([*"abcdefgh"], work, jobs=1, report=ignore))
    assert len(started) < 8


def test_running_jobs_end_at_their_next_report_when_the_caller_stops() -> None:
    started, stopped = threading.Event(), threading.Event()
    reports: list[str] = []

    def work(name: str, report: Report) -> str:
        if name == "quick":
            assert started.wait(10)
            return name
        started.set()
        try:
            for _ in range(1000):
                report(STEP)
                threading.Event().wait(0.01)
        finally:
            stopped.set()
        return name

    results = run_jobs(
        ["long", "quick", "never"], work, jobs=2, report=lambda name, _: reports.append(name)
    )
    with closing(results):
        assert next(results) == "quick"
    assert stopped.is_set()
    assert len(reports) < 1000


def test_job_that_reports_nothing_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("registry.base.threads._END_SECONDS", 0.1)
    answer = threading.Event()

    def work(name: str, report: Report) -> str:
        if name == "silent":
            assert answer.wait(10)
        return name

    results = run_jobs(["silent", "quick", "later"], work, jobs=2, report=ignore)
    with closing(results):
        assert next(results) == "quick"
    assert are_jobs_left()
    answer.set()
    deadline = time.monotonic() + 10
    while are_jobs_left() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not are_jobs_left()


def test_stop_is_called_at_the_end_before_jobs_are_awaited() -> None:
    stopped = threading.Event()

    def work(name: str, report: Report) -> str:
        if name == "waits":
            stopped.wait(60)
        return name

    results = run_jobs(["quick", "waits"], work, jobs=2, report=ignore, stop=stopped.set)
    assert next(results) == "quick"
    results.close()
    assert not are_jobs_left()


def test_result_and_errors_come_back() -> None:
    assert run_limited(lambda _: 7, 5) == 7
    with pytest.raises(LibraryError) as raised:
        run_limited(lambda _: os.environ["NO SUCH VARIABLE"], 5)
    assert isinstance(raised.value.__cause__, KeyError)


def test_work_without_progress_is_left_behind() -> None:
    end = threading.Event()
    with pytest.raises(NoProgressError):
        run_limited(lambda _: end.wait(), 0.05)
    end.set()


def test_work_with_progress_may_take_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    now, looked = [0.0], threading.Semaphore(0)
    monkeypatch.setattr(threads, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(threads, "_TICK_SECONDS", 0.01)

    def work(progress: Callable[[], None]) -> str:
        for _ in range(8):
            now[0] += 40
            assert looked.acquire(timeout=30)
            progress()
        return "done"

    assert run_limited(work, 60, tick=looked.release) == "done"


def test_an_exception_of_tick_ends_the_wait() -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    end = threading.Event()
    with pytest.raises(KeyboardInterrupt):
        run_limited(lambda _: end.wait(), 60, tick=stop)
    end.set()
