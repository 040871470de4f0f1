"""A whole site."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from registry import get_dataset
from registry.cache.cache import Cache
from registry.catalog.catalog import Catalog
from registry.errors import SourceError
from registry.plugins.site.catalog_view import CatalogView
from registry.plugins.site.site import write_site
from registry.plugins.site.site_folder import SiteFolder
from registry.settings import Settings

INDEX = """
version: 1
datasets:
  qa:
    description: Questions.
    tags: [one]
    source: {type: json, path: qa.jsonl}
    fields: {input: q, target: a, id: i}
  qa-small:
    extends: qa
    limit: 1
  bad:
    extends: nowhere
"""
LINES = '{"q": "Q1", "a": "A1", "i": "first"}\n{"q": "Q2", "a": "A2", "i": "second"}\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "catalog"
    root.mkdir()
    (root / "datasets.yaml").write_text(INDEX, "utf-8")
    (root / "qa.jsonl").write_text(LINES, "utf-8")
    return root


def make(root: Path, out: Path, **failures: SourceError) -> dict[str, tuple[str, ...]]:
    """Write a site; return the problems of each dataset."""
    settings = Settings.from_environment(root=root)
    catalog, cache = Catalog.open(settings.index), Cache(settings.cache_dir)
    view = CatalogView(catalog, cache, settings, tuple(catalog), failures=failures)
    pages = write_site(SiteFolder(out), view)
    return {page.name: page.problems for page in pages}


def test_site_has_samples_of_what_is_cached_and_problems_of_what_is_broken(
    root: Path, tmp_path: Path
) -> None:
    get_dataset("qa", root=root)
    out = tmp_path / "site"
    problems = make(root, out)
    assert [name for name, found in problems.items() if found] == ["bad"]
    assert "nowhere" in problems["bad"][0]
    assert "nowhere" in (out / "datasets" / "bad.html").read_text("utf-8")
    page = (out / "datasets" / "qa-small.html").read_text("utf-8")
    assert 'data-id="first"' in page
    assert 'data-id="second"' not in page
    assert 'href="qa.html"' in page
    assert "<svg" in page
    assert '"qa-small"' in (out / "search" / "0.js").read_text("utf-8")


def test_pages_do_not_have_the_folders_of_this_machine(root: Path, tmp_path: Path) -> None:
    get_dataset("qa", root=root)
    make(root, tmp_path / "site")
    files = [file for file in (tmp_path / "site").rglob("*") if file.is_file()]
    assert [file for file in files if str(tmp_path) in file.read_text("utf-8")] == []


def test_all_links_lead_to_files_of_the_site(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "site"
    make(root, out)
    for page in out.rglob("*.html"):
        for link in re.findall(r'(?:href|src)="([^"#]+)', page.read_text("utf-8")):
            assert link == "data:," or (page.parent / unquote(link)).resolve().is_file(), page


def test_second_run_gives_the_same_bytes(root: Path, tmp_path: Path) -> None:
    get_dataset("qa", root=root)
    out = tmp_path / "site"
    make(root, out)
    first = {file: file.read_bytes() for file in out.rglob("*") if file.is_file()}
    make(root, out)
    assert {file: file.read_bytes() for file in out.rglob("*") if file.is_file()} == first


def test_failure_of_a_build_is_on_its_page(root: Path, tmp_path: Path) -> None:
    problems = make(root, tmp_path / "site", qa=SourceError("the server said no"))
    assert problems["qa"] == ("qa: the server said no",)
    page = (tmp_path / "site" / "datasets" / "qa.html").read_text("utf-8")
    assert "the server said no" in page
    assert "Questions." in page
