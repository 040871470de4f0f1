"""`describe`: numbers and plots for people, screen readers and programs."""

from __future__ import annotations

import json
from pathlib import Path

from registry import get_dataset
from tests import command_line
from tests.cli.invocation import Run


def test_columns_come_before_plots(run: Run, demo: Path) -> None:
    lines = run("describe", "demo-mcq").lines
    assert lines[:4] == [
        "demo-mcq: 50 samples",
        "input      all  16 to 92 characters, median 50",
        "choices    all  4 choices 50",
        "target     all  A 13, B 13, D 12, C 12",
    ]
    start = lines.index("Targets")
    assert lines[start + 1].startswith("  A  13    ████")
    assert max(map(len, lines)) <= 80


def test_plain_has_no_columns_and_no_bars(run: Run, demo: Path) -> None:
    lines = run("describe", "demo-mcq", "--plain").lines
    assert "choices: all; 4 choices 50" in lines
    assert "A: 13" in lines
    assert not any("  " in line or "█" in line for line in lines)


def test_json_is_that_of_the_dataset(run: Run, demo: Path) -> None:
    data = json.loads(run("describe", "demo-mcq", "--json").out)
    assert data == json.loads(json.dumps(get_dataset("demo-mcq").describe().to_dict()))
    assert data["plots"][1] == {
        "title": "Targets",
        "bars": [
            {"label": "A", "count": 13},
            {"label": "B", "count": 13},
            {"label": "D", "count": 12},
            {"label": "C", "count": 12},
        ],
        "note": "",
    }


def test_questionable_samples_are_warned_of(run: Run, own: Path) -> None:
    (own / "qa.csv").write_text("q,a\nOne?,\nOne?,1\n", encoding="utf-8")
    result = run("describe", "qa")
    assert result.code == 0
    assert "  repeated   1 *" in result.out
    assert "(blank)  1 *" in result.out
    assert "warning: qa: " in result.err


def test_hostile_targets_control_nothing(run: Run, own: Path) -> None:
    (own / "qa.csv").write_text("q,a\nOne?,\x1b[31m::error::x\nTwo?,y\u202e\n", encoding="utf-8")
    result = run("describe", "qa")
    assert "\x1b" not in result.out
    assert "\u202e" not in result.out


def test_plots_are_ascii_where_the_encoding_is(demo: Path) -> None:
    ascii_only = "import sys; sys.stdout.reconfigure(encoding='ascii')"
    lines = command_line.run(demo, "describe", "demo-mcq", before=ascii_only).out.splitlines()
    assert all(map(str.isascii, lines))
    assert lines[lines.index("Input length") + 1].startswith("  10-19   2    ####")


def test_near_duplicates_of_the_examples_are_counted(run: Run, own: Path) -> None:
    words = " ".join(f"word{number}" for number in range(15))
    (own / "qa.csv").write_text(f"q,a\nNew {words}?,1\nShort?,2\nOther,3\n", encoding="utf-8")
    (own / "dev.csv").write_text(f"q,a\nUnique,1\nOld: {words}.,2\nshort,9\n", encoding="utf-8")
    manifest = (
        "datasets:\n"
        "  dev:\n    source: {type: csv, path: dev.csv}\n    fields: {input: q, target: a}\n"
        "  near:\n    extends: dev\n    source: {path: qa.csv}\n"
        "    fewshot: {dataset: dev, n: 1, apply: true}\n"
        "    fields: {metadata: [a]}\ngroups: {by: {from: near, by: a, values: ['1', '2', '3']}}\n"
    )
    (own / "near.yaml").write_text(manifest, encoding="utf-8")
    (own / "datasets.yaml").write_text("version: 1\ninclude: [near.yaml]\n", encoding="utf-8")
    line = "near: 2; share 13 words in a row with dev: 2 and its 3 (100%), 1 and its 2 (75%)"
    assert line in run("describe", "near", "--plain").lines
    line = "near: 1; share 13 words in a row with dev: 1 and its 3 (100%)"
    assert line in run("describe", "by/2", "--plain").lines, "numbers are those of the member"
    data = json.loads(run("describe", "near", "--json").out)["near_duplicates"]
    assert data["pairs"][0] == {"sample": 1, "other": 2, "share": 0.75}
