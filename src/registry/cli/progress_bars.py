"""Progress on the terminal: a bar a dataset."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from registry.base.threads import ReportNamed
from registry.cli.output import size_text
from registry.progress import Progress

__all__ = ["bars"]


def bars(*, as_json: bool) -> AbstractContextManager[ReportNamed]:
    """Show a bar a dataset while work goes on, where a person looks on; else nothing."""
    if as_json or not sys.stderr.isatty():
        return nullcontext(lambda name, progress: None)
    return _bars()


@contextmanager
def _bars() -> Iterator[ReportNamed]:
    """Show a bar a dataset on the terminal: bytes while fetching, rows while mapping."""
    from rich import progress as parts
    from rich.console import Console

    columns = (
        parts.TextColumn("{task.description}"),
        parts.BarColumn(),
        parts.TextColumn("{task.fields[amount]}"),
        parts.TimeElapsedColumn(),
    )
    with parts.Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        tasks: dict[str, parts.TaskID] = {}

        def report(name: str, progress: Progress) -> None:
            if name not in tasks:
                tasks[name] = shown.add_task(name, amount="")
            amount = _amount(progress)
            shown.update(tasks[name], completed=progress.done, total=progress.total, amount=amount)

        yield report


def _amount(progress: Progress) -> str:
    if progress.stage == "map":
        return f"{progress.done:,} samples"
    total = f" of {size_text(progress.total)}" if progress.total else ""
    return f"{size_text(progress.done)}{total}"
