"""`site`: the catalog as pages."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.cli.invocation import Run

MANIFEST = """
version: 1
datasets:
  qa:
    source: {type: json, path: qa.jsonl}
    fields: {input: q, target: a}
  other:
    extends: qa
    tags: [second]
    limit: 1
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "own"
    root.mkdir()
    (root / "datasets.yaml").write_text(MANIFEST, "utf-8")
    (root / "qa.jsonl").write_text('{"q": "Q1", "a": "A1"}\n{"q": "Q2", "a": "A2"}\n', "utf-8")
    monkeypatch.chdir(root)
    return root


def test_without_build_nothing_is_built(run: Run, own: Path, cache_dir: Path) -> None:
    result = run("site", "--out", "site")
    assert (result.code, result.err) == (0, "")
    assert result.out == "2 datasets, 0 with samples, 0 broken: site/index.html\n"
    assert not list(cache_dir.rglob("samples.arrow"))
    assert (own / "site" / "index.html").exists()


def test_build_gives_every_page_its_samples(run: Run, own: Path) -> None:
    result = run("site", "--out", "site", "--build", "--samples", "1", "--json")
    assert result.code == 0
    assert json.loads(result.out) == {
        "index": "site/index.html",
        "pages": 2,
        "with_samples": 2,
        "broken": {},
        "problems": [],
    }
    page = (own / "site" / "datasets" / "qa.html").read_text("utf-8")
    assert "The first 1 of 2." in page
    assert "<svg" in page
    assert "Q2" not in page
    assert 'href="qa.html"' in (own / "site" / "datasets" / "other.html").read_text("utf-8")
    assert '"other"' in (own / "site" / "search" / "0.js").read_text("utf-8")


def test_data_behind_terms_has_no_table_of_all_samples(run: Run, own: Path) -> None:
    access = "access: {gated: 'https://example.org/terms'}\n    limit: 1"
    (own / "datasets.yaml").write_text(MANIFEST.replace("limit: 1", access), "utf-8")
    assert run("site", "--out", "site", "--build").code == 0
    tables = [path.name for path in (own / "site").rglob("*.js") if "Q1" in path.read_text("utf-8")]
    assert tables == ["qa@0.js"]


def test_dataset_that_can_not_be_built_has_a_page_that_says_why(run: Run, own: Path) -> None:
    (own / "qa.jsonl").write_text('{"q": "Q1"}\n', "utf-8")
    result = run("site", "--out", "site", "--build")
    assert result.code == 1
    assert result.out == "2 datasets, 0 with samples, 2 broken: site/index.html\n"
    assert result.err == (
        "error: datasets.yaml:6:24 $.datasets.qa.fields.target: no column 'a' (columns: q)\n"
    )
    page = (own / "site" / "datasets" / "qa.html").read_text("utf-8")
    assert "This dataset can't be used" in page
    assert "datasets.yaml:6" in page


def test_problem_of_a_file_is_printed_once(run: Run, own: Path) -> None:
    (own / "datasets.yaml").write_text("version: 1\ninclude: [qa.yaml]\n", "utf-8")
    manifest = MANIFEST.replace("version: 1", "").replace("limit: 1", "limit: no")
    (own / "qa.yaml").write_text(manifest, "utf-8")
    result = run("site", "--out", "site")
    assert (result.code, result.err.count("limit")) == (1, 1)
    assert "2 broken" in result.out
    broken = run("site", "--out", "site", "--json").json["broken"]
    assert {name: "limit" in found[0] for name, found in broken.items()} == {
        "other": True,
        "qa": True,
    }


def test_problem_of_the_lockfile_is_printed_once(run: Run, own: Path) -> None:
    (own / "datasets.lock").write_text("version: 1\npins: [\n", "utf-8")
    for command in ("site --out site", "export qa other --out out/ --format jsonl"):
        done = run(*command.split())
        assert (done.code, done.err.count("datasets.lock:3:1 $: not YAML")) == (1, 1), command
        assert done.err.startswith("error: datasets.lock:3:1"), command


