"""Keep Python from warning of patterns and literals that are data, in any thread."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator

from registry.base.processes.forks import ForkSafeLock

__all__ = ["no_warnings"]

_LOCK = ForkSafeLock()


@contextlib.contextmanager
def no_warnings() -> Iterator[None]:
    """Ignore the warnings of what runs inside; other threads wait to do the same.

    `catch_warnings` replaces the filters of the whole process. Without the lock, a thread that
    enters while another one is inside would restore "ignore everything", for good.
    """
    with _LOCK(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
