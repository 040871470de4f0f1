"""Progress bars: when they are shown, and what they count."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest
from click import unstyle
from rich import progress as parts

from registry.cli import progress_bars
from registry.cli.progress_bars import bars, has_bars
from registry.progress import Progress
from tests.cli.invocation import TerminalStream


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> TerminalStream:
    # Not `sys.stderr`: pytest puts its own there between the fixtures and the test.
    stream = TerminalStream()
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(progress_bars, "sys", SimpleNamespace(stderr=stream))
    return stream


@pytest.fixture
def displays(monkeypatch: pytest.MonkeyPatch) -> list[parts.Progress]:
    """Collect the displays that are created."""
    made: list[parts.Progress] = []
    original = parts.Progress.__enter__

    def enter(self: parts.Progress) -> parts.Progress:
        made.append(self)
        return original(self)

    monkeypatch.setattr(parts.Progress, "__enter__", enter)
    return made


def test_no_bar_is_shown_in_a_pipe_or_with_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, terminal: TerminalStream
) -> None:
    with bars(as_json=True) as report:
        report("qa", Progress("fetch", 1, 10))
    assert terminal.getvalue() == ""
    monkeypatch.undo()
    with bars(as_json=False) as report:
        report("qa", Progress("fetch", 1, 10))
        report.finish("a", ["a  built"])
    assert capsys.readouterr() == ("a  built\n", "")


@pytest.mark.parametrize("as_json", [True, False])
def test_wait_is_a_line_in_a_pipe(capsys: pytest.CaptureFixture[str], *, as_json: bool) -> None:
    with bars(as_json=as_json) as report:
        for seconds in (0, 1, 2):
            report("qa", Progress("wait", seconds, note="process 7"))
    assert capsys.readouterr() == ("", "qa: waiting for process 7 (1 s so far)\n")


FETCHED = Progress("fetch", 3000, 3000)


@pytest.mark.parametrize(
    ("reports", "amount", "total"),
    [
        ([Progress("fetch", 1500, 3000)], "download 1.5 kB of 3.0 kB", 3000),
        ([Progress("fetch", 1500)], "download 1.5 kB", None),
        ([Progress("read", 1500, 3000)], "read 1.5 kB of 3.0 kB", 3000),
        ([Progress("parse", 0)], "parse", None),
        ([Progress("parse", 1500, 3000)], "parse 1,500 of 3,000 records", 3000),
        ([Progress("map", 12_000, 24_000)], "map 12,000 of 24,000 samples", 24_000),
        ([Progress("write", 12_000, 12_000)], "write 12,000 samples", 12_000),
        ([Progress("wait", 3, note="process 7 on host")], "waiting for process 7 on host", None),
        # What the manifest says, unless it was wrong; a total of bytes says nothing of samples.
        ([FETCHED, Progress("map", 5)], "map 5 of 20 samples", 20),
        ([FETCHED, Progress("map", 21)], "map 21 samples", None),
        ([FETCHED, Progress("write", 5)], "write 5 samples", None),
    ],
)
def test_bar_counts_bytes_or_samples_or_says_what_is_waited_for(
    terminal: TerminalStream,
    displays: list[parts.Progress],
    reports: list[Progress],
    amount: str,
    total: int | None,
) -> None:
    with bars(as_json=False, samples={"qa": 20}) as report:
        for one in reports:
            report("qa", one)
        (task,) = displays[0].tasks
        assert (task.description, task.fields["amount"]) == ("qa", amount)
        assert (task.completed, task.total) == (reports[-1].done, total)
        assert task.finished == (task.completed == total)


def test_each_dataset_has_a_bar(terminal: TerminalStream, displays: list[parts.Progress]) -> None:
    with bars(as_json=False) as report:
        for name in ("a", "b", "a"):
            report(name, Progress("map", 1))
        assert [task.description for task in displays[0].tasks] == ["a", "b"]


def test_total_is_the_last_line_and_counts_failures(
    terminal: TerminalStream, displays: list[parts.Progress]
) -> None:
    with bars(as_json=False, number=3) as report:
        report("a", Progress("map", 5))
        report.finish("a", ["a  built"])
        report.finish("b", failed=True)
        (task,) = displays[0].tasks
        assert (task.completed, task.total) == (2, 3)
        assert task.fields["amount"] == "2 finished, 1 failed"
        report("c", Progress("map", 5))
        displays[0].refresh()
    assert "a  built\n" in terminal.getvalue()
    last = unstyle(terminal.getvalue()).rstrip().splitlines()[-1]
    assert last.lstrip("\r").startswith("3 datasets")


def test_short_waits_and_late_progress_of_a_finished_dataset_are_not_shown(
    terminal: TerminalStream, displays: list[parts.Progress]
) -> None:
    with bars(as_json=False) as report:
        report("a", Progress("wait", 0, note="process 7"))
        assert displays[0].tasks == []
        report("a", Progress("map", 5))
        report.finish("a")
        report("a", Progress("map", 6))
        assert displays[0].tasks == []


@pytest.mark.parametrize("columns", [60, 80])
def test_elapsed_time_is_whole_where_no_task_has_a_rate(
    terminal: TerminalStream, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    with bars(as_json=False, number=3):
        pass
    assert "0:00:00 0 finished" in unstyle(terminal.getvalue())


def test_no_bar_is_green_before_the_dataset_is_finished(terminal: TerminalStream) -> None:
    with bars(as_json=False, number=2) as report:
        report("qa", Progress("write", 5, 5))
    assert "\x1b[32m" not in terminal.getvalue()  # green of the 8 and of the 256 colors
    assert "\x1b[38;5;106m" not in terminal.getvalue()


def test_dumb_terminal_gets_lines(
    terminal: TerminalStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert has_bars(as_json=False) is False


def test_no_refresh_comes_between_a_line_and_the_bars_below_it(
    terminal: TerminalStream, displays: list[parts.Progress], monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []

    def refresh_in_another_thread(*values: object) -> None:
        threads.append(threading.Thread(target=displays[0].live.refresh))
        threads[0].start()
        threads[0].join(0.2)
        assert threads[0].is_alive()  # it waits for the line

    with bars(as_json=False, number=2) as report:
        report("d", Progress("map", 1))
        with monkeypatch.context() as patch:
            patch.setattr(displays[0].console, "print", refresh_in_another_thread)
            report.finish("d", ["d built"])
        threads[0].join(20)
        assert not threads[0].is_alive()
