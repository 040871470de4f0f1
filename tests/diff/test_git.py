"""Files of a git revision: what is read, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.diff.git import (
    Tree,
    commit_of,
    fork_point,
    matching,
    open_tree,
    repository_of,
)
from registry.errors import RevisionError
from tests.git_repository import git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "work tree"
    (folder / "m" / "deep").mkdir(parents=True)
    (folder / "m" / "a.yaml").write_bytes(b"a: 1\r\n")
    (folder / "m" / "deep" / "b [1].yaml").write_bytes(b"b")
    (folder / "ümlaut\n.csv").write_bytes(b"\x00\xff\n")
    (folder / "empty.csv").write_bytes(b"")
    (folder / "link.yaml").symlink_to("m/a.yaml")
    (folder / "out.yaml").symlink_to("/etc/passwd")
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "first")
    return folder


@pytest.fixture
def tree(repository: Path) -> Tree:
    return open_tree(repository, commit_of(repository, "main"))


def test_files_are_extracted_as_they_were_committed(tree: Tree, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    tree.copy(tree.blobs, out)
    found = {
        str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()
    }
    assert found == {
        "m/a.yaml": b"a: 1\r\n",
        "m/deep/b [1].yaml": b"b",
        "ümlaut\n.csv": b"\x00\xff\n",
        "empty.csv": b"",
        "link.yaml": b"a: 1\r\n",
    }


def test_filters_and_hooks_do_not_run(repository: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    (repository / ".gitattributes").write_text("*.yaml filter=evil diff=evil export-subst\n")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "attributes")
    for key in ("filter.evil.smudge", "diff.evil.textconv", "core.fsmonitor", "core.pager"):
        git(repository, "config", key, f"touch '{mark}'; cat")
    tree = open_tree(repository, commit_of(repository, "HEAD"))
    out = tmp_path / "out"
    out.mkdir()
    tree.copy(["m/a.yaml"], out)
    assert (out / "m" / "a.yaml").read_bytes() == b"a: 1\r\n"
    assert not mark.exists()


MATCHES = {
    "m/a.yaml": ["m/a.yaml"],
    "m/*.yaml": ["m/a.yaml"],
    "m/**/*.yaml": ["m/a.yaml", "m/deep/b [1].yaml"],
    "m/./x/../a.yaml": ["m/a.yaml"],
    "m/deep/b [[]1].yaml": ["m/deep/b [1].yaml"],
    "m/deep": ["m/deep/b [1].yaml"],
    "m/?.yaml": ["m/a.yaml"],
    "a.yaml": [],
    "m.a.yaml": [],
    "../m/a.yaml": [],
}


@pytest.mark.parametrize("pattern", MATCHES)
def test_pattern_matches_files_and_contents_of_folders(tree: Tree, pattern: str) -> None:
    assert sorted(matching(tree, pattern)) == MATCHES[pattern]


def test_top_folder_matches_every_file(tree: Tree) -> None:
    assert set(matching(tree, ".")) == set(tree.blobs)


REFUSED = {
    "mian": r"no revision 'mian' \(did you mean 'main'\?\)",
    "qqqqqq": r"no revision 'qqqqqq' \(try `git fetch`\)",
    "--upload-pack=x": "'--upload-pack=x' is not a revision: it starts with `-`",
    "": "'' is not a revision",
    "main..main": "is a range; pass its ends as two arguments",
    "HEAD:m": "no revision 'HEAD:m'",
    "main\nmain": "no revision 'main\nmain'",
}


@pytest.mark.parametrize("revision", REFUSED, ids=repr)
def test_invalid_revision_is_an_error_with_a_hint(repository: Path, revision: str) -> None:
    with pytest.raises(RevisionError, match=REFUSED[revision]):
        commit_of(repository, revision)


@pytest.mark.parametrize("name", ["main", "HEAD", "HEAD~0", "v1", "refs/heads/main"])
def test_any_name_of_a_commit_is_a_revision(repository: Path, name: str) -> None:
    git(repository, "tag", "--annotate", "--message", "one", "v1")
    assert commit_of(repository, name) == git(repository, "rev-parse", "HEAD")


def test_folder_outside_of_any_repository_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RevisionError, match=r"not a git repository.*compared without git"):
        repository_of(tmp_path)


def test_git_that_is_not_installed_is_an_error(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RevisionError, match=r"git is not installed, .* pass two folders instead"):
        repository_of(repository)


def test_fork_point_is_where_the_branch_left_main(repository: Path) -> None:
    first = git(repository, "rev-parse", "HEAD")
    git(repository, "switch", "--quiet", "--create", "topic")
    git(repository, "commit", "--quiet", "--allow-empty", "--message", "second")
    assert fork_point(repository) == first


def test_main_branch_of_the_remote_is_preferred(repository: Path) -> None:
    first = git(repository, "rev-parse", "HEAD")
    git(repository, "update-ref", "refs/remotes/origin/main", first)
    git(repository, "commit", "--quiet", "--allow-empty", "--message", "not pushed")
    assert fork_point(repository) == first


def test_without_a_main_branch_a_base_is_required(repository: Path) -> None:
    git(repository, "branch", "--move", "main", "trunk")
    with pytest.raises(
        RevisionError, match=r"no main branch \(tried .*\); pass the base: diff BASE"
    ):
        fork_point(repository)


def test_without_common_history_the_hint_is_to_fetch_it(repository: Path) -> None:
    git(repository, "switch", "--quiet", "--orphan", "other")
    git(repository, "commit", "--quiet", "--allow-empty", "--message", "alone")
    with pytest.raises(RevisionError, match=r"no commit in common .*--unshallow"):
        fork_point(repository)


def test_missing_object_is_an_error(repository: Path, tree: Tree, tmp_path: Path) -> None:
    blob = tree.blobs["m/a.yaml"]
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(RevisionError, match=r"git lacks the contents of a\.yaml"):
        tree.copy(["m/a.yaml"], tmp_path)
