"""Progress bars on the terminal, one per dataset."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from registry.base.escape import escape_control
from registry.base.threads import ReportNamed
from registry.cli.output import print_line, size_text
from registry.cli.streams import unescaped
from registry.progress import Progress, WaitLines

__all__ = ["bars"]

_BAR_WIDTH = 16


@contextmanager
def bars(*, as_json: bool) -> Iterator[ReportNamed]:
    """Show a progress bar per dataset if stderr is a terminal and the output isn't JSON.

    A bar counts bytes while fetching and samples while mapping, and says what is waited for.
    Without bars, only waits are shown: as lines on stderr.
    """
    if as_json or not sys.stderr.isatty():
        lines: dict[str, WaitLines] = {}
        show = partial(print_line, err=True)
        yield lambda name, progress: lines.setdefault(name, WaitLines(name, show))(progress)
        return
    from rich import progress as parts
    from rich.console import Console
    from rich.table import Column

    columns = (
        parts.TextColumn("{task.description}", markup=False),
        parts.BarColumn(bar_width=_BAR_WIDTH),
        parts.TimeElapsedColumn(),
        # The last column has the rest of the line: a long note is cut, and no name is.
        parts.TextColumn(
            "{task.fields[amount]}", markup=False, table_column=Column(no_wrap=True, ratio=1)
        ),
    )
    console = Console(file=unescaped(sys.stderr))
    with parts.Progress(*columns, console=console, transient=True, expand=True) as display:
        tasks: dict[str, tuple[str, parts.TaskID]] = {}

        def report(name: str, progress: Progress) -> None:
            if progress.stage == "wait" and not progress.is_long_wait:
                return
            stage, task = tasks.get(name, ("", parts.TaskID(-1)))
            if stage != progress.stage:
                # rich can't reset a total to None ("unknown"), and a total of bytes says nothing
                # about samples, so each stage has its own task.
                if stage:
                    display.remove_task(task)
                # rich's default total is 100, which makes the bar look finished at once.
                task = display.add_task(escape_control(name), total=None, amount="")
                tasks[name] = (progress.stage, task)
            if progress.stage == "map":
                amount = f"{progress.done:,} samples"
            elif progress.stage == "wait":
                amount = escape_control(f"waiting for {progress.note}")
            else:
                total = f" of {size_text(progress.total)}" if progress.total else ""
                amount = f"{size_text(progress.done)}{total}"
            display.update(task, completed=progress.done, total=progress.total, amount=amount)

        yield report
