"""`correct`: from a corrected copy to a file that gives the same samples."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from registry import get_dataset
from tests.cli.invocation import Run

MANIFEST = """
version: 1
datasets:
  q:
    description: Questions.
    license: mit
    source: {{type: json, path: q.jsonl}}
    fields: {{input: q, target: a{id}, metadata: [n]}}
"""


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    """Write a catalog, and a corrected copy of its file."""
    records = [{"k": f"q{n}", "q": f"{n}?", "a": str(n), "n": n} for n in range(5)]
    write(tmp_path / "q.jsonl", records)
    fixed = [one for one in records if one["n"] != 3]
    fixed[1] = {**fixed[1], "a": "one"}
    fixed[2] = {**fixed[2], "q": "2: two?", "n": 22}
    write(tmp_path / "fixed.jsonl", fixed)
    (tmp_path / "datasets.yaml").write_text(MANIFEST.format(id=", id: k"), encoding="utf-8")
    return tmp_path


def write(path: Path, records: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")


def values(root: Path, **options: object) -> list[tuple[object, ...]]:
    found = get_dataset("q", root=root, **options)  # type: ignore[arg-type]
    return [(one.id, one.input, one.target, one.metadata) for one in found]


def test_the_inferred_corrections_give_the_copy(copies: Path, run: Run) -> None:
    original = values(copies)
    (copies / "schemas").mkdir()
    (copies / "schemas" / "corrections.schema.json").write_text("{}")
    options = ("--out", str(copies / "e.yaml"), "--license", "mit", "--by", "Ann")
    result = run("correct", "q", str(copies / "fixed.jsonl"), *options, "--root", str(copies))
    assert result.code == 0
    counted = "4 rows, 2 samples changed, 1 left out"
    assert f"{counted} (add `corrections: e.yaml` to q, and review it)" in result.out
    first, *_ = (copies / "e.yaml").read_text(encoding="utf-8").splitlines()
    assert first == "# yaml-language-server: $schema=schemas/corrections.schema.json"
    path = copies / "datasets.yaml"
    path.write_text(path.read_text(encoding="utf-8") + "    corrections: e.yaml\n", "utf-8")
    copy = values(copies, source=str(copies / "fixed.jsonl"), corrections=False)
    assert values(copies) == copy != original
    assert values(copies, corrections=False) == original
    assert run("validate", "--root", str(copies)).code == 0
    assert run("correct", "q", "fixed.jsonl", *options, "--root", str(copies)).code == 1


def test_the_examples_before_a_question_are_no_part_of_it(copies: Path, run: Run) -> None:
    shots = "    fewshot: {dataset: dev, n: 1, apply: true}\n"
    dev = "  dev: {source: {type: json, path: dev.jsonl}, fields: {input: q, target: a}}\n"
    write(copies / "dev.jsonl", [{"q": "An example?", "a": "yes"}])
    path = copies / "datasets.yaml"
    path.write_text(MANIFEST.format(id=", id: k") + shots + dev, encoding="utf-8")
    result = run("correct", "q", str(copies / "fixed.jsonl"), "--root", str(copies))
    assert 'field: "input"\n    was: "2?"\n    now: "2: two?"\n' in result.out


def test_a_copy_that_lacks_samples_is_not_sampled(copies: Path, run: Run) -> None:
    keys = "    sample: {n: 2, seed: 1}\n    expect: {samples: 2}\n"
    (copies / "datasets.yaml").write_text(MANIFEST.format(id=", id: k") + keys, encoding="utf-8")
    result = run("correct", "q", str(copies / "fixed.jsonl"), "--root", str(copies))
    assert result.code == 0
    assert re.findall("- id: (.*)\n(.*)", result.out) == [
        ('"q1"', '    field: "target"'),
        ('"q2"', '    field: "input"'),
        ('"q2"', '    field: "metadata.n"'),
        ('"q3"', "    drop: true"),
    ]


def test_a_missing_copy_is_named(copies: Path, run: Run) -> None:
    result = run("correct", "q", str(copies / "fixt.jsonl"), "--root", str(copies))
    assert result.code == 1
    assert "did you mean" in result.err


def test_what_is_only_in_the_copy_is_reported(copies: Path, run: Run) -> None:
    more: list[dict[str, object]] = [
        {"k": f"q{n}", "q": f"{n}?", "a": str(n), "n": n} for n in (0, 9)
    ]
    write(copies / "more.jsonl", more)
    result = run("correct", "q", str(copies / "more.jsonl"), "--root", str(copies))
    assert result.code == 1
    assert "1 sample only in" in result.err
    assert "a correction adds none (id 'q9')" in result.err


def test_a_copy_with_other_ids_is_not_taken_for_an_empty_one(copies: Path, run: Run) -> None:
    write(copies / "other.jsonl", [{"k": "x0", "q": "0?", "a": "0", "n": 0}])
    result = run("correct", "q", str(copies / "other.jsonl"), "--root", str(copies))
    assert (result.code, result.out) == (1, "")
    assert "has an id of q ('q0'; 'x0'): give the copy as a file, whose ids q maps" in result.err


def test_records_name_samples_without_ids(copies: Path, run: Run) -> None:
    (copies / "datasets.yaml").write_text(MANIFEST.format(id=""), encoding="utf-8")
    records = [{"q": f"{n}?", "a": str(n % 4), "n": n} for n in range(5)]
    write(copies / "fixed.jsonl", records)
    result = run("correct", "q", str(copies / "fixed.jsonl"), "--root", str(copies))
    assert '- record: 5\n    field: "target"\n    was: "4"\n    now: "0"\n' in result.out


def test_an_equal_copy_has_no_corrections(copies: Path, run: Run) -> None:
    result = run("correct", "q", str(copies / "q.jsonl"), "--root", str(copies))
    assert result.code == 1
    assert "there is nothing to correct" in result.err
