"""Progress of a build in a notebook, as tqdm draws it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from registry.base.escape import escape_control
from registry.progress import UNITS, Progress, Report

if TYPE_CHECKING:
    from tqdm.std import tqdm

__all__ = ["notebook_progress"]

_DELAY_SECONDS = 0.5
"""A build that is shorter than this shows nothing."""
_INTERVAL_SECONDS = 0.1


@contextmanager
def notebook_progress(name: str) -> Iterator[Report | None]:
    """In a notebook, show a bar per stage of the build of a dataset until the build ends."""
    if not _in_notebook():
        yield None
        return
    bars = _Bars(name)
    try:
        yield bars
    finally:
        bars.close()


def _in_notebook() -> bool:
    """Return whether this process runs the cells of a notebook."""
    # Nothing is imported: a kernel has loaded it.
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


class _Bars:
    """A report that draws one bar at a time."""

    def __init__(self, name: str) -> None:
        self._name = escape_control(name)
        self._shown: tuple[str, int | None] = ("", None)
        self._bar: tqdm[object] | None = None

    def __call__(self, progress: Progress) -> None:
        if progress.stage == "wait" and not progress.is_long_wait:
            return
        # The widget of a notebook never learns of a new total, so each total has its own bar.
        if self._bar is None or self._shown != (progress.stage, progress.total):
            self.close()
            self._shown = (progress.stage, progress.total)
            self._bar = _bar(self._name, progress)
        bar = self._bar
        if progress.stage == "wait":
            bar.set_description_str(f"{self._name}: waiting for {escape_control(progress.note)}")
        bar.update(progress.done - bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def _bar(name: str, progress: Progress) -> tqdm[object]:
    with warnings.catch_warnings():
        # Without ipywidgets tqdm draws with characters, which is all that its warning says.
        warnings.filterwarnings("ignore", "IProgress not found")
        from tqdm.auto import tqdm
    unit = UNITS[progress.stage]
    return tqdm(
        desc=f"{name}: {progress.word}",
        total=progress.total,
        unit=unit if unit == "B" else f" {unit}",
        unit_scale=unit == "B",
        delay=_DELAY_SECONDS,
        mininterval=_INTERVAL_SECONDS,
        leave=False,
    )
