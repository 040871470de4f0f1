"""Where a manifest is written, and the index and schemas that are missing there."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.catalog.catalog import Catalog
from registry.cli.adding.destination import destination_of, write_manifest
from registry.errors import ManifestError
from registry.settings import Settings

MANIFEST = "datasets:\n  d: {source: {type: csv, path: q.csv}, fields: {input: q}}\n"


def settings(folder: Path) -> Settings:
    return Settings(index=folder / "datasets.yaml", cache_dir=folder / "cache")


def names(paths: object) -> list[str]:
    assert isinstance(paths, dict)
    return [path.name for path in paths]


def test_folder_without_an_index_gets_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = destination_of(settings(tmp_path), "d")
    assert found.target == tmp_path / "registry" / "d.yaml"
    assert found.schema == "../schemas/manifest.schema.json"
    write_manifest(found, MANIFEST)
    assert list(Catalog.open(tmp_path)) == ["d"]
    assert capsys.readouterr().out.splitlines()[::5] == [
        "wrote registry/d.yaml: review it",
        "wrote datasets.yaml",
    ]


def test_index_lacks_only_the_schema_of_manifests(tmp_path: Path) -> None:
    (tmp_path / "datasets.yaml").write_text("version: 1\ninclude: [sets/**/*.yml]\n")
    found = destination_of(settings(tmp_path), "d")
    assert found.target == tmp_path / "sets" / "d.yml"
    assert names(found.missing) == ["manifest.schema.json"]
    schema = tmp_path / "schemas" / "manifest.schema.json"
    schema.parent.mkdir()
    schema.write_text("{}")
    assert names(destination_of(settings(tmp_path), "d").missing) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "datasets.yaml").write_text("version: 1\ninclude: [registry/*.yaml]\n")
    (tmp_path / "registry").mkdir()
    (tmp_path / "registry" / "d.yaml").write_text(MANIFEST.replace("d:", "other:", 1))
    with pytest.raises(ManifestError, match="already exists and is not overwritten"):
        destination_of(settings(tmp_path), "d")


def test_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"nowhere"):
        destination_of(settings(tmp_path / "nowhere"), "d")
