"""The folder of a site: files of others are safe, and several processes write the pages."""

from __future__ import annotations

import json
import os
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from registry import get_dataset
from registry.base.executor import WorkerLostError, Workers
from registry.errors import ExportError, SourceError
from registry.load.call import OpenCatalog
from registry.plugins.site import site_folder
from registry.plugins.site.catalog_view import CatalogView
from registry.plugins.site.site_folder import MARKER, SiteFolder, WrittenPage, write_pages
from registry.settings import Settings


def write(path: Path, files: dict[str, str], *, force: bool = False) -> int:
    """Write a site; return how many files of an earlier one were removed."""
    folder = SiteFolder(path, force=force)
    folder.begin(files)
    for file, text in files.items():
        folder.write(file, text)
    return folder.finish()


def content(path: Path) -> dict[str, str]:
    """Return the files below a folder besides the marker."""
    files = (file for file in path.rglob("*") if file.is_file() and file.name != MARKER)
    return {file.relative_to(path).as_posix(): file.read_text("utf-8") for file in files}


def test_second_site_replaces_and_removes_only_its_own_files(tmp_path: Path) -> None:
    out = tmp_path / "new" / "site"
    write(out, {"index.html": "1", "datasets/a.html": "a", "datasets/b.html": "b"})
    (out / "CNAME").write_text("example.org", "utf-8")
    (out / "datasets" / "mine.html").write_text("mine", "utf-8")
    assert write(out, {"index.html": "2", "datasets/b.html": "b"}) == 1
    assert content(out) == {
        "index.html": "2",
        "datasets/b.html": "b",
        "CNAME": "example.org",
        "datasets/mine.html": "mine",
    }


def test_file_with_the_same_content_is_not_written(tmp_path: Path) -> None:
    write(tmp_path, {"index.html": "1"})
    os.utime(tmp_path / "index.html", (1, 1))
    write(tmp_path, {"index.html": "1"})
    assert (tmp_path / "index.html").stat().st_mtime == 1


@pytest.mark.parametrize(
    "marker",
    [
        *("", "[]", "{}", '{"made_by": "mkdocs"}', '{"made_by": ["registry site"]}'),
        *("\ufffd", "[" * 100_000),
    ],
)
def test_marker_of_another_tool_is_not_ours(tmp_path: Path, marker: str) -> None:
    (tmp_path / MARKER).write_text(marker, "utf-8")
    with pytest.raises(ExportError, match="did not write"):
        SiteFolder(tmp_path)


def test_changed_marker_can_not_delete_other_files(tmp_path: Path) -> None:
    out, outside = tmp_path / "site", tmp_path / "precious.html"
    outside.write_text("x", "utf-8")
    write(out, {"index.html": "1"})
    (out / "README.md").write_text("x", "utf-8")
    files = ["../precious.html", str(outside), "README.md", "datasets/../../precious.html", 7]
    (out / MARKER).write_text(json.dumps({"made_by": "registry site", "files": files}), "utf-8")
    assert write(out, {"index.html": "1"}) == 0
    assert outside.exists()
    assert (out / "README.md").exists()


def test_links_are_not_followed(tmp_path: Path) -> None:
    out, target = tmp_path / "site", tmp_path / "target.txt"
    target.write_text("precious", "utf-8")
    write(out, {"index.html": "1"})
    (out / "index.html").unlink()
    (out / "index.html").symlink_to(target)
    write(out, {"index.html": "1"})
    assert target.read_text("utf-8") == "precious"
    assert not (out / "index.html").is_symlink()
    (out / "list").rmdir()
    (out / "list").symlink_to(tmp_path)
    with pytest.raises(ExportError, match="list is a link, and is not followed"):
        SiteFolder(out)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_pipes_are_neither_read_nor_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / MARKER)
    with pytest.raises(ExportError, match="has files"):
        SiteFolder(tmp_path)
    folder = SiteFolder(tmp_path, force=True)
    with pytest.raises(ExportError, match="it is a device or a pipe"):
        folder.begin(["index.html"])


def test_interrupted_site_is_continued(tmp_path: Path) -> None:
    folder = SiteFolder(tmp_path)
    folder.begin(["index.html", "datasets/a.html"])
    folder.write("datasets/a.html", "a")
    assert write(tmp_path, {"index.html": "1"}) == 1
    assert content(tmp_path) == {"index.html": "1"}


def test_folder_that_can_not_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", "utf-8")
    with pytest.raises(ExportError, match=r"can't write .*file/site: Not a directory .*--out"):
        SiteFolder(tmp_path / "file" / "site")
    folder = SiteFolder(tmp_path / "site")
    folder.begin([])
    (tmp_path / "site" / "index.html").mkdir()
    with pytest.raises(ExportError, match=r"can't write .*index\.html: Is a directory"):
        folder.write("index.html", "x")
    assert [path.name for path in (tmp_path / "site").glob(".*")] == []


def test_further_sample_pages_of_an_interrupted_site_are_removed(tmp_path: Path) -> None:
    folder = SiteFolder(tmp_path)
    folder.begin(["index.html", "datasets/a.html"])
    folder.write("samples/a@21.html", "known when it is written")
    for name in ("b@21.html", "a@x.html", "a.html"):
        (tmp_path / "samples" / name).write_text("mine", "utf-8")
    assert write(tmp_path, {"index.html": "1", "samples/a@41.html": "new"}) == 2
    assert write(tmp_path, {"index.html": "1"}) == 1
    assert sorted(content(tmp_path)) == [
        "index.html",
        "samples/a.html",
        "samples/a@x.html",
        "samples/b@21.html",
    ]


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
    monkeypatch.setattr(site_folder, "_MANY", COUNT)
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


def test_process_that_is_lost_is_an_error(
    tmp_path: Path, view: CatalogView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site_folder, "_MANY", COUNT)
    lost: Future[Any] = Future()
    lost.set_exception(WorkerLostError("it ended"))
    monkeypatch.setattr(Workers, "call", lambda *_, **__: lost)
    with pytest.raises(ExportError, match=r"^it ended \(--jobs 1 starts none\)$"):
        list(write_pages(tmp_path, view, processes=2))
