"""Report the progress of long work, and give up where there is none."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

__all__ = ["Deadline", "Progress", "Report", "silent"]


class Progress(Struct, frozen=True):
    """Progress of one dataset."""

    stage: Literal["fetch", "map"]
    """`done` and `total` count bytes while fetching, samples while mapping."""
    done: int
    total: int | None = None
    """None if unknown."""


Report = Callable[[Progress], None]
"""Called from time to time, in the thread that does the work."""


def silent(progress: Progress) -> None:
    """Report nothing."""


class Deadline:
    """How long one dataset may make no progress: no byte received, no sample mapped.

    One per dataset, shared by all that it waits for: its servers, and the processes that build it.
    """

    def __init__(self, seconds: float, *, clock: Callable[[], float] = time.monotonic) -> None:
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
    def remaining(self) -> float:
        """Seconds that are left without further progress; never less than 0."""
        return max(0.0, self._last + self.seconds - self._clock())
