"""Write the pages of datasets: in this process, or those of a large catalog in several."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from registry.api import (
    ExportError,
    OpenCatalog,
    Settings,
    WorkerLostError,
    Workers,
    can_start,
    gc_paused,
)
from registry.plugins.site.catalog_view import CatalogView
from registry.plugins.site.dataset_page import dataset_pages
from registry.plugins.site.home_page import ListRow, list_row
from registry.plugins.site.site_folder import write_file

__all__ = ["WrittenPage", "write_pages"]

_MANY = 1_000
"""Datasets for which it is worth a second per process to start some."""
_CHUNK = 25


@dataclass(frozen=True, kw_only=True)
class WrittenPage:
    """The pages of a dataset, and its row in the list."""

    row: ListRow
    files: tuple[str, ...]
    problems: tuple[str, ...]
    has_samples: bool

    @property
    def name(self) -> str:
        """The dataset."""
        return self.row.name


def write_pages(folder: Path, view: CatalogView, *, processes: int = 1) -> Iterator[WrittenPage]:
    """Write the page of each dataset below a folder; yield them in the order they are written.

    Raises:
        ExportError: a page can't be written, or a process was killed.
    """
    if processes < 2 or len(view.names) < _MANY or not can_start():
        for name in view.names:
            yield _write(folder, view, name)
        return
    shown = (view.names, view.most, view.failures, view.table_size)
    order = (folder.absolute(), view.opened.settings, *shown)
    try:
        with Workers(processes, prepare=(f"{__name__}:_open", order)) as workers:
            write = partial(workers.call, f"{__name__}:_write_chunk", attempts=1)
            starts = range(0, len(view.names), _CHUNK)
            for later in [write(view.names[start : start + _CHUNK]) for start in starts]:
                yield from later.result()
    except WorkerLostError as error:
        raise ExportError(f"{error} (--jobs 1 starts none)") from error


_opened: dict[str, tuple[Path, CatalogView]] = {}
"""What `_open` opened in this process, a worker."""


def _open(tell: object, folder: Path, settings: Settings, *shown: Any) -> None:
    _opened["view"] = folder, CatalogView(OpenCatalog.of(settings), *shown)


def _write_chunk(tell: object, names: tuple[str, ...]) -> list[WrittenPage]:
    folder, view = _opened["view"]
    return [_write(folder, view, name) for name in names]


def _write(folder: Path, view: CatalogView, name: str) -> WrittenPage:
    files = []
    with gc_paused():  # a page makes many objects, and no cycles
        one = view.dataset(name)
        for file, text in dataset_pages(one, view.about):
            write_file(folder / file, text)
            files.append(file)
    return WrittenPage(
        row=list_row(one, view.about.changes),
        files=tuple(files),
        problems=one.problems,
        has_samples=one.samples is not None,
    )
