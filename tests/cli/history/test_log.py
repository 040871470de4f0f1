"""`log`: the commits that changed a dataset, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.history.story import Story
from tests.cli.invocation import Run
from tests.git_repository import git

CHANGES = {
    "mapped": ["mapping", "create"],
    "mixed": ["seed", "create"],
    "joined": ["lookup table", "create"],
    "boxed": ["named file", "create"],
    "few": ["ids", "limit", "few on main", "create"],
    "last-name": [
        "after the renames",
        "rename of the data",
        "between the renames",
        "rename of the dataset",
        "before the rename",
        "create",
    ],
}


def commit(folder: Path, *paths: str) -> None:
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "add", *(paths or ("--all",)))
    git(folder, "commit", "--quiet", "--message", "step")


@pytest.mark.parametrize("name", CHANGES)
def test_commits_that_changed_a_dataset_are_listed(name: str, story: Story, run: Run) -> None:
    result = run("log", name, "--json")
    assert result.code == 0
    assert [one["commit"]["id"] for one in result.json] == [
        story.commits[label] for label in CHANGES[name]
    ]


def test_both_sides_of_merges_are_listed_once(story: Story, run: Run) -> None:
    ids = [one["commit"]["id"] for one in run("log", "qa", "--json").json]
    assert len(set(ids)) == len(ids)
    wanted = ("documentation", "merge of both", "ours", "theirs", "on a side branch", "create")
    assert {story.commits[label] for label in wanted} <= set(ids)
    # It has what its branch had.
    assert story.commits["Merge pull request #7 from sid/side"] not in ids


def test_line_has_classes_keys_and_the_pin(story: Story, run: Run) -> None:
    (line,) = run("log", "mapped", "-n", "1").lines
    assert line.startswith(f"{story.commits['mapping'][:7]}  ")
    assert line.endswith("  Ann  targets: fields.target; not pinned")
    lines = run("log", "last-name").lines
    assert "renamed from first-name" in lines[3]
    assert lines[-1].endswith("added: as first-name; not pinned")


def test_pin_is_shown_as_the_lock_had_it(own: Path, run: Run) -> None:
    commit(own)
    assert run("lock", "qa").code == 0
    commit(own)
    pinned, first = run("log", "qa").lines
    assert "pin: version 1-A, 3 samples, sha256:" in pinned
    assert first.endswith("added: as qa; not pinned")
    pin = run("log", "qa", "--json").json[0]["pin"]
    assert (pin["samples"], pin["version"]) == (3, "1-A")
    assert pin["ordered"].startswith("sha256:")


def test_shallow_clone_ends_with_what_it_lacks(
    story: Story, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth", "3", story.folder.as_uri(), str(clone))
    monkeypatch.chdir(clone)
    result = run("log", "few")
    assert result.code == 4
    assert "ids" in result.lines[0]
    assert "unknown: the clone is shallow" in result.lines[1]
    assert len(result.lines) == 2
    # Enough of it is here.
    assert run("log", "few", "-n", "1").code == 0


def test_commit_at_which_the_dataset_is_invalid_is_said(story: Story, own: Path, run: Run) -> None:
    manifest = own / "m" / "qa.yaml"
    text = manifest.read_text()
    for content in (text, text.replace("input: q", "input: {nothing: 1}"), text):
        manifest.write_text(content)
        commit(own)
    result = run("log", "qa")
    assert result.code == 4
    unknown = [("unknown: qa can't be read in" in line) for line in result.lines]
    assert unknown == [True, True, False]


def test_what_is_not_committed_comes_first(own: Path, run: Run) -> None:
    commit(own, "datasets.yaml")
    (line,) = run("log", "qa").lines
    assert line == "not committed  added: as qa; not pinned"
    commit(own)
    (own / "qa.csv").write_text("q,a\nOne?,one\n", encoding="utf-8")
    assert run("log", "qa").lines[0] == ("not committed  source bytes: bytes.qa.csv; not pinned")


def test_manifest_of_a_package_has_its_history_elsewhere(
    shipped: Path, own: Path, run: Run
) -> None:
    commit(own)
    result = run("log", "theirs")
    assert result.code == 0
    assert "of an installed package, whose history is not here" in result.err
