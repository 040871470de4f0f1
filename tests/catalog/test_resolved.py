"""A dataset that is resolved twice is the same object, unless something may be different."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from registry.catalog.catalog import Catalog
from registry.errors import ManifestError
from registry.manifest.resolve import resolve

INDEX = """\
version: 1
include: ["*.manifest.yaml"]
"""
MANIFEST = """\
datasets:
  one:
    source: {type: json, path: data/one.jsonl}
    fields: {input: question, metadata: {topic: subject}}
    limit: 1
  hub:
    source: {type: hf, path: org/name, split: test, revision: v1}
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "catalog"
    folder.mkdir()
    (folder / "datasets.yaml").write_text(INDEX, encoding="utf-8")
    (folder / "a.manifest.yaml").write_text(MANIFEST, encoding="utf-8")
    # Older than what the cache takes for changing still.
    for path in folder.iterdir():
        os.utime(path, (1_000_000_000, 1_000_000_000))
    Catalog.open(folder)
    return folder


CALLS: list[dict[str, Any]] = [
    {},
    {"overrides": {"limit": 5, "shuffle": False}},
    {"overrides": {"limit": 1}},
    {"source": "other.jsonl"},
    {"source": "other.csv"},
    {"source": "~/other.jsonl"},
    {"name": "hub"},
    {"name": "hub", "source": "folder"},
]


def test_equal_calls_give_one_spec_and_all_give_what_resolving_gives(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "folder").mkdir()
    monkeypatch.chdir(root)
    for given in CALLS:
        call = {"name": "one", **given}
        first, second = (Catalog.open(root).resolve(**call) for _ in range(2))
        catalog = Catalog.open(root)
        fresh = resolve(entries=catalog.entries, boundary=catalog.boundary, **call)
        assert first == second == fresh
        # What a folder has decides about the type of the source.
        assert (first is second) == (call.get("source") != "folder")


def test_a_changed_manifest_is_resolved_again(root: Path) -> None:
    old = Catalog.open(root).resolve("one")
    text = MANIFEST.replace("limit: 1", "limit: 2")
    (root / "a.manifest.yaml").write_text(text, encoding="utf-8")
    new = Catalog.open(root).resolve("one")
    assert (old.view.limit, new.view.limit) == (1, 2)


def test_a_source_is_relative_to_the_working_folder(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        found.append(Catalog.open(root).resolve("one", source="x.jsonl").source.base_location)
    assert found == [str(tmp_path / name / "x.jsonl") for name in ("a", "b")]


def test_the_home_folder_may_change(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for home in ("/a", "/b"):
        monkeypatch.setenv("HOME", home)
        found.append(Catalog.open(root).resolve("one", source="~/x.jsonl").source.base_location)
    assert found == ["/a/x.jsonl", "/b/x.jsonl"]


def test_a_path_that_has_become_a_link_outside_is_refused(root: Path, tmp_path: Path) -> None:
    assert Catalog.open(root).resolve("one").name == "one"
    (root / "data").symlink_to(tmp_path)
    with pytest.raises(ManifestError, match="outside the catalog's folder"):
        Catalog.open(root).resolve("one")


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("../x.jsonl", True),
        ("in/../../x.jsonl", True),
        ("[a.jsonl, ../x.jsonl]", True),
        ("/x.jsonl", False),
        ("~/x.jsonl", False),
        ("link/x.jsonl", False),
    ],
)
def test_the_hint_for_a_path_that_leads_up_says_where_paths_start(
    root: Path, tmp_path: Path, written: str, says: bool
) -> None:
    (root / "link").symlink_to(tmp_path)
    text = f"datasets: {{up: {{source: {{type: json, path: {written}}}}}}}\n"
    (root / "b.manifest.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ManifestError, match="outside the catalog's folder") as caught:
        Catalog.open(root).resolve("up")
    start = "(a relative path starts at the folder of datasets.yaml; if that is meant, add"
    assert (start in str(caught.value)) is says


def test_a_number_of_another_type_is_another_call(root: Path) -> None:
    assert Catalog.open(root).resolve("one", overrides={"limit": 1}).view.limit == 1
    with pytest.raises(ManifestError):
        Catalog.open(root).resolve("one", overrides={"limit": True})
