"""Report the progress of long work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

__all__ = ["Progress", "Report", "silent"]


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
