"""The results of `sync` as lines, as soon as each is known."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from registry.base.escape import escape_control
from registry.cli.formats.columns import Columns
from registry.cli.output import size_text
from registry.cli.progress_bars import has_bars
from registry.cli.terminal import columns_of

if TYPE_CHECKING:
    from registry.workflows.sync import SyncResult

__all__ = ["SyncLines"]

_HEADERS = ("dataset", "status", "samples", "size", "time")
_WIDEST = ("fetched", "10,000,000", "999.9 MB", "999.9 s")
"""The widest usual values of the columns, as those to come are not known."""


class SyncLines:
    """The lines of finished datasets: printed one by one, except below bars of another stream."""

    def __init__(self, names: Sequence[str]) -> None:
        """Prepare the columns for the names of all datasets."""
        self._is_terminal = sys.stdout.isatty()
        # Whether they are printed at the end: they may reach the terminal that has the bars.
        self._are_late = has_bars(as_json=False) and not self._is_terminal
        self._has_title = False
        width = columns_of(sys.stdout) if self._is_terminal else None
        rows = [_HEADERS, *((escape_control(name), *_WIDEST) for name in names)]
        self._width = width or 0
        self._columns = Columns.of(rows, right=(2, 3, 4), width=width)

    def of(self, result: SyncResult) -> Iterator[str]:
        """Yield the lines to print when a dataset is finished."""
        # On a terminal a failure is only in the summary, where it has its cause.
        if not (self._are_late or (self._is_terminal and result.error)):
            yield from self._rows(result)

    def late(self, results: Sequence[SyncResult]) -> Iterator[str]:
        """Yield the lines to print when all datasets are finished."""
        if self._are_late:
            for result in results:
                yield from self._rows(result)

    def _rows(self, result: SyncResult) -> Iterator[str]:
        """Yield the lines of a result, and the title before the first."""
        values = (
            result.name,
            result.status,
            "" if result.samples is None else f"{result.samples:,}",
            size_text(result.bytes),
            f"{result.seconds:.1f} s",
        )
        rows = [values] if self._has_title else [_HEADERS, values]
        self._has_title = True
        for row in rows:
            for line in self._columns.lines([*map(escape_control, row)], width=self._width):
                yield line.rstrip()
