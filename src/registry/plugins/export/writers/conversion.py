"""Convert samples to records of a format; an error names the sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from registry.api import ExportError

if TYPE_CHECKING:
    from registry import Sample
    from registry.plugins.export.exported import Exported

__all__ = ["convert_samples"]

_Record = TypeVar("_Record")


def convert_samples(exported: Exported, convert: Callable[[Sample], _Record]) -> Iterator[_Record]:
    """Yield the record that a function returns for each sample.

    Raises:
        ExportError: as the function; the message has the number and the id of the sample.
    """
    for number, sample in enumerate(exported.samples(), 1):
        try:
            yield convert(sample)
        except ExportError as error:
            place = f"{exported.spec.name}: sample {number} (id {sample.id})"
            raise ExportError(f"{place}: {error}") from error
