"""Take the time and the memory inside a child process."""

from __future__ import annotations

import resource
import statistics
import sys
import time
from collections.abc import Callable

__all__ = ["peak_memory", "repeated", "seconds"]

_RSS_BYTES = 1 if sys.platform == "darwin" else 1024
"""What the system counts the resident size in."""


def seconds(action: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return how long an action takes by a clock."""
    begin = clock()
    action()
    return clock() - begin


def repeated(action: Callable[[], object], *, times: int = 50, budget: float = 2.0) -> float:
    """Return the median of several times; no further one starts when the budget is used."""
    taken: list[float] = []
    while len(taken) < times and sum(taken) < budget:
        taken.append(seconds(action))
    return statistics.median(taken)


def peak_memory() -> float:
    """Return the most bytes that this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_BYTES
