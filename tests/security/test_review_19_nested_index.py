"""Row 19: an index below the catalog takes over in its folder, so that a change of one is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git_repository import write_files
from tests.security.pull_request import PullRequest

INDEX = "version: 1\ninclude: [m/*.yaml]\n"
DATASETS = """\
datasets:
  demo:
    description: Demo.
    license: MIT
    source: {type: json, path: d.jsonl}
"""
NESTED = f"version: 1\ntrust: [evil:run]\nhosts: [10.0.0.1]\n{DATASETS}"
BASE = {
    "datasets.yaml": INDEX,
    "m/d.yaml": DATASETS,
    "d.jsonl": '{"input": "x"}\n',
    "fixtures/datasets.yaml": "version: 1  # registry: ignore nested-index -- a fixture\n",
}
CHANGES = {
    "added": ("evals/datasets.yaml", NESTED),
    "changed": ("fixtures/datasets.yaml", NESTED),
    "removed": ("fixtures/datasets.yaml", None),
}
FACTS = "; permits hosts: 10.0.0.1, trust: evil:run; defines demo, as the catalog does"


@pytest.mark.parametrize("case", CHANGES)
def test_diff_lists_it_as_reach(tmp_path: Path, case: str) -> None:
    name, text = CHANGES[case]
    change = PullRequest.make(tmp_path, BASE, {name: text})
    diff = change.run("diff", "main", "--json")
    expected = f"{name}: {case}{FACTS if text else ''}"
    (reach,) = diff.json["reach"]
    assert (reach["kind"], reach["name"]) == ("nested index", expected)
    assert (diff.code, diff.json["headline"]) == (1, "1 new in reach")
    failed = change.run("diff", "main", "--fail-on", "reach")
    assert failed.code == 1
    assert failed.err == f"error: --fail-on reach: nested index {expected}\n"


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_each_format_names_it(tmp_path: Path, form: str) -> None:
    change = PullRequest.make(tmp_path, BASE, {"evals/datasets.yaml": NESTED})
    shown = change.run("diff", "main", "--format", form)
    assert shown.code == 1
    assert "evals/datasets.yaml" in shown.out
    assert "trust: evil:run" in shown.out.replace("\n", " ")
    assert "no differences" not in shown.out


def test_what_it_includes_is_read_by_the_rules_of_the_base(tmp_path: Path) -> None:
    write_files(tmp_path, {"outside.yaml": DATASETS})
    text = f"version: 1\npaths: ['{tmp_path}']\ninclude: ['{tmp_path}/*.yaml']\n"
    change = PullRequest.make(tmp_path / "work", BASE, {"evals/datasets.yaml": text})
    (one,) = change.run("diff", "main", "--json").json["reach"]
    assert one["name"] == f"evals/datasets.yaml: added; permits paths: {tmp_path}"


def test_unchanged_index_is_no_difference(tmp_path: Path) -> None:
    change = PullRequest.make(tmp_path, BASE, {"README.md": "new\n"})
    assert change.run("diff", "main").code == 0
    assert change.run("validate", "--strict", "--config-from", "main").code == 0


def test_validate_reports_it_also_after_a_clean_run(tmp_path: Path) -> None:
    change = PullRequest.make(tmp_path, BASE, {"README.md": "new\n"})
    for _ in range(2):
        assert change.run("validate", "--strict").out == "no problems (1 dataset)\n"
    change.push({"evals/datasets.yaml": NESTED})
    shown = change.run("validate", "--strict")
    assert shown.code == 1
    assert shown.out.startswith("evals/datasets.yaml:1:1: warning: whoever works in this folder")
    assert "not those of datasets.yaml (move it, or ignore it" in shown.out
