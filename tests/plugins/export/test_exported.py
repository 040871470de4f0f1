"""Open a dataset for an export: its view, and a provenance that no machine or cache changes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from registry import get_dataset
from registry.cli import main
from registry.plugins.export.exported import provenance_text
from registry.progress import Progress
from tests.plugins.export.conftest import Opener


def test_samples_are_those_of_the_view(opened: Opener) -> None:
    assert list(opened("few").samples()) == list(get_dataset("few"))
    limited = opened("mixed", shuffle=True, seed=1, limit=3)
    assert list(limited.samples()) == list(get_dataset("mixed", shuffle=True, seed=1, limit=3))
    assert limited.provenance["view"] == {"shuffle": True, "seed": 1, "limit": 3}


def test_provenance_is_the_same_for_a_part_and_a_full_cache(
    opened: Opener, catalog: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(catalog / "one"))
    part = opened("mixed", limit=1)
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(catalog / "two"))
    full = opened("mixed")
    after = opened("mixed", limit=1)
    assert part.provenance == after.provenance
    assert part.provenance["fingerprint"] == full.provenance["fingerprint"]


def test_provenance_does_not_depend_on_the_folder(
    opened: Opener, catalog: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = opened("mixed").provenance
    other = tmp_path / "other"
    other.mkdir()
    for name in ("datasets.yaml", "mixed.jsonl"):
        shutil.copy(catalog / name, other)
    monkeypatch.chdir(other)
    assert opened("mixed").provenance == here
    assert str(tmp_path) not in str(here)


def test_samples_are_reported(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("registry.plugins.export.exported._REPORT_ROWS", 2)
    seen: list[Progress] = []
    list(replace(opened("mixed"), report=seen.append).samples())
    assert seen == [Progress("write", 2, 4), Progress("write", 4, 4)]


def test_provenance_has_licence_view_and_digests(opened: Opener, catalog: Path) -> None:
    found = opened("few").provenance
    assert {key: found[key] for key in ("dataset", "license", "samples", "view", "source")} == {
        "dataset": "few",
        "license": "mit",
        "samples": 2,
        "view": {"shuffle": True, "seed": 7, "limit": 2},
        "source": ["mixed.jsonl"],
    }
    assert found["description"] == "Samples of every kind."
    assert found["fingerprint"].startswith("sha256:")
    assert found["pin"] is None


def test_pin_is_included_while_it_is_that_of_the_manifest(opened: Opener, catalog: Path) -> None:
    assert main(["lock", "mixed"]) == 0
    found = opened("mixed", limit=1).provenance
    assert found["pin"]["sources"][0]["location"] == "mixed.jsonl"
    assert found["pin"]["samples"] == 4
    index = catalog / "datasets.yaml"
    index.write_text(index.read_text().replace("more: more", "other: more"), encoding="utf-8")
    assert opened("mixed").provenance["pin"] is None


def test_text_is_one_line_of_json() -> None:
    assert provenance_text({"license": "né\n"}) == '{"license":"né\\n"}'
    assert json.loads(provenance_text({"pin": None})) == {"pin": None}
