"""Row 1: a rename must not hide what else changes, in any format."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.security.pull_request import PullRequest

INDEX = "version: 1\ninclude: [m/*.yaml]\n"
DATA = "q,a,b\nOne?,1,2\nTwo?,2,3\n"
MANIFEST = """\
datasets:
  {name}:
    license: {license}
    tags: [{tag}]
    source: {{type: csv, path: qa.csv}}
    fields: {{input: q, target: {target}}}
    expect: {{samples: {samples}}}
    limit: {limit}
"""
BASE = {
    "name": "quiz", "license": "MIT", "tag": "safe", "target": "a", "samples": 2, "limit": 2
}  # fmt: skip
CHANGES: dict[str, tuple[dict[str, object], str, str, str]] = {
    "license": ({"license": "Proprietary"}, "license", "MIT", "Proprietary"),
    "tags": ({"tag": "unsafe"}, "tags", '["safe"]', '["unsafe"]'),
    "expect": ({"samples": 7}, "expect.samples", "2", "7"),
    "limit": ({"limit": 1}, "limit", "2", "1"),
    "answers": ({"target": "b"}, "fields.target", "a", "b"),
}


def renamed(folder: Path, changed: dict[str, object]) -> PullRequest:
    files = {"datasets.yaml": INDEX, "qa.csv": DATA, "m/qa.yaml": MANIFEST.format(**BASE)}
    head = MANIFEST.format(**{**BASE, "name": "exam", **changed})
    return PullRequest.make(folder, files, {"m/qa.yaml": head})


@pytest.mark.parametrize("case", CHANGES)
def test_rename_is_shown_with_each_changed_value_in_every_format(tmp_path: Path, case: str) -> None:
    changed, key, old, new = CHANGES[case]
    request = renamed(tmp_path, changed)
    text = request.run("diff", "main")
    assert text.code == 1
    assert "→ exam: renamed from quiz; " in text.out
    assert f"  {key}: {old} → {new}  m/qa.yaml:" in text.out
    markdown = request.run("diff", "main", "--format", "markdown").out
    assert "#### `exam` · renamed; " in markdown
    assert "- from `quiz`" in markdown
    assert f"- `{key}`: `{old}` → `{new}`" in markdown
    (change,) = request.run("diff", "main", "--json").json["changes"]
    assert (change["status"], change["old_name"]) == ("renamed", "quiz")
    assert [one["key"] for one in change["keys"]] == [key]


def test_samples_of_a_renamed_dataset_are_compared(tmp_path: Path) -> None:
    request = renamed(tmp_path, {"target": "b"})
    out = request.run("diff", "main", "--build", "--offline").out
    assert "samples: 2 → 2: 2 changed (target)" in out
    assert "target: [-1-]{+2+}" in out


def test_rename_without_other_changes_stays_one_line(tmp_path: Path) -> None:
    out = renamed(tmp_path, {}).run("diff", "main").out
    lines = out.splitlines()
    assert lines[0] == "exam: renamed"
    assert lines[2:] == [
        "new reach: none beyond what the base reaches",
        "",
        "→ exam: renamed from quiz  m/qa.yaml:3",
    ]