def test_damaged_samples_are_a_problem_of_their_dataset(
    run: Run, own: Path, cache_dir: Path
) -> None:
    assert run("sync").code == 0
    for file in cache_dir.rglob("samples.arrow"):
        data = bytearray(file.read_bytes())
        data[len(data) // 2 :] = bytes(len(data) - len(data) // 2)
        file.chmod(0o600)
        file.write_bytes(data)
    result = run("site", "--out", "site")
    assert result.code == 1
    assert "damaged" in result.err
    # The first that reads them; to the other dataset they are not cached any more.
    page = (own / "site" / "datasets" / "other.html").read_text("utf-8")
    assert "damaged" in page.split("This dataset can't be used")[1]


def test_slow_site_says_how_far_it_is(run: Run, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("registry.plugins.site.command._EVERY_SECONDS", -1)
    assert run("site", "--out", "site").err == "1 of 2 pages\n2 of 2 pages\n"
    assert run("site", "--out", "site", "--json").err == ""


def test_names_and_tags_select_datasets(run: Run, own: Path) -> None:
    assert run("site", "--out", "site", "--tag", "second").code == 0
    assert sorted(file.name for file in Path("site/datasets").iterdir()) == ["other.html"]
    assert run("site", "--out", "site", "qa").code == 0
    assert sorted(file.name for file in Path("site/datasets").iterdir()) == ["qa.html"]


def test_pages_made_from_elsewhere_have_no_path_of_this_machine(
    run: Run, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own / "datasets.yaml").write_text(f"{MANIFEST}include: ['*.yml']\n", "utf-8")
    (own / "bad.yml").write_text("datasets: [", "utf-8")
    monkeypatch.chdir("/")
    result = run("site", "--root", str(own), "--out", str(own / "site"), "--build")
    shown = str(own).removeprefix("/")
    assert f"error: {shown}/bad.yml:2" in result.err
    files = [file for file in (own / "site").rglob("*") if file.is_file()]
    assert [file for file in files if shown in file.read_text("utf-8")] == []


def test_folder_of_others_is_refused(run: Run, own: Path) -> None:
    result = run("site", "--out", ".")
    assert result.code == 1
    assert "did not write (choose another folder, or add --force" in result.err
    assert sorted(path.name for path in own.iterdir()) == ["datasets.yaml", "qa.jsonl"]
    assert run("site", "--out", ".", "--force").code == 0
    assert (own / "qa.jsonl").exists()


@pytest.mark.parametrize(
    "broken", ["datasets:\n  bad: {source: [}\n  good: {extends: qa}\n", "[\n"]
)
def test_file_that_can_not_be_read_or_only_in_part_is_listed(
    broken: str, run: Run, own: Path
) -> None:
    (own / "m.yaml").write_text(broken, "utf-8")
    (own / "datasets.yaml").write_text(f"{MANIFEST}include: [m.yaml]\n", "utf-8")
    result = run("site", "--out", "site")
    assert (result.code, result.err.count("error: m.yaml:2:")) == (1, 1)
    home = (own / "site" / "index.html").read_text("utf-8")
    assert "Files that can't be read:</strong></p>\n<ul><li>m.yaml:2:" in home


def test_all_links_lead_to_files_of_the_site_and_a_second_run_gives_its_bytes(
    run: Run, own: Path
) -> None:
    site = own / "site"
    assert run("site", "--out", "site", "--build").code == 0
    for page in site.rglob("*.html"):
        for link in re.findall(r'(?:href|src)="([^"#]+)', page.read_text("utf-8")):
            assert link == "data:," or (page.parent / unquote(link)).resolve().is_file(), page
    first = {file: file.read_bytes() for file in site.rglob("*") if file.is_file()}
    assert run("site", "--out", "site").code == 0
    assert {file: file.read_bytes() for file in site.rglob("*") if file.is_file()} == first
