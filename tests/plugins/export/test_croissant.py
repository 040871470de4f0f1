"""A folder with data and their description; tests/interop has mlcroissant read it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
from msgspec.structs import replace

from registry.base.fs import file_sha256
from registry.plugins.export.croissant import write
from tests.plugins.export.conftest import Opener


def test_description_names_the_file_and_every_column(opened: Opener, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    exported = opened("mixed")
    member = replace(exported.provenance, name="board/one")
    exported = replace(exported, provenance=member)
    write(exported, folder)
    found = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    data = folder / "samples.parquet"
    (file,) = found["distribution"]
    assert file["sha256"] == file_sha256(data)
    assert file["contentSize"] == f"{data.stat().st_size} B"
    assert (found["name"], found["license"]) == ("board/one", "mit")
    assert found["url"] == "https://example.org/mixed"
    assert found["identifier"] == exported.provenance.fingerprint
    (records,) = found["recordSet"]
    assert [field["name"] for field in records["field"]] == pq.read_schema(data).names
    assert json.loads((folder / "provenance.json").read_text()) == exported.provenance.as_data()
