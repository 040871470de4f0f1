"""Row 15: the name of the checkout's folder in samples is text like any other.

A runner's folder is known (`/home/runner/work/NAME/NAME`), so a change can write it into an answer.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.security.pull_request import PullRequest

INDEX = "version: 1\ninclude: [m/*.yaml]\n"
SOURCE = "datasets:\n  demo:\n    source: {type: csv, path: d.csv%s}\n"
FILES = {"datasets.yaml": INDEX, "m/d.yaml": SOURCE % ""}
PUSHED = {"notes.txt": "a commit"}


def test_folder_before_a_target_is_a_difference(tmp_path: Path) -> None:
    change = PullRequest.make(tmp_path, {**FILES, "d.csv": "id,input,target\n1,q,20\n"}, PUSHED)
    change.push({"d.csv": f"id,input,target\n1,q,{change.folder}/20\n"})
    shown = change.run("diff", "main", "--build", "--offline", "--json", "--fail-on", "targets")
    (changed,) = shown.json["changes"]
    assert (shown.code, changed["samples"]["fields"]) == (1, {"target": 1})


def test_folder_in_an_option_of_a_source_is_a_difference(tmp_path: Path) -> None:
    files = {**FILES, "m/d.yaml": SOURCE % ", columns: {note: x}"}
    change = PullRequest.make(tmp_path, {**files, "d.csv": "x,input,target\n1,q,20\n"}, PUSHED)
    columns = f", columns: {{note: '{change.folder}/x'}}"
    change.push({"m/d.yaml": SOURCE % columns})
    shown = change.run("diff", "main", "--offline", "--json")
    (changed,) = shown.json["changes"]
    assert changed["keys"][0]["new"]["value"] == f"{change.folder}/x"


@pytest.mark.parametrize("build", [[], ["--build"]])
def test_files_of_samples_are_equal_in_another_folder(tmp_path: Path, build: list[str]) -> None:
    files = {"data/d.jsonl": '{"id": 1, "input": "q", "files": {"a": "a.txt"}, "setup": "s.sh"}\n'}
    manifest = {"m/d.yaml": (SOURCE % "").replace("csv, path: d.csv", "json, path: data/d.jsonl")}
    both = {"datasets.yaml": INDEX, **manifest, **files, "data/a.txt": "x", "data/s.sh": "x"}
    change = PullRequest.make(tmp_path, both, {"m/d.yaml": f"{manifest['m/d.yaml']}    limit: 9\n"})
    shown = change.run("diff", "main", *build, "--offline", "--json")
    (changed,) = shown.json["changes"]
    assert [one["key"] for one in changed["keys"]] == ["limit"]
    assert changed["samples"]["fields"] == {}
