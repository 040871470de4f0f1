"""Watch fsspec transfers. A separate module because fsspec is slow to import."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from fsspec.callbacks import Callback

from registry.errors import SourceError
from registry.progress import Progress

if TYPE_CHECKING:
    from registry.boundary.limits import Limits
    from registry.progress import Report

__all__ = ["Counter"]


class Counter(Callback):  # type: ignore[misc]  # fsspec has no types
    """Reports the number of bytes that fsspec has transferred, and stops what does not end."""

    def __init__(self, report: Report, size: int | None, limits: Limits, location: str) -> None:
        super().__init__(size=size)
        self._report = report
        self._limits = limits
        self._location = location
        self._deadline = time.monotonic() + limits.seconds

    def call(self, hook_name: str | None = None, **kwargs: Any) -> None:
        """Report the current value; fsspec calls this on every change.

        Raises:
            SourceError: the transfer exceeds a limit.
        """
        self._report(Progress("fetch", self.value, self.size))
        if self.value > self._limits.unpacked_bytes:
            self._stop("unpacked_bytes", "the file has", "bytes")
        if time.monotonic() > self._deadline:
            self._stop("seconds", "the transfer takes", "seconds")

    def _stop(self, key: str, what: str, unit: str) -> None:
        raise SourceError(f"{self._location}: {self._limits.message(key, what, unit)}")
