"""What a bundle of a catalog has is what a reader of the bundle finds that its datasets need."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
import yaml

from registry.cache.cache import Cache
from registry.catalog.catalog import Catalog
from registry.cli import main
from registry.plugins.bundle.bundled_files import listed_files
from registry.plugins.bundle.unbundle import unbundle
from tests.conftest import CatalogRoot
from tests.plugins.bundle.conftest import packed

FIELDS = "fields: {input: q, target: a}"
ROWS = [
    {"q": "1", "a": "2", "f": {"x": "one.txt"}},
    {"q": "3", "a": "4", "f": {"y": "inner/two.txt", "z": "inline"}},
]


@pytest.fixture
def root(catalog_root: CatalogRoot) -> Path:
    """Give a catalog whose datasets need files of every kind."""
    text = "datasets: {NAME: {source: SOURCE, FIELDS}}".replace("FIELDS", FIELDS)
    sources = {
        "parts": "{type: csv, path: 'parts/*.csv'}",
        "member": "{type: csv, path: 'zip://in/rows.csv::all.zip'}",
        "named": "{type: json, path: data/rows.jsonl}",
    }
    manifests = {
        name: text.replace("NAME", name).replace("SOURCE", source)
        for name, source in sources.items()
    }
    manifests["named"] = manifests["named"].replace("target: a", "target: a, files: f")
    manifests["child"] = "datasets: {child: {extends: named, limit: 1}}"
    root = catalog_root(manifests)
    (root / "parts").mkdir()
    (root / "data" / "inner").mkdir(parents=True)
    for name in ("a", "b"):
        (root / "parts" / f"{name}.csv").write_text(f"q,a\n{name},1\n", "utf-8")
    with zipfile.ZipFile(root / "all.zip", "w") as archive:
        archive.writestr("in/rows.csv", "q,a\n1,2\n")
    rows = "".join(f"{json.dumps(row)}\n" for row in ROWS)
    (root / "data" / "rows.jsonl").write_text(rows, "utf-8")
    for name in ("one.txt", "inner/two.txt", "other.txt"):
        (root / "data" / name).write_text(name, "utf-8")
    (root / "extra.yaml").write_text("datasets: {}\n", "utf-8")
    index = root / "datasets.yaml"
    include = "include: [registry/*.yaml"
    assert include in index.read_text("utf-8")
    index.write_text(index.read_text("utf-8").replace(include, f"{include}, extra.yaml"), "utf-8")
    assert main(["lock", "--root", str(root)]) == 0
    return root


@pytest.mark.parametrize(
    ("names", "files"),
    [
        (["parts"], {"parts/a.csv", "parts/b.csv"}),
        (["member"], {"all.zip"}),
        (["named"], {"data/rows.jsonl", "data/one.txt", "data/inner/two.txt"}),
        (["child", "parts"], {"data/rows.jsonl", "data/one.txt", "parts/a.csv", "parts/b.csv"}),
    ],
)
def test_a_bundle_is_accepted_with_all_that_its_datasets_need(
    root: Path, tmp_path: Path, names: list[str], files: set[str]
) -> None:
    file = packed(root, tmp_path, *names).file
    done = unbundle(file, tmp_path / "new", Cache(tmp_path / "second"), report=lambda *_: None)
    found = {name for name in done.written if not name.endswith((".yaml", ".lock"))}
    assert found == files
    assert "extra.yaml" in done.written


def test_manifests_that_the_index_names_are_listed_without_those_of_patterns(root: Path) -> None:
    assert list(listed_files(Catalog.open(root))) == [root / "extra.yaml"]


def test_a_pattern_of_the_index_may_match_nothing_in_a_bundle(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = yaml.safe_load((root / "datasets.yaml").read_text("utf-8"))
    source = {"type": "csv", "path": "parts/a.csv"}
    index["datasets"] = {"own": {"source": source, "fields": {"input": "q", "target": "a"}}}
    (root / "datasets.yaml").write_text(yaml.safe_dump(index), "utf-8")
    file, new = str(tmp_path / "out.tar.zst"), str(tmp_path / "new")
    assert main(["lock", "own", "--root", str(root)]) == 0
    assert main(["bundle", "own", "-o", file, "--root", str(root)]) == 0
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "second"))
    assert main(["unbundle", file, "--root", new]) == 0
    assert main(["sync", "own", "--offline", "--locked", "--root", new]) == 0
    assert not Path(new, "registry").exists()
