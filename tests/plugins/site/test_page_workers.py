"""Pages that several processes write."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from registry import get_dataset
from registry.base.processes.executor import Workers
from registry.errors import ExportError, SourceError
from registry.load.call import OpenCatalog
from registry.plugins.site import page_workers
from registry.plugins.site.catalog_view import CatalogView
from registry.plugins.site.page_workers import WrittenPage, write_pages
from registry.settings import Settings

COUNT = 30


@pytest.fixture
def view(tmp_path: Path) -> CatalogView:
    root = tmp_path / "catalog"
    root.mkdir()
    sets = "".join(f"  d{n:03}: {{extends: qa, limit: {n}}}\n" for n in range(COUNT))
    (root / "datasets.yaml").write_text(
        "version: 1\ndatasets:\n  qa:\n    source: {type: json, path: qa.jsonl}\n"
        f"    fields: {{input: q}}\n{sets}",
        "utf-8",
    )
    (root / "qa.jsonl").write_text('{"q": "Q1"}\n{"q": "Q2"}\n', "utf-8")
    get_dataset("qa", root=root)
    opened = OpenCatalog.of(Settings.from_environment(root=root))
    failures = {"d007": SourceError("no answer")}
    return CatalogView(opened, tuple(opened.catalog), 5, failures)


def written(
    folder: Path, view: CatalogView, processes: int
) -> tuple[list[WrittenPage], dict[str, bytes]]:
    """Write pages; return them sorted, and the files."""
    (folder / "datasets").mkdir(parents=True)
    pages = sorted(write_pages(folder, view, processes=processes), key=lambda page: page.name)
    return pages, {file.name: file.read_bytes() for file in (folder / "datasets").iterdir()}


def test_processes_write_the_pages_of_one(
    tmp_path: Path, view: CatalogView, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = written(tmp_path / "alone", view, 2)  # too few datasets to start a process
    monkeypatch.setattr(page_workers, "_MANY", COUNT)
    started: list[int] = []
    end = Workers.end

    def count(self: Workers) -> None:
        started.append(len(self.process_ids))
        end(self)

    monkeypatch.setattr(Workers, "end", count)
    assert written(tmp_path / "several", view, 2) == alone
    assert started == [2]
    assert len(alone[0]) == COUNT + 1
    assert [page.name for page in alone[0] if page.problems] == ["d007"]


def test_page_that_a_process_can_not_write_is_an_error(
    tmp_path: Path, view: CatalogView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_workers, "_MANY", COUNT)
    with pytest.raises(ExportError, match=r"can't write .*d0\d\d\.html: No such file"):
        list(write_pages(tmp_path / "nowhere", view, processes=2))


def die(tell: object) -> None:
    """End this process."""
    os.kill(os.getpid(), signal.SIGKILL)


def test_process_that_is_lost_is_an_error(
    tmp_path: Path, view: CatalogView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_workers, "_MANY", COUNT)
    (tmp_path / "datasets").mkdir()

    call = Workers.call

    def call_the_end(self: Workers, function: str, *arguments: object, **options: Any) -> Any:
        return call(self, f"{__name__}:die", **options)

    monkeypatch.setattr(Workers, "call", call_the_end)
    with pytest.raises(ExportError, match=r"a worker process .* \(--jobs 1 starts none\)"):
        list(write_pages(tmp_path, view, processes=2))
