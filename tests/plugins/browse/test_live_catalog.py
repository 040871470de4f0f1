"""Pages of a catalog as its files are now, and a state that changes with them."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

from registry import get_dataset
from registry.plugins.browse import live_catalog
from registry.plugins.browse.live_catalog import LiveCatalog, LiveList
from registry.plugins.site.catalog_view import CatalogView
from registry.plugins.site.dataset_view import DatasetView
from registry.settings import Settings
from tests.plugins.browse.catalogs import MANIFEST, write_catalog

COUNT = 5
"""Two more than a page of the list has."""


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    return write_catalog(tmp_path / "catalog")


@pytest.fixture
def live(manifest: Path) -> LiveCatalog:
    return LiveCatalog(Settings.from_environment(root=manifest.parent))


def page(live: LiveCatalog, name: str = "planets") -> str:
    text = live.dataset_page(name)
    assert text is not None
    return text


def test_state_stays_while_no_file_changes(live: LiveCatalog) -> None:
    states = {live.state("planets") for _ in range(3)}
    live.dataset_page("planets")
    live.list_file("index.html")
    assert states == {live.state("planets")}
    assert live.state() == live.state()


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("m.yaml", MANIFEST.replace("planets.\n", "our planets.\n")),
        ("m.yaml", "datasets: ["),
        ("datasets.yaml", "version: 7\n"),
        ("n.yaml", MANIFEST.replace("planets:", "moons:")),
        ("datasets.lock", "version: 1\n"),
        ("planets.csv", "question,answer\nWhich is blue?,Neptune\n"),
    ],
)
def test_state_changes_with_each_file(
    file: str, text: str, live: LiveCatalog, manifest: Path
) -> None:
    before = live.state("planets")
    (manifest.parent / file).write_text(text, encoding="utf-8")
    changed = live.state("planets")
    assert changed != before
    assert changed == live.state("planets")


def test_state_changes_when_samples_are_cached(live: LiveCatalog, manifest: Path) -> None:
    before = live.state("planets")
    get_dataset("planets", root=manifest.parent)
    assert live.state("planets") != before


def test_state_of_a_catalog_with_a_secret_changes_with_its_files(
    live: LiveCatalog, manifest: Path
) -> None:
    manifest.write_text(MANIFEST.replace("planets.csv}", "'https://h.example/x.csv?key=1'}"))
    before = live.state()
    assert before == live.state()
    manifest.write_text(MANIFEST.replace("planets.csv}", "'https://h.example/x.csv?key=2'}"))
    assert live.state() != before


def test_page_shows_first_records_of_what_is_not_built(live: LiveCatalog, manifest: Path) -> None:
    text = page(live)
    assert "The first 2 of the source, in its order; the dataset is not built" in text
    assert "Which has rings?" in text
    with (manifest.parent / "planets.csv").open("a", encoding="utf-8") as file:
        file.write("Which is blue?,Neptune\n")
    assert "Which is blue?" in page(live)
    get_dataset("planets", root=manifest.parent)
    assert "All 3." in page(live)


def test_all_samples_can_be_paged_through(live: LiveCatalog, manifest: Path) -> None:
    with (manifest.parent / "planets.csv").open("a", encoding="utf-8") as file:
        file.writelines(f"Question {n}?,A{n}\n" for n in range(43))
    for total in ("source", "45"):  # a preview, then what is cached
        pages = {first: live.dataset_page("planets", first) or "" for first in (1, 21, 41)}
        shown = {first: re.findall(r'id="sample-(\d+)"', text) for first, text in pages.items()}
        assert [int(n) for numbers in shown.values() for n in numbers] == list(range(1, 46))
        assert re.findall(r'"../([^"]+)" rel="next"', pages[21]) == ["samples/planets@41.html"] * 2
        assert re.findall(r'"../([^"]+)" rel="prev"', pages[21]) == ["datasets/planets.html"] * 2
        assert 'rel="next"' not in pages[41]
        assert f"21 to 40 of {total}" in pages[21].replace("the source", "source")
        get_dataset("planets", root=manifest.parent)
    assert "There is no sample 999" in (live.dataset_page("planets", 999) or "")
    assert live.dataset_page("nothing", 21) is None


def test_page_before_ends_where_a_page_begins(live: LiveCatalog, manifest: Path) -> None:
    with (manifest.parent / "planets.csv").open("a", encoding="utf-8") as file:
        file.writelines(f"{'long ' * 800 * (n % 9)}?,A{n}\n" for n in range(68))
    get_dataset("planets", root=manifest.parent)
    first, firsts = 70, []
    while first > 1:
        text = live.dataset_page("planets", first) or ""
        (name, before), *_ = re.findall(r'"../([^"]+)" rel="prev" data-sample="(\d+)"', text)
        previous = int(re.findall(r"@(\d+)", name)[0]) if "@" in name else 1
        shown = re.findall(r'id="sample-(\d+)"', live.dataset_page("planets", previous) or "")
        assert int(before) == first - 1
        assert before in shown
        first = previous
        firsts.append(first)
    # Some pages are full before they have 20 samples.
    assert len(firsts) > 4


def test_page_says_what_is_wrong_and_recovers(live: LiveCatalog, manifest: Path) -> None:
    manifest.write_text(MANIFEST.replace("input: question", "input: querstion"), encoding="utf-8")
    text = page(live)
    assert "querstion" in text
    assert "m.yaml:7" in text
    assert "<article" not in text
    manifest.write_text(MANIFEST, encoding="utf-8")
    assert "Which has rings?" in page(live)


MOONS = (
    MANIFEST.replace("datasets:\n", "")
    .replace("planets", "moons")
    .replace("moons.csv", "planets.csv")
)


@pytest.mark.parametrize("was_open", [False, True])
def test_page_of_a_dataset_that_can_not_be_parsed_shows_where(
    live: LiveCatalog, manifest: Path, was_open: bool
) -> None:
    manifest.write_text(MANIFEST + MOONS, encoding="utf-8")
    assert not was_open or 'class="notice bad"' not in page(live)
    broken = MANIFEST.replace("Questions about", '"Questions about') + MOONS
    manifest.write_text(broken, encoding="utf-8")
    text = page(live)
    assert "error[yaml-syntax]: not YAML: while scanning a quoted scalar" in text
    assert " --&gt; m.yaml:" in text
    assert re.search(r"\| +\^", text)
    assert f"live.js?name=planets&amp;state={live.state('planets').replace(':', '%3A')}" in text
    assert ("What follows is as it was before." in text) is was_open
    assert ("Which has rings?" in text) is was_open
    manifest.write_text(MANIFEST + MOONS, encoding="utf-8")
    assert 'class="notice bad"' not in page(live)


def test_other_datasets_of_a_file_are_not_blamed(live: LiveCatalog, manifest: Path) -> None:
    manifest.write_text(MANIFEST.replace("space]", "space") + MOONS, encoding="utf-8")
    text = page(live, "moons")
    assert "can't be used until others in its file are repaired" in text
    assert "notice bad" not in text
    home = live.list_file("index.html") or ""
    assert "Files that can't be read:</strong></p>\n<ul><li>m.yaml:" in home
    assert "broken" not in home.partition('id="results"')[2]


def test_pages_of_a_few_datasets_are_remembered(live: LiveCatalog, manifest: Path) -> None:
    names = [f"d{number}" for number in range(20)]
    texts = [MOONS.replace("  moons:", f"  {name}:") for name in names]
    manifest.write_text("datasets:\n" + "".join(texts), encoding="utf-8")
    for name in names:
        page(live, name)
    manifest.write_text("datasets: [", encoding="utf-8")
    is_kept = ["What follows is as it was before." in page(live, name) for name in names]
    assert is_kept == [False] * 4 + [True] * 16


def test_build_builds_what_is_looked_at(manifest: Path) -> None:
    settings = Settings.from_environment(root=manifest.parent)
    live = LiveCatalog(settings, build=True)
    assert "All 2." in page(live)
    with (manifest.parent / "planets.csv").open("a", encoding="utf-8") as file:
        file.write("Which is blue?,Neptune\n")
    assert ">3 equal</a>" in live.compare_page("planets", "planets")
    manifest.write_text(MANIFEST.replace("planets.csv", "gone.csv"), encoding="utf-8")
    assert "gone.csv" in page(live)
    assert "gone.csv" in live.compare_page("planets", "planets")


REMOTE = "'https://h.example/x.csv'}"
JOINED = f"planets.csv}}\n    join: {{on: question, into: x, source: {{type: csv, path: {REMOTE}}}"


@pytest.mark.parametrize("keys", [REMOTE, JOINED])
def test_remote_dataset_is_not_asked_for(keys: str, live: LiveCatalog, manifest: Path) -> None:
    manifest.write_text(MANIFEST.replace("planets.csv}", keys), encoding="utf-8")
    text = page(live)
    assert "registry sync planets" in text
    assert "notice bad" not in text
    assert live.table("planets") is None


def test_list_has_the_datasets_and_the_search(live: LiveCatalog, manifest: Path) -> None:
    home, search = live.list_file("index.html"), live.list_file("search/0.js")
    assert home is not None
    assert search is not None
    assert "1 dataset, 0 with samples" in home
    assert "Questions about planets." in search
    assert live.list_file("search/1.js") is None
    assert live.list_file("../m.yaml") is None
    get_dataset("planets", root=manifest.parent)
    manifest.write_text(MANIFEST.replace("planets.\n", "our planets.\n"), encoding="utf-8")
    assert "Questions about our planets." in (live.list_file("index.html") or "")
    assert "1 with samples" in (live.list_file("index.html") or "")


def test_list_of_an_invalid_index_shows_its_problem(live: LiveCatalog, manifest: Path) -> None:
    (manifest.parent / "datasets.yaml").write_text("version: 7\n", encoding="utf-8")
    home = live.list_file("index.html") or ""
    assert "datasets.yaml:1" in home
    assert "notice bad" in home


def test_pages_listen_for_another_state_than_the_one_they_show(live: LiveCatalog) -> None:
    for text, name in ((page(live), "planets"), (live.list_file("index.html") or "", "")):
        (asked,) = re.findall(r'live\.js\?name=(\w*)&amp;state=([^"]+)"', text)
        assert asked == (name, live.state(name).replace(":", "%3A"))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(live_catalog, "ROWS_PER_PAGE", COUNT - 2)
    root = tmp_path / "catalog"
    root.mkdir()
    keys = "source: {type: json, path: qa.jsonl}, tags: [one], fields: {input: q}"
    names = ["qa", *(f"qa-{number}" for number in range(COUNT - 1))]
    every = "".join(f"  {name}: {{{keys}}}\n" for name in names)
    (root / "datasets.yaml").write_text(f"version: 1\ndatasets:\n{every}", "utf-8")
    (root / "qa.jsonl").write_text('{"q": "Q1"}\n', "utf-8")
    return root


@pytest.fixture
def live_list(root: Path) -> LiveList:
    settings = Settings.from_environment(root=root)
    return LiveList(settings)


def list_page(live_list: LiveList, file: str = "index.html", state: str = "1") -> str | None:
    return live_list.page(file, state, scripts=["search.js"], policy="p")


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


def test_page_shows_only_the_names_of_a_family(
    live_list: LiveList, root: Path, looked_at: list[str]
) -> None:
    more = "".join(f"  small-{number}: {{extends: qa}}\n" for number in range(3))
    with (root / "datasets.yaml").open("a", encoding="utf-8") as file:
        file.write(more)
    home = list_page(live_list) or ""
    assert "3 datasets extend it" in home
    assert 'href="datasets/small-2.html"' in home
    assert looked_at == ["qa", "qa-0", "qa-1"]


def test_page_looks_only_at_its_own_datasets(live_list: LiveList, looked_at: list[str]) -> None:
    home = list_page(live_list) or ""
    assert looked_at == ["qa", "qa-0", "qa-1"]
    assert '<p class="quiet" id="summary">5 datasets</p>' in home
    assert 'one <span class="quiet">5</span>' in home
    second = list_page(live_list, "list/2.html") or ""
    assert looked_at[3:] == ["qa-2", "qa-3"]
    assert 'href="../datasets/qa-3.html"' in second
    assert list_page(live_list, "list/3.html") is None
    assert list_page(live_list, "list/1.html") is None


def test_all_datasets_are_looked_at_once_for_the_search_and_the_numbers(
    live_list: LiveList, root: Path, looked_at: list[str]
) -> None:
    numbers = "5 datasets, 0 with samples, 0 pinned"
    assert live_list.summary("1") == numbers
    assert (live_list.search("1") or "").count('["qa') == COUNT
    assert len(looked_at) == COUNT
    assert numbers in (list_page(live_list) or "")
    assert numbers not in (list_page(live_list, state="2") or "")
    get_dataset("qa", root=root)
    assert live_list.summary("1") == "5 datasets, 5 with samples, 0 pinned"


def test_rows_of_an_old_state_are_given_up_for_a_new_one(
    live_list: LiveList, monkeypatch: pytest.MonkeyPatch
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
        threading.Thread(target=lambda one=one: results.update({one: live_list.summary(one)}))
        for one in ("old", "new")
    ]
    threads[0].start()
    assert first.wait(20)
    threads[1].start()
    while "new" not in live_list._wanted:
        threading.Event().wait(0.01)
    go_on.set()
    for thread in threads:
        thread.join(20)
    assert results == {"old": None, "new": "5 datasets, 0 with samples, 0 pinned"}


def test_stop_ends_what_is_going_on(live_list: LiveList, looked_at: list[str]) -> None:
    live_list.stop()
    assert live_list.search("1") == "registryRows([\n\n]);\n"
    assert looked_at == []
