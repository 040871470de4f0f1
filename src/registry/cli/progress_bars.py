"""Progress bars on the terminal, one per dataset, and one for all of them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from registry.base.escape import escape_control
from registry.cli.output import print_line, size_text
from registry.cli.terminal import console_of, is_dumb, print_styled
from registry.errors import count_text
from registry.progress import UNITS, Progress, WaitLines

if TYPE_CHECKING:
    from rich.progress import Progress as Display
    from rich.progress import ProgressColumn, Task, TaskID
    from rich.table import Table

__all__ = ["Reporter", "bars", "has_bars"]

_BAR_WIDTH = 16
_LEAST_FOR_BARS = 72
"""Columns of a terminal that has room for bars beside names and amounts."""
_TOTAL = "total"


class Reporter(Protocol):
    """Receives the progress of each dataset."""

    def __call__(self, name: str, progress: Progress) -> None:
        """Show the progress of a dataset."""

    def finish(self, name: str, lines: Iterable[str] = (), *, failed: bool = False) -> None:
        """Note that a dataset is finished; print lines for it, which may have been painted."""


def has_bars(*, as_json: bool) -> bool:
    """Return whether `bars` shows any: stderr is a terminal, and the output isn't JSON."""
    return not as_json and sys.stderr.isatty() and not is_dumb()


@contextmanager
def bars(
    *, as_json: bool, number: int = 0, samples: Mapping[str, int] | None = None
) -> Iterator[Reporter]:
    """Show a progress bar per dataset if stderr is a terminal and the output isn't JSON.

    A bar counts bytes while fetching and samples while mapping, and says what is waited for.
    Without bars, only waits are shown: as lines on stderr.

    Args:
        as_json: Whether the output is JSON.
        number: How many datasets there are; a bar shows how many are finished.
        samples: How many samples of datasets will be mapped, where that is known.
    """
    if not has_bars(as_json=as_json):
        yield _Lines()
        return
    display = _display()
    with display:
        yield _Bars(display, number, samples or {})


class _Lines:
    """Prints lines to stdout, and waits to stderr."""

    def __init__(self) -> None:
        self._waits: dict[str, WaitLines] = {}

    def __call__(self, name: str, progress: Progress) -> None:
        def show(line: str) -> None:
            print_line(line, err=True)

        self._waits.setdefault(name, WaitLines(name, show))(progress)

    def finish(self, name: str, lines: Iterable[str] = (), *, failed: bool = False) -> None:
        for line in lines:
            print_styled(line, sys.stdout)
        sys.stdout.flush()  # it may be watched


class _Bars:
    """Shows bars, and prints lines above them."""

    def __init__(self, display: Display, number: int, samples: Mapping[str, int]) -> None:
        self._display = display
        self._samples = samples
        self._tasks: dict[str, tuple[tuple[str, bool], TaskID]] = {}
        self._done: set[str] = set()
        self._failed = 0
        self._total: TaskID | None = None
        if number > 1:
            text = count_text(number, "dataset")
            self._total = display.add_task(text, total=number, amount="0 finished", kind=_TOTAL)

    def __call__(self, name: str, progress: Progress) -> None:
        # A cluster may report the progress of a dataset after its result.
        if name in self._done or (progress.stage == "wait" and not progress.is_long_wait):
            return
        total = progress.total
        if progress.stage == "map" and total is None:
            total = self._samples.get(name)
        if total is not None and progress.done > total:  # more than was announced
            total = None
        task = self._task(name, progress.stage, has_total=total is not None)
        self._display.update(
            task, completed=progress.done, total=total, amount=_amount(progress, total)
        )

    def _task(self, name: str, stage: str, *, has_total: bool) -> TaskID:
        known, key = self._tasks.get(name), (stage, has_total)
        if known is not None and known[0] == key:
            return known[1]
        # rich can't reset a total to None ("unknown"), and a total of bytes says nothing about
        # samples, so each stage has its own task. rich's default total is 100.
        if known is not None:
            self._display.remove_task(known[1])
        task = self._display.add_task(escape_control(name), total=None, amount="", kind=stage)
        self._tasks[name] = key, task
        return task

    def finish(self, name: str, lines: Iterable[str] = (), *, failed: bool = False) -> None:
        from rich.text import Text

        if (known := self._tasks.pop(name, None)) is not None:
            self._display.remove_task(known[1])
        # rich computes how far to move up, and writes, under this lock when it refreshes, and only
        # computes under it when it prints: a refresh between both would leave a bar on the screen.
        with self._display.live._lock:  # noqa: SLF001
            for line in lines:
                self._display.console.print(Text.from_ansi(line))
        self._done.add(name)
        self._failed += failed
        if self._total is not None:
            failures = f", {self._failed:,} failed" if self._failed else ""
            amount = f"{len(self._done):,} finished{failures}"
            self._display.update(self._total, completed=len(self._done), amount=amount)


def _amount(progress: Progress, total: int | None) -> str:
    if progress.stage == "wait":
        return escape_control(f"waiting for {progress.note}")
    unit = UNITS[progress.stage]
    if unit == "B":
        of = f" of {size_text(total)}" if total else ""
        return f"{progress.word} {size_text(progress.done)}{of}"
    if not progress.done:
        return progress.word
    of = f" of {total:,}" if total and total != progress.done else ""
    return f"{progress.word} {progress.done:,}{of} {unit}"


def _display() -> Display:
    from rich import progress as parts

    class Bars(parts.Progress):
        """A display whose total is the last line."""

        def make_tasks_table(self, tasks: Iterable[Task]) -> Table:
            ordered = sorted(tasks, key=lambda task: task.fields["kind"] == _TOTAL)
            return super().make_tasks_table(ordered)

    console = console_of(sys.stderr)
    is_wide = console.width >= _LEAST_FOR_BARS
    return Bars(*_columns(is_wide=is_wide), console=console, transient=True, expand=True)


def _columns(*, is_wide: bool) -> Iterator[ProgressColumn]:
    from rich import progress as parts
    from rich.table import Column
    from rich.text import Text

    class Rate(parts.ProgressColumn):
        """What a stage does in a second."""

        def render(self, task: Task) -> Text:
            speed, kind = task.speed, task.fields["kind"]
            if not speed or kind in (_TOTAL, "wait"):
                return Text("")
            is_bytes = UNITS[kind] == "B"
            return Text(f"{size_text(int(speed))}/s" if is_bytes else f"{speed:,.0f}/s")

    yield parts.TextColumn(
        "{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")
    )
    if is_wide:
        # A complete stage is not the end, so rich's green would come too early.
        yield parts.BarColumn(bar_width=_BAR_WIDTH, complete_style="cyan", finished_style="cyan")
    yield parts.TimeElapsedColumn()
    # The last columns have the rest of the line: a long note is cut, and no name is.
    amount = Column(no_wrap=True, overflow="ellipsis", ratio=1)
    yield parts.TextColumn("{task.fields[amount]}", markup=False, table_column=amount)
    # Where no task has a rate, rich counts the column in one place as 0 wide and in another as 1,
    # and cuts the elapsed time for that.
    yield Rate(table_column=Column(no_wrap=True, justify="right", min_width=1))
