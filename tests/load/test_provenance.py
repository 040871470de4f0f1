"""A dataset says where its samples come from, without a folder, a user or a secret."""

from __future__ import annotations

import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from pytest_httpserver import HTTPServer

from registry import Dataset, get_dataset
from registry.cli import main
from registry.load.provenance import catalog_version
from registry.samples.provenance import CatalogVersion
from registry.settings import INDEX_NAME
from registry.store.arrow_dataset import ArrowDataset
from tests.git_repository import GitRepository, git, write_files

ROWS = "id,q,a\n1,one?,x\n2,longer two?,y\n3,three?,z\n4,four?,w\n"
QA: dict[str, Any] = {
    "license": "mit",
    "source": {"type": "csv", "path": "data/qa.csv"},
    "fields": {"id": "id", "input": "q", "target": "a"},
}


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "jane" / "catalog"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "qa.csv").write_text(ROWS, encoding="utf-8")
    few = {"extends": "qa", "shuffle": True, "seed": 7, "limit": 2}
    write(folder, {"qa": QA, "few": few})
    monkeypatch.chdir(folder)
    monkeypatch.setenv("REGISTRY_ROOT", str(folder))
    return folder


def write(folder: Path, datasets: dict[str, Any]) -> None:
    text = yaml.safe_dump({"version": 1, "datasets": datasets})
    (folder / "datasets.yaml").write_text(text, encoding="utf-8")


def test_it_names_samples_bytes_manifest_and_view(catalog: Path) -> None:
    found = get_dataset("few").provenance
    assert (found.name, found.samples, found.license) == ("few", 2, "mit")
    assert found.view == {"shuffle": True, "seed": 7, "limit": 2}
    (row,) = found.pins
    assert (row.location, row.size) == ("data/qa.csv", len(ROWS))
    assert str(catalog.parent) not in json.dumps(found.as_data())
    assert found == get_dataset("few").provenance
    other = get_dataset("few", seed=8).provenance
    assert (other.ordered, other.manifest) != (found.ordered, found.manifest)
    assert other.fingerprint == found.fingerprint


def test_state_and_digest_are_those_of_the_lock_while_it_pins_the_manifest(catalog: Path) -> None:
    assert get_dataset("qa").provenance.state == "floating"
    assert main(["lock"]) == 0
    (pins,) = yaml.safe_load_all((catalog / "datasets.lock").read_text(encoding="utf-8"))
    for name in ("qa", "few"):
        found = get_dataset(name).provenance
        assert (found.state, found.ordered) == ("verified", pins["datasets"][name]["ordered"])
        assert found.modified == ()
    # The bytes are those that were reviewed; this order of them nobody has pinned.
    seeded = get_dataset("few", seed=8).provenance
    assert seeded.state == "verified"
    assert seeded.ordered not in (None, found.ordered)
    write(catalog, {"qa": {**QA, "limit": 3}})
    assert get_dataset("qa").provenance.state == "floating"


def test_digest_of_the_lock_is_not_that_of_an_equal_value_of_another_type(catalog: Path) -> None:
    rows = '{"q": "1", "level": 1}\n{"q": "True", "level": true}\n{"q": "1.0", "level": 1.0}\n'
    (catalog / "data" / "v.jsonl").write_text(rows)
    source = {"type": "json", "path": "data/v.jsonl"}
    fields = {"input": "q", "target": "q", "metadata": ["level"]}
    write(catalog, {"v": {"source": source, "fields": fields, "only": {"level": 1}}})
    assert main(["lock"]) == 0
    digests = set()
    for value in (1, True, 1.0):
        found = get_dataset("v", only={"level": value})
        assert found[0].input == str(value)
        digests.add(found.provenance.ordered)
    assert len(digests) == 3


def change(dataset: Dataset) -> None:
    dataset[1].target = "other"


def change_in_a_loop(dataset: Dataset) -> None:
    for sample in dataset:
        if sample.id == "2":
            sample.target = "other"


@pytest.mark.parametrize(
    ("do", "modified"),
    [
        (lambda dataset: dataset.sort(reverse=True), "sorted"),
        (lambda dataset: dataset.shuffle(1), "shuffled"),
        (change, "changed: 2"),
        (change_in_a_loop, "changed: 2"),
    ],
)
def test_what_is_done_afterwards_is_named_and_changes_the_digest(
    catalog: Path, do: Any, modified: str
) -> None:
    dataset = get_dataset("qa")
    before = dataset.provenance
    do(dataset)
    after = dataset.provenance
    assert after.modified == (modified,)
    assert after.ordered not in (None, before.ordered)
    assert after.fingerprint == before.fingerprint
    assert pickle.loads(pickle.dumps(dataset)).provenance == after


