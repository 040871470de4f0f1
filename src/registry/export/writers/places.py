"""Name the sample that a format can't have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from registry.errors import ExportError

if TYPE_CHECKING:
    from registry.export.exported import Exported
    from registry.samples.sample import Sample

__all__ = ["placed"]

_Made = TypeVar("_Made")


def placed(exported: Exported, make: Callable[[Sample], _Made]) -> Iterator[_Made]:
    """Yield what a function makes of each sample.

    Raises:
        ExportError: as the function; the message has the number and the id of the sample.
    """
    for number, sample in enumerate(exported.samples(), 1):
        try:
            yield make(sample)
        except ExportError as error:
            place = f"{exported.spec.name}: sample {number} (id {sample.id})"
            raise ExportError(f"{place}: {error}") from error
