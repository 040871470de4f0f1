"""Take the time inside a child process."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

__all__ = ["repeated", "seconds"]


def seconds(action: Callable[[], object]) -> float:
    """Return how long an action takes."""
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def repeated(action: Callable[[], object], *, times: int = 50, budget: float = 2.0) -> float:
    """Return the median of several times; no further one starts when the budget is used."""
    taken: list[float] = []
    while len(taken) < times and sum(taken) < budget:
        taken.append(seconds(action))
    return statistics.median(taken)