def test_parts_say_how_they_were_chosen(catalog: Path) -> None:
    dataset = get_dataset("qa")
    assert dataset[:].provenance == dataset.provenance
    assert dataset[1:].provenance.modified == ("sliced",)
    assert dataset[[0, 2]].provenance.modified == ("selected",)
    part = dataset.filter(lambda sample: sample.id != "1")[:2]
    assert (part.provenance.modified, part.provenance.samples) == (("filtered", "sliced"), 2)


def test_nothing_was_read_for_a_digest_that_the_lock_has(
    catalog: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["lock"]) == 0
    dataset = get_dataset("qa")
    dataset.provenance  # noqa: B018 (the modules are loaded)

    monkeypatch.setattr("registry.samples.digest.digest_samples", None)
    assert dataset.provenance.ordered is not None


def test_no_secret_is_named_or_pickled(catalog: Path, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/qa.csv").respond_with_data(ROWS)
    url = httpserver.url_for("/qa.csv?token=canary")
    dataset = get_dataset("qa", source=url)
    found = json.dumps(dataset.provenance.as_data())
    assert "canary" not in found
    assert "/qa.csv?…" in json.loads(found)["pins"][0]["location"]
    assert isinstance(dataset, ArrowDataset)
    # What a pickled dataset has of it; the arguments of the call are in there as they were given.
    assert b"canary" not in pickle.dumps(dataset.described)


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("{}/mine.csv", "mine.csv"),
        ("{}/m*.csv", "mine.csv"),
        ("zip://in/*.csv::{}/mine.zip", "zip://in/x.csv::mine.zip"),
    ],
)
def test_file_outside_the_folder_is_named_without_its_folders(
    catalog: Path, tmp_path_factory: pytest.TempPathFactory, source: str, named: str
) -> None:
    outside = tmp_path_factory.mktemp("home-of-joe")
    (outside / "mine.csv").write_text(ROWS, encoding="utf-8")
    with zipfile.ZipFile(outside / "mine.zip", "w") as archive:
        archive.writestr("in/x.csv", ROWS)
    dataset = get_dataset("qa", source=source.format(outside))
    assert "home-of-joe" not in json.dumps(dataset.provenance.as_data())
    assert dataset.provenance.pins[0].location == named


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    repository = GitRepository.make(
        tmp_path / "repository", {f"evals/{INDEX_NAME}": "version: 1\n"}
    )
    return repository.folder / "evals"


def test_commit_and_uncommitted_changes_of_the_catalog(folder: Path) -> None:
    commit = git(folder, "rev-parse", "HEAD")
    assert catalog_version(folder) == CatalogVersion(commit=commit)
    (folder / "notes.txt").write_text("not read", encoding="utf-8")
    (folder.parent / "other.yaml").write_text("outside: 1", encoding="utf-8")
    assert not catalog_version(folder).changed
    write_files(folder, {"deep/new.yaml": "datasets: {}"})
    assert catalog_version(folder).changed


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://jane:canary@example.org/o/r.git", "https://example.org/o/r.git"),
        ("https://example.org/o/r.git?token=canary", "https://example.org/o/r.git?…"),
        ("ssh://jane@example.org/o/r.git", "ssh://example.org/o/r.git"),
        ("git@example.org:o/r.git", "example.org:o/r.git"),
        ("file:///home/jane/r.git", None),
        ("/home/jane/r.git", None),
        ("../r.git", None),
    ],
)
def test_remote_is_named_without_user_password_and_folder(
    folder: Path, url: str, shown: str | None
) -> None:
    git(folder, "remote", "add", "origin", url)
    assert catalog_version(folder).repository == shown


def test_folder_in_no_repository_or_only_below_one_has_no_commit(
    folder: Path, tmp_path: Path
) -> None:
    assert catalog_version(tmp_path) == CatalogVersion()
    installed = write_files(folder / ".venv" / "registry", {INDEX_NAME: "version: 1\n"})
    assert catalog_version(installed) == CatalogVersion()
    without_a_commit = write_files(tmp_path / "new", {INDEX_NAME: "version: 1\n"})
    git(without_a_commit, "init", "-q")
    git(without_a_commit, "add", ".")
    assert catalog_version(without_a_commit) == CatalogVersion()


def test_installed_catalog_is_named_by_its_package(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = folder / "site-packages"
    installed.mkdir()
    monkeypatch.setattr("registry.load.provenance.builtin_root", lambda: installed / INDEX_NAME)
    assert catalog_version(installed) == CatalogVersion(package="eval-registry")
