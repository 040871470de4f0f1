"""How far a transfer of fsspec is; a module of its own, as fsspec takes long to import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fsspec.callbacks import Callback

from registry.progress import Progress

if TYPE_CHECKING:
    from registry.progress import Report

__all__ = ["Counter"]


class Counter(Callback):  # type: ignore[misc]  # fsspec has no types
    """Passes on how many bytes fsspec has fetched."""

    def __init__(self, report: Report, size: int | None) -> None:
        super().__init__(size=size)
        self._report = report

    def call(self, hook_name: str | None = None, **kwargs: Any) -> None:
        """Report the value; fsspec calls this at each change of it."""
        self._report(Progress("fetch", self.value, self.size))
