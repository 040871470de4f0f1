"""Progress bars: when they are shown, and what they count."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest
from rich import progress as parts

from registry.cli import progress_bars
from registry.cli.progress_bars import bars
from registry.progress import Progress


class Terminal(io.StringIO):
    """A stream that looks like a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    # Not `sys.stderr`: pytest puts its own there between the fixtures and the test.
    stream = Terminal()
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


def only_task(displays: list[parts.Progress]) -> parts.Task:
    (task,) = displays[0].tasks
    return task


def test_no_bar_is_shown_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with bars(as_json=False) as report:
        report("qa", Progress("fetch", 1, 10))
    assert capsys.readouterr() == ("", "")


def test_no_bar_is_shown_with_json(terminal: Terminal) -> None:
    with bars(as_json=True) as report:
        report("qa", Progress("fetch", 1, 10))
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("as_json", [True, False])
def test_wait_is_a_line_in_a_pipe(capsys: pytest.CaptureFixture[str], *, as_json: bool) -> None:
    with bars(as_json=as_json) as report:
        for seconds in (0, 1, 2):
            report("qa", Progress("wait", seconds, note="process 7"))
    assert capsys.readouterr() == ("", "qa: waiting for process 7 (1 s so far)\n")


def test_bar_of_a_short_wait_is_not_shown(
    terminal: Terminal, displays: list[parts.Progress]
) -> None:
    with bars(as_json=False) as report:
        report("qa", Progress("wait", 0, note="process 7"))
        assert displays[0].tasks == []


@pytest.mark.parametrize(
    ("progress", "amount"),
    [
        (Progress("fetch", 1500, 3000), "1.5 kB of 3.0 kB"),
        (Progress("fetch", 1500), "1.5 kB"),
        (Progress("map", 12_000), "12,000 samples"),
        (Progress("wait", 3, note="process 7 on host"), "waiting for process 7 on host"),
    ],
)
def test_bar_counts_bytes_or_samples_or_says_what_is_waited_for(
    terminal: Terminal, displays: list[parts.Progress], progress: Progress, amount: str
) -> None:
    with bars(as_json=False) as report:
        report("qa", progress)
        task = only_task(displays)
        assert (task.description, task.fields["amount"]) == ("qa", amount)
        assert (task.completed, task.total) == (progress.done, progress.total)


def test_bar_without_a_total_is_not_finished(
    terminal: Terminal, displays: list[parts.Progress]
) -> None:
    with bars(as_json=False) as report:
        report("qa", Progress("map", 500))
        assert only_task(displays).finished is False


def test_total_of_bytes_is_not_used_for_samples(
    terminal: Terminal, displays: list[parts.Progress]
) -> None:
    with bars(as_json=False) as report:
        report("qa", Progress("fetch", 3000, 3000))
        assert only_task(displays).finished is True
        report("qa", Progress("map", 5))
        task = only_task(displays)
        assert (task.completed, task.total, task.finished) == (5, None, False)


def test_each_dataset_has_a_bar(terminal: Terminal, displays: list[parts.Progress]) -> None:
    with bars(as_json=False) as report:
        for name in ("a", "b", "a"):
            report(name, Progress("map", 1))
        assert [task.description for task in displays[0].tasks] == ["a", "b"]
