"""How a dataset shows itself: a mixin without state. What it needs is imported when it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from registry.samples.display.dataset import ShownDataset

__all__ = ["DisplayMethods"]


class DisplayMethods:
    """HTML for notebooks, and what rich prints."""

    @property
    def _rows_at_once(self) -> int:
        """How many samples can be read in a moment."""
        return 1 << 16

    def _repr_html_(self) -> str:
        """Return numbers, the first samples and plots as HTML of less than 30 KB."""
        from registry.samples.display.dataset import dataset_html

        return dataset_html(cast("ShownDataset", self), most=self._rows_at_once)

    def __rich_repr__(self) -> Iterator[tuple[str, Any] | tuple[str, Any, Any]]:
        from registry.samples.display.dataset import rich_fields

        return rich_fields(cast("ShownDataset", self))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from registry.samples.display.dataset import dataset_rich

        return dataset_rich(cast("ShownDataset", self), console, options, most=self._rows_at_once)
