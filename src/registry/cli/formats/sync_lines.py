"""The results of `sync` as lines, as soon as each is known."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from registry.base.escape import escape_control
from registry.cli.formats.columns import Columns
from registry.cli.output import print_error, print_line, size_text
from registry.cli.progress_bars import has_bars
from registry.cli.terminal import columns_of
from registry.errors import SourceError, count_text, list_names

if TYPE_CHECKING:
    from registry.workflows.sync import SyncResult

__all__ = ["SyncLines", "print_failures"]

_HEADERS = ("dataset", "status", "samples", "size", "time")
_WIDEST = ("fetched", "10,000,000", "999.9 MB", "999.9 s")
"""The widest usual values of the columns, as those to come are not known."""
_FEW = 5
"""So many failures of one cause are printed one by one, if their locations differ."""
_NAMED = 12
"""Datasets that are named for each cause on a terminal; a pipe gets all names."""


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


def print_failures(failures: Iterable[tuple[str, object]]) -> None:
    """Print the errors of datasets by cause, for people, to stderr; the most frequent last."""
    groups: dict[str, list[tuple[str, object]]] = {}
    for name, error in failures:
        groups.setdefault(_cause(name, error), []).append((name, error))
    for cause, group in sorted(groups.items(), key=lambda one: len(one[1])):
        texts = {_text(name, error) for name, error in group}
        # A broken file stops each of its datasets with the same problems at the same location.
        is_one_text = len(group) > 1 and len(texts) == 1
        if len(group) <= _FEW and not is_one_text:
            for name, error in group:
                print_error(name, error)
            continue
        for line in (texts.pop() if is_one_text else cause).splitlines():
            print_line(f"error: {count_text(len(group), 'dataset')}: {line}", err=True)
        _print_names([name for name, _ in group])


def _text(name: str, error: object) -> str:
    """Return a message without the dataset."""
    return str(error).removeprefix(f"{name}: ")


def _cause(name: str, error: object) -> str:
    """Return a message without the dataset, and without the location that it had to read."""
    text = _text(name, error)
    location, colon, rest = text.partition(": ")
    # Offline, every dataset has the same cause at another location.
    is_located = isinstance(error, SourceError) and colon and " " not in location
    return rest if is_located else text


def _print_names(names: Sequence[str]) -> None:
    most = _NAMED if sys.stderr.isatty() else len(names)
    print_line(f"  {list_names(names, most)}", err=True)
