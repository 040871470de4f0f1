"""What long work says about itself while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

__all__ = ["Progress", "Report", "silent"]


@dataclass(frozen=True)
class Progress:
    """How far one dataset is."""

    stage: Literal["fetch", "map"]
    """Fetching counts bytes, mapping counts samples."""
    done: int
    total: int | None = None
    """None where it is not known."""


Report = Callable[[Progress], None]
"""Is called now and then, from the thread that does the work."""


def silent(progress: Progress) -> None:
    """Report nothing."""
