"""What commits say of who wrote, reviewed and merged them."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.base.git import repository_of
from registry.diff.history.commits import Commits, Merge
from tests.git_repository import GitRepository, git

FILES = {"a.txt": "1", "b.txt": "1"}


def commit(repository: GitRepository, message: str, **files: str) -> str:
    repository.write({f"{name}.txt": text for name, text in files.items()})
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--allow-empty", "--message", message)
    return repository.git("rev-parse", "HEAD")


def commits_of(repository: GitRepository) -> Commits:
    return Commits(repository_of(repository.folder))


MESSAGES = {
    "Subject\n\nReviewed-by: A <a@x>\nSigned-off-by: B <b@x>": (
        "",
        (("Reviewed-by", "A <a@x>"), ("Signed-off-by", "B <b@x>")),
    ),
    "Subject\n\nText.\n\nCo-authored-by: C <c@x>": ("", (("Co-authored-by", "C <c@x>"),)),
    "Subject\n\nText with a\nNote: in it": ("", ()),
    "Merge pull request #12 from x/y\n\nTitle": ("12", ()),
    "Title (#345)": ("345", ()),
    "Merged in x (pull request #6)\n\nTitle": ("6", ()),
    "Merge branch 'x' into 'main'\n\nTitle\n\nSee merge request group/project!78": ("78", ()),
    "Fix what #9 left": ("", ()),
}


@pytest.mark.parametrize("message", MESSAGES)
def test_trailers_and_request_are_read(message: str, repository: GitRepository) -> None:
    found = commits_of(repository).read(commit(repository, message))
    assert (found.request, found.trailers) == MESSAGES[message]
    assert found.subject == message.partition("\n")[0]


def test_settings_of_a_repository_can_not_run_a_program(
    repository: GitRepository, tmp_path: Path
) -> None:
    program = tmp_path / "gpg"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    repository.git("config", "log.showSignature", "true")
    repository.git("config", "gpg.program", str(program))
    head = repository.git("rev-parse", "HEAD")
    assert commits_of(repository).read(head).subject == "change"
    assert not (tmp_path / "ran").exists()


def test_last_commit_that_touched_a_file_is_found(repository: GitRepository) -> None:
    touched = commit(repository, "a", a="2")
    head = commit(repository, "b", b="2")
    found = commits_of(repository).last(head, [":(top,literal)a.txt"])
    assert found is not None
    assert found.id == touched
    assert commits_of(repository).last(head, [":(top,literal)none.txt"]) is None


def test_merge_that_brought_a_commit_in_is_found(repository: GitRepository) -> None:
    git = repository.git
    on_main = git("rev-parse", "HEAD")
    git("switch", "--quiet", "--create", "side")
    inner = commit(repository, "inner", a="2")
    last = commit(repository, "last", a="3")
    git("switch", "--quiet", "main")
    git("merge", "--quiet", "--no-ff", "--message", "Merge pull request #3 from x/side", "side")
    merge = git("rev-parse", "HEAD")
    after = commit(repository, "after", b="2")
    commits = commits_of(repository)
    expected = Merge(merge, "Merge pull request #3 from x/side", "T <t@example.org>", "3")
    assert [commits.merge_of(one) for one in (inner, last)] == [expected] * 2
    assert [commits.merge_of(one) for one in (on_main, merge, after)] == [None] * 3


def test_shallow_clone_has_commits_whose_parents_are_not_here(
    repository: GitRepository, tmp_path: Path
) -> None:
    head = commit(repository, "second", a="2")
    assert commits_of(repository).cut == frozenset()
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth", "1", repository.folder.as_uri(), str(clone))
    assert Commits(repository_of(clone)).cut == {head}
