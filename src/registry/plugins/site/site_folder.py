"""The folder of a site: it replaces and removes only files of its own.

The pages of datasets are written in this process, or those of a large catalog in several.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from registry.api import (
    NAME_PATTERN,
    ExportError,
    OpenCatalog,
    Settings,
    WorkerLostError,
    Workers,
    can_start,
    gc_paused,
    write_atomic,
)
from registry.plugins.site.catalog_view import CatalogView
from registry.plugins.site.dataset_page import dataset_pages
from registry.plugins.site.home_page import ListRow, list_row

__all__ = ["MARKER", "SiteFolder", "WrittenPage", "write_pages"]


MARKER = "registry-site.json"
"""The file that says that a folder is a site of ours, and which files are."""
_MADE_BY, _FORMAT = "registry site", 1
_FOLDERS = ("assets", "compare", "datasets", "list", "samples", "search", "tables")
_FILE = re.compile(r"index\.html|assets/[a-z]+\.(?:css|js)|list/\d+\.html|search/\d+\.js")
_PAGE = re.compile(r"datasets/(?P<name>[^/]+)\.html")
_PARTS = re.compile(
    r"(?:samples|tables|compare)/(?P<name>[^@/~]+)(?:~original)?(?:@(?P<other>[^@/~]+))?@\d+"
    r"\.(?:html|js)"
)
_MOST_MARKER = 1 << 26


class SiteFolder:
    """A folder that a site is written to."""

    def __init__(self, path: Path, *, force: bool = False) -> None:
        """Open or create a folder.

        Raises:
            ExportError: it can't be written, or has files of another tool and not `force`.
        """
        self.path = path
        self._written: set[str] = set()
        with _writing(path):
            path.mkdir(parents=True, exist_ok=True)
            self._old = self._read_marker()
            if self._old is None and any(path.iterdir()) and not force:
                raise ExportError(
                    f"{path} has files that `registry site` did not write"
                    " (choose another folder, or add --force to write between them)"
                )
            for name in _FOLDERS:
                if (path / name).is_symlink():
                    raise ExportError(f"{path / name} is a link, and is not followed (remove it)")

    def _read_marker(self) -> frozenset[str] | None:
        """Return the files of the site that is in the folder; None if there is none."""
        marker = self.path / MARKER
        if not marker.is_file():  # a pipe would wait for someone who writes
            return None
        try:
            with marker.open("rb") as file:
                data = json.loads(file.read(_MOST_MARKER))
        except (ValueError, RecursionError):  # not JSON, not UTF-8, or nested too deeply
            return None
        if not isinstance(data, dict) or data.get("made_by") != _MADE_BY:
            return None
        files = data.get("files")
        # Whoever can write to the folder can change the list, and may not make us delete more.
        known = files if isinstance(files, list) else []
        return frozenset(one for one in known if isinstance(one, str) and _is_own(one))

    def begin(self, files: Iterable[str]) -> None:
        """Note which files are going to be written, so that a later run knows them in any case."""
        with _writing(self.path):
            for name in _FOLDERS:
                (self.path / name).mkdir(exist_ok=True)
            self._mark(sorted({*files, *(self._old or ())}))

    def write(self, file: str, text: str) -> None:
        """Write a file, unless it has this content already."""
        self.note(file)
        _write_file(self.path / file, text)

    def note(self, file: str) -> None:
        """Note that a file belongs to the site, and was written by another process."""
        assert _is_own(file)  # noqa: S101 (else it would not be known as ours later)
        self._written.add(file)

    def finish(self) -> int:
        """Remove the files of an earlier site that this one does not have; return how many."""
        stale = {*(self._old or ()), *self._parts()} - self._written
        with _writing(self.path):
            for file in stale:
                (self.path / file).unlink(missing_ok=True)
            self._mark(sorted(self._written))
        return len(stale)

    def _parts(self) -> Iterator[str]:
        """Yield further files of datasets of ours, whose number is known when they are written."""
        folders = ("compare", "samples", "tables")
        with _writing(self.path):
            found = [
                f"{one}/{file.name}" for one in folders for file in (self.path / one).iterdir()
            ]
        for file in found:
            page = _PARTS.fullmatch(file)
            if page and f"datasets/{page['name']}.html" in (self._old or ()):
                yield file

    def _mark(self, files: list[str]) -> None:
        data = {"made_by": _MADE_BY, "format": _FORMAT, "files": files}
        _replace(self.path / MARKER, f"{json.dumps(data, indent=1)}\n".encode())


def _write_file(path: Path, text: str) -> None:
    """Replace a file in one step, unless it has this content already.

    Raises:
        ExportError: it can't be written.
    """
    with _writing(path):
        _replace(path, text.encode())


def _is_own(file: str) -> bool:
    if page := _PAGE.fullmatch(file) or _PARTS.fullmatch(file):
        return all(map(_is_stem, filter(None, page.groups())))
    return _FILE.fullmatch(file) is not None


def _is_stem(stem: str) -> bool:
    name, plus, split = stem.partition("+")
    parts = (name, split.lower()) if plus else (name,)
    return all(re.search(NAME_PATTERN, part) for part in parts)


def _replace(path: Path, data: bytes) -> None:
    """Replace a file in one step, or leave it as it is if it has this content."""
    with contextlib.suppress(OSError):
        is_equal_size = path.is_file() and path.stat().st_size == len(data)
        if is_equal_size and not path.is_symlink() and path.read_bytes() == data:
            return
    write_atomic(path, lambda file: file.write(data), durable=False)


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"can't write {path}: {error.strerror or error}"
        raise ExportError(f"{message} (choose another folder with --out)") from error


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
            _write_file(folder / file, text)
            files.append(file)
    return WrittenPage(
        row=list_row(one, view.about.changes),
        files=tuple(files),
        problems=one.problems,
        has_samples=one.samples is not None,
    )
