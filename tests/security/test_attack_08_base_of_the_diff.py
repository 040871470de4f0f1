"""Attack 8: a pull request that chooses what it is compared with."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.command_line import Ran, run
from tests.git_repository import HERMETIC, GitRepository, git, write_files

MANIFEST = """\
version: 1
datasets:
  qa: {source: {type: csv, path: qa.csv}, fields: {input: q, target: a}, limit: 1}
"""
CHANGED = MANIFEST.replace("limit: 1", "limit: 2")
FILES = {"evals/datasets.yaml": MANIFEST, "evals/qa.csv": "q,a\nOne?,1\nTwo?,2\n"}
EDIT = "limit: 1 → 2"


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    """Make a repository whose working tree has an edit that a review must see."""
    made = GitRepository.make(tmp_path / "repository", FILES)
    made.git("switch", "--quiet", "--create", "topic")
    made.write({"evals/datasets.yaml": CHANGED})
    made.commit()
    return made


def diff(repository: GitRepository, *arguments: str) -> Ran:
    """Run `diff` as CI does, in the folder of the repository."""
    return run(repository.folder, "diff", "--root", "evals", *arguments, environment=HERMETIC)


def assert_edit_is_shown(done: Ran) -> None:
    assert (done.code, done.err) == (1, "")
    assert EDIT in done.out


def test_bare_repository_in_the_folder_is_not_the_repository(
    repository: GitRepository, tmp_path: Path
) -> None:
    # Its `main` has the edit already, so that nothing differs.
    own = {"datasets.yaml": CHANGED, "qa.csv": FILES["evals/qa.csv"]}
    made = GitRepository.make(tmp_path / "made", own)
    made.git("config", "core.worktree", "../evals")
    evals = repository.folder / "evals"
    for name in ("HEAD", "config", "objects", "refs"):
        shutil.move(made.folder / ".git" / name, evals / name)
    (evals / "config").write_text((evals / "config").read_text().replace("../evals", "."))
    assert git(evals, "show", "main:datasets.yaml") == CHANGED.strip()
    assert git(evals, "rev-parse", "--show-toplevel") == str(evals)
    assert_edit_is_shown(diff(repository, "main"))
    assert_edit_is_shown(diff(repository))


def test_replaced_objects_are_not_read(repository: GitRepository) -> None:
    repository.git("replace", "main", "topic")
    assert repository.git("show", "main:evals/datasets.yaml") == CHANGED.strip()
    assert_edit_is_shown(diff(repository, "main"))


def test_grafts_do_not_move_the_fork_point(repository: GitRepository) -> None:
    # An older commit had what the edit brings back.
    older = repository.git("commit-tree", "-m", "older", "topic^{tree}")
    topic = repository.git("rev-parse", "topic")
    (repository.folder / ".git" / "info" / "grafts").write_text(f"{topic} {older}\n")
    repository.git("switch", "--quiet", "main")
    grafted = repository.git("commit-tree", "-p", "main", "-p", older, "-m", "merge", "main^{tree}")
    repository.git("reset", "--quiet", "--hard", grafted)
    repository.git("switch", "--quiet", "topic")
    assert repository.git("merge-base", "HEAD", "main") == older
    assert_edit_is_shown(diff(repository))


def test_objects_of_other_repositories_are_not_read(
    repository: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = GitRepository.make(tmp_path / "other", {**FILES, "evals/datasets.yaml": CHANGED})
    monkeypatch.setenv("GIT_DIR", str(other.folder / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(repository.folder))
    assert_edit_is_shown(diff(repository, "main"))


@pytest.mark.parametrize("branch", ["main", "origin/main"])
def test_folder_called_like_the_base_is_refused(repository: GitRepository, branch: str) -> None:
    repository.git("update-ref", "refs/remotes/origin/main", "main")
    qa = FILES["evals/qa.csv"]
    repository.write({f"{branch}/datasets.yaml": CHANGED, f"{branch}/qa.csv": qa})
    done = diff(repository, branch)
    assert done.code not in (0, 1)
    assert f"'{branch}' is both a folder and a revision" in done.err
    kind = "remotes" if "/" in branch else "heads"
    assert_edit_is_shown(diff(repository, f"refs/{kind}/{branch}"))


def test_branch_called_like_the_remote_is_not_the_base(repository: GitRepository) -> None:
    repository.git("update-ref", "refs/remotes/origin/main", "main")
    repository.git("branch", "origin/main", "topic")
    assert_edit_is_shown(diff(repository))


def test_index_that_becomes_a_link_is_compared_with_the_former_index(
    repository: GitRepository,
) -> None:
    repository.git("switch", "--quiet", "main")
    repository.write({"evals/m/datasets.yaml": CHANGED, "evals/m/qa.csv": FILES["evals/qa.csv"]})
    repository.commit()
    repository.git("switch", "--quiet", "--create", "second")
    index = repository.folder / "evals" / "datasets.yaml"
    index.unlink()
    index.symlink_to("m/datasets.yaml")
    repository.commit()
    assert_edit_is_shown(diff(repository))


def test_programs_in_settings_of_the_repository_do_not_run(
    repository: GitRepository, tmp_path: Path
) -> None:
    mark, hooks = tmp_path / "ran", tmp_path / "hooks"
    for hook in ("post-index-change", "reference-transaction"):
        write_files(hooks, {hook: f"#!/bin/sh\ntouch '{mark}'\n"})
        (hooks / hook).chmod(0o755)
    touch = dict.fromkeys(["core.fsmonitor", "core.pager"], f"touch '{mark}'")
    for key, value in {**touch, "core.hooksPath": str(hooks)}.items():
        repository.git("config", key, value)
    assert_edit_is_shown(diff(repository, "main"))
    assert not mark.exists()
