"""Report the progress of long work, and give up where there is none."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeVar

from msgspec import Struct

__all__ = [
    "DEADLINE_SECONDS",
    "UNITS",
    "Deadline",
    "Progress",
    "Report",
    "WaitLines",
    "counted",
    "log_waits",
    "silent",
]

_FIRST_SECONDS = 1
_AGAIN_SECONDS = 60
_COUNTED = 10_000

_T = TypeVar("_T")

DEADLINE_SECONDS = 1800
"""The default of REGISTRY_DEADLINE."""


class Progress(Struct, frozen=True):
    """Progress of one dataset."""

    stage: Literal["fetch", "read", "parse", "map", "write", "wait", "import"]
    """What is done; `done` and `total` are in its unit, see UNITS."""
    done: int
    total: int | None = None
    """None if unknown."""
    note: str = ""
    """What is waited for: completes the sentence "waiting for …"; empty if it is no news."""

    @property
    def word(self) -> str:
        """The stage for people."""
        return "download" if self.stage == "fetch" else self.stage

    @property
    def is_long_wait(self) -> bool:
        """Whether it is a wait that users should see."""
        return self.stage == "wait" and self.done >= _FIRST_SECONDS and self.note != ""


UNITS = {
    **dict.fromkeys(("fetch", "read"), "B"),
    "parse": "records",
    **dict.fromkeys(("map", "write"), "samples"),
    "wait": "s",
    "import": "files",
}
"""Stage → what is counted."""

Report = Callable[[Progress], None]
"""Called from time to time, in the thread that does the work."""


def silent(progress: Progress) -> None:
    """Report nothing."""


def counted(records: Iterable[_T], report: Report) -> Iterator[_T]:
    """Yield the records, and report how many are parsed."""
    for number, record in enumerate(records, 1):
        if number % _COUNTED == 0:
            report(Progress("parse", number))
        yield record


class WaitLines:
    """A report that says as lines of text what is waited for: after a second, then each minute."""

    def __init__(self, name: str, show: Callable[[str], object]) -> None:
        self._name = name
        self._show = show
        self._last = 0
        self._next = _FIRST_SECONDS

    def __call__(self, progress: Progress) -> None:
        """Show a line, if it is time for one."""
        if progress.stage != "wait" or not progress.note:
            return
        if progress.done < self._last:  # another wait
            self._next = _FIRST_SECONDS
        self._last = progress.done
        if progress.done >= self._next:
            self._next = progress.done + _AGAIN_SECONDS
            self._show(f"{self._name}: waiting for {progress.note} ({progress.done} s so far)")


def log_waits(name: str) -> Report:
    """Return a report that logs what a dataset waits for, where no progress is shown."""

    def warn(line: str) -> None:
        import logging  # slow to import

        logging.getLogger("registry").warning(line)

    return WaitLines(name, warn)


class Deadline:
    """How long one dataset may make no progress: no byte received, no sample mapped.

    One per dataset, shared by all that it waits for: its servers, and the processes that build it.
    """

    def __init__(
        self, seconds: float = DEADLINE_SECONDS, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.seconds = seconds
        """How long there may be no progress."""
        self.progressed = 0
        """How often there was progress so far."""
        self._clock = clock
        self._started = self._last = clock()

    def progress(self) -> None:
        """Note that there was progress."""
        self.progressed += 1
        self._last = self._clock()

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._started

    @property
    def silence(self) -> float:
        """Seconds since the last progress."""
        return self._clock() - self._last

    @property
    def remaining(self) -> float:
        """Seconds that are left without further progress; never less than 0."""
        return max(0.0, self.seconds - self.silence)
