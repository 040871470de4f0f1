"""`stats` counts what the catalog has, and builds nothing."""

from __future__ import annotations

from pathlib import Path

from tests.cli.invocation import Run, write

OPERATIONS = """\
datasets:
  mapped:
    license: mit
    tags: [small, mapped]
    languages: [te, en]
    source: {type: json, path: x.jsonl}
    fields:
      input: {from: q, do: [strip, {split: ","}, {join: ";"}]}
      metadata: {n: {from: a, do: [int]}}
    where: {value: {from: a, do: [strip]}, not_equals: x}
"""


def test_json_has_all_counts(run: Run, own: Path) -> None:
    write(own, "mapped", OPERATIONS)
    assert run("sync", "qa-one").code == run("lock", "qa").code == 0
    data = run("stats", "--json").json
    assert data.pop("cached_bytes") > 0
    assert data == {
        "datasets": 3,
        "samples": 4,
        "with_known_samples": 2,
        "cached": 2,
        "locked": 1,
        "stale": 0,
        "newer": 0,
        "sources": {"csv": 2, "json": 1},
        "states": {"floating": 2, "verified": 1},
        "license_classes": {"not looked for": 2, "any use": 1},
        "licenses": {"(none)": 2, "mit": 1},
        "tags": {"small": 3, "text": 1, "mapped": 1},
        "languages": {"(none)": 2, "te": 1, "en": 1},
        "operations": {"strip": 1, "split": 1, "join": 1, "int": 1},
    }


def test_text_has_a_summary_and_plots(run: Run, own: Path) -> None:
    lines = run("stats").lines
    assert lines[:2] == ["2 datasets", "samples unknown, 0 cached (0 B), 0 locked"]
    assert lines[lines.index("Datasets by type of source") + 1].startswith("  csv  2    ██")
    plain = run("stats", "--plain").lines
    assert "csv: 2" in plain


def test_tags_select_datasets_and_nothing_is_built(run: Run, own: Path, cache_dir: Path) -> None:
    assert run("stats", "--tag", "text", "--json").json["datasets"] == 1
    assert run("stats", "--tag", "none").code == 2
    assert not list(cache_dir.glob("v*/samples/*"))
