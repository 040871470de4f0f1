"""The list of a large catalog: a page does not wait for the state of all datasets."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from registry import get_dataset
from registry.plugins.browse.live_list import LiveList, open_leniently
from registry.plugins.site.views.catalog_view import CatalogView
from registry.plugins.site.views.dataset_view import DatasetView
from registry.settings import Settings

COUNT = 201
"""One more than a page has."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "catalog"
    root.mkdir()
    more = "".join(f"  qa-{n:03}: {{extends: qa, limit: {n + 1}}}\n" for n in range(COUNT - 1))
    (root / "datasets.yaml").write_text(
        "version: 1\ndatasets:\n  qa:\n    source: {type: json, path: qa.jsonl}\n"
        f"    tags: [one]\n    fields: {{input: q}}\n{more}",
        "utf-8",
    )
    (root / "qa.jsonl").write_text('{"q": "Q1"}\n', "utf-8")
    return root


@pytest.fixture
def live(root: Path) -> LiveList:
    settings = Settings.from_environment(root=root)
    return LiveList(settings, lambda: open_leniently(settings))


def page(live: LiveList, file: str = "index.html", state: str = "1") -> str | None:
    return live.page(file, state, scripts=["search.js"], policy="p")


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the datasets whose state is looked at."""
    names: list[str] = []
    summary = CatalogView.summary

    def record(self: CatalogView, name: str) -> DatasetView:
        names.append(name)
        return summary(self, name)

    monkeypatch.setattr(CatalogView, "summary", record)
    return names


def test_page_looks_only_at_its_own_datasets(live: LiveList, looked_at: list[str]) -> None:
    home = page(live) or ""
    assert len(looked_at) == 200
    assert '<p class="quiet" id="summary">201 datasets</p>' in home
    assert 'one <span class="quiet">201</span>' in home
    second = page(live, "list/2.html") or ""
    assert looked_at[200:] == ["qa-199"]
    assert 'href="../datasets/qa-199.html"' in second
    assert page(live, "list/3.html") is None
    assert page(live, "list/1.html") is None


def test_all_datasets_are_looked_at_once_for_the_search_and_the_numbers(
    live: LiveList, root: Path, looked_at: list[str]
) -> None:
    numbers = "201 datasets, 0 with samples, 0 pinned"
    assert live.summary("1") == numbers
    assert (live.search("1") or "").count('["qa') == COUNT
    assert len(looked_at) == COUNT
    assert numbers in (page(live) or "")
    assert numbers not in (page(live, state="2") or "")
    get_dataset("qa", root=root)
    assert live.summary("1") == "201 datasets, 201 with samples, 0 pinned"


def test_rows_of_an_old_state_are_given_up_for_a_new_one(
    live: LiveList, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, go_on = threading.Event(), threading.Event()
    summary = CatalogView.summary

    def wait(self: CatalogView, name: str) -> DatasetView:
        first.set()
        assert go_on.wait(20)
        return summary(self, name)

    monkeypatch.setattr(CatalogView, "summary", wait)
    results: dict[str, str | None] = {}
    threads = [
        threading.Thread(target=lambda one=one: results.update({one: live.summary(one)}))
        for one in ("old", "new")
    ]
    threads[0].start()
    assert first.wait(20)
    threads[1].start()
    while "new" not in live._wanted:
        threading.Event().wait(0.01)
    go_on.set()
    for thread in threads:
        thread.join(20)
    assert results == {"old": None, "new": "201 datasets, 0 with samples, 0 pinned"}


def test_stop_ends_what_is_going_on(live: LiveList, looked_at: list[str]) -> None:
    live.stop()
    assert live.search("1") == "registryRows([\n\n]);\n"
    assert looked_at == []
