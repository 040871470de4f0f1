"""The provenance: documentation, digests, the pin, and no path of this machine."""

from __future__ import annotations

import json
from pathlib import Path

from registry.cli import main
from registry.plugins.export.provenance import provenance_text
from tests.plugins.export.conftest import Opener


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
