"""Open a dataset for an export: its view, and a provenance that no machine or cache changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from registry import get_dataset
from registry.cache.cache import Cache
from registry.catalog.catalog import Catalog
from registry.load.call import OpenCatalog
from registry.plugins.export.exported import open_exported, provenance_text
from registry.progress import Progress
from registry.samples.provenance import Provenance, read_provenance
from registry.settings import Settings
from tests.conftest import Https, OneDataset
from tests.plugins.export.conftest import Opener


def test_samples_are_reported(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("registry.plugins.export.exported._REPORT_ROWS", 2)
    seen: list[Progress] = []
    list(replace(opened("mixed"), report=seen.append).samples())
    assert seen == [Progress("write", 2, 4), Progress("write", 4, 4)]


def test_text_is_one_line_of_json_that_can_be_read_back() -> None:
    provenance = Provenance(name="né\n", samples=1)
    text = provenance_text(provenance)
    assert "\n" not in text
    assert read_provenance(json.loads(text)) == provenance


def test_fingerprint_is_that_of_all_samples_though_the_first_are_built_alone(
    https: Https, one_dataset: OneDataset, tmp_path: Path
) -> None:
    rows = (b"q" * 1000 + b",a\n") * (1 << 12)  # few of them are read whole
    url = https.put("/d.csv", b"q,a\n" + rows, etag="1")
    root = one_dataset({"type": "csv", "path": url}, limit=2)
    catalog, settings = Catalog.open(root), Settings.from_environment()
    get_dataset("data", root=root)
    of_first, of_empty, of_all = (
        open_exported(OpenCatalog(catalog, Cache(folder), settings).call_of("data", overrides))
        for folder, overrides in (
            (settings.cache_dir, None),
            (tmp_path / "empty", None),
            (tmp_path / "all", {"limit": None}),
        )
    )
    assert len(of_first.dataset) == len(of_empty.dataset) == 2
    assert of_first.provenance.fingerprint == of_all.provenance.fingerprint
    assert of_empty.provenance.fingerprint == of_all.provenance.fingerprint
    assert of_first.provenance.catalog is None, "most commits don't concern it"
