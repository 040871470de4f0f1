"""Progress of fsspec transfers. A separate module because fsspec is slow to import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fsspec.callbacks import Callback

from registry.progress import Progress

if TYPE_CHECKING:
    from registry.progress import Report

__all__ = ["Counter"]


class Counter(Callback):  # type: ignore[misc]  # fsspec has no types
    """Reports the number of bytes that fsspec has transferred."""

    def __init__(self, report: Report, size: int | None) -> None:
        super().__init__(size=size)
        self._report = report

    def call(self, hook_name: str | None = None, **kwargs: Any) -> None:
        """Report the current value; fsspec calls this on every change."""
        self._report(Progress("fetch", self.value, self.size))
