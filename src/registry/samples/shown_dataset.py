"""A dataset in a notebook, and as rich prints it: numbers, first samples and plots."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, overload

from registry.base.escape import escape_control
from registry.base.local_files import display_path
from registry.display.html import MOST_BYTES, Allowance, block, plots_html, plots_text, table
from registry.errors import RegistryError, count_text
from registry.samples.shown_sample import ShownSample, text_of_input

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from registry.plots import Plot
    from registry.samples.frames.description import Description

__all__ = ["ShownDataset", "dataset_html", "dataset_rich", "rich_fields"]

_SAMPLES = 5
_DESCRIBED = 10_000
_BYTES = 10_000
_CELL = 500
_COLUMNS = ("id", "input", "choices", "target")


class ShownDataset(Protocol):
    """What is read of a dataset."""

    @property
    def name(self) -> str | None:
        """Name of the dataset."""

    @property
    def location(self) -> str | None:
        """Origin of the data."""

    @property
    def shuffled(self) -> bool:
        """Whether the order was shuffled."""

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int, /) -> ShownSample: ...
    @overload
    def __getitem__(self, index: slice, /) -> ShownDataset: ...
    def describe(self) -> Description:
        """Return what can be counted."""


def dataset_html(dataset: ShownDataset, *, most: int) -> str:
    """Return a dataset as HTML; the plots are of at most `most` samples."""
    room = Allowance(_BYTES)
    name = room.line(dataset.name or "dataset", 300)
    count = count_text(len(dataset), "sample")
    location = dataset.location or ""
    # A notebook is given to others, who have other folders.
    shown_as = display_path(Path(location)) if os.path.isabs(location) else location
    origin = f" · {room.line(shown_as, 300)}" if location else ""
    shuffled = " · shuffled" if dataset.shuffled else ""
    first = [dataset[index] for index in range(min(_SAMPLES, len(dataset)))]
    columns = [one for one in _COLUMNS if any(getattr(sample, one) is not None for sample in first)]
    rows = [[room.line(_cell(one, column), _CELL) for column in columns] for one in first]
    rest = len(dataset) - len(first)
    parts = [
        f"<b>{name}</b> · {count}{origin}{shuffled}",
        table(rows, headers=columns) if rows else "",
        f"<i>… {count_text(rest, 'more sample')}</i>" if rest else "",
    ]
    plots, note = _plots(dataset, most)
    left = MOST_BYTES - len(block(*parts).encode())
    return block(*parts, plots_html(plots, note, most=left))


def rich_fields(dataset: ShownDataset) -> Iterator[tuple[str, Any] | tuple[str, Any, Any]]:
    """Yield what tells a dataset from others; rich leaves out what equals the third item."""
    yield "name", dataset.name
    yield "samples", len(dataset)
    yield "location", dataset.location, None
    yield "shuffled", dataset.shuffled, False


def dataset_rich(
    dataset: ShownDataset, console: Console, options: ConsoleOptions, *, most: int
) -> RenderResult:
    """Yield name, size and plots of a dataset, as wide as the console."""
    from rich.text import Text

    title = f"{dataset.name or 'dataset'}: {count_text(len(dataset), 'sample')}"
    yield Text(escape_control(title), style="bold")
    plots, note = _plots(dataset, most)
    ascii_only = options.ascii_only or console.legacy_windows
    for line in plots_text(plots, note, width=options.max_width, ascii_only=ascii_only):
        yield Text(line)


def _plots(dataset: ShownDataset, most: int) -> tuple[tuple[Plot, ...], str]:
    """Return the plots of the first samples, and a note that says why there are not more."""
    if not len(dataset):
        return (), ""
    count = min(_DESCRIBED, most)
    part = dataset if count >= len(dataset) else dataset[:count]
    try:
        plots = part.describe().plots()
    except RegistryError as error:  # a value in memory that has no form in Arrow
        return (), f"no plots: {error}"
    note = "" if part is dataset else f"of the first {count:,} samples; `describe()` counts all"
    return plots, note


def _cell(sample: ShownSample, column: str) -> str:
    value = getattr(sample, column)
    match column:
        case "input":
            return text_of_input(value)
        case "choices" | "target" if isinstance(value, list):
            return "\n".join(value)
        case _:
            return "" if value is None else str(value)
