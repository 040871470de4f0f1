"""What long work says about itself while it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

__all__ = ["Progress", "Report", "silent"]


class Progress(Struct, frozen=True):
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
