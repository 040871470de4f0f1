"""Files of a git revision: what is extracted, and what is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.base.git import repository_of
from registry.diff.checkout import commit_of
from registry.diff.git_tree import (
    Tree,
    files_below,
    matching,
    may_contain,
    missing_paths,
    open_tree,
)
from registry.errors import RevisionError
from tests.git_repository import GitRepository, git


@pytest.fixture
def folder(tmp_path: Path) -> Path:
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
def tree(folder: Path) -> Tree:
    return tree_of(folder)


def tree_of(folder: Path) -> Tree:
    repository = repository_of(folder)
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


def test_filters_and_hooks_do_not_run(folder: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    (folder / ".gitattributes").write_text("*.yaml filter=evil diff=evil export-subst\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "attributes")
    for key in ("filter.evil.smudge", "diff.evil.textconv", "core.fsmonitor", "core.pager"):
        git(folder, "config", key, f"touch '{mark}'; cat")
    tree = tree_of(folder)
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
    "**": ["empty.csv", "link.yaml", "m/a.yaml", "m/deep/b [1].yaml", "ümlaut\n.csv"],
    "**/deep/**": ["m/deep/b [1].yaml"],
    "m/a[*.]yaml": ["m/a.yaml"],
    "../m/a.yaml": [],
}


@pytest.mark.parametrize("pattern", MATCHES)
def test_pattern_matches_files_and_contents_of_folders(tree: Tree, pattern: str) -> None:
    assert sorted(matching(tree, pattern)) == MATCHES[pattern]


def test_top_folder_matches_every_file(tree: Tree) -> None:
    assert set(matching(tree, ".")) == set(tree.blobs)


def test_missing_object_is_an_error(folder: Path, tree: Tree, tmp_path: Path) -> None:
    blob = tree.blobs["m/a.yaml"]
    (folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(RevisionError, match=r"git lacks the contents of m/a\.yaml"):
        tree.copy(["m/a.yaml"], tmp_path)


def test_objects_that_a_partial_clone_lacks_are_not_fetched(folder: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    git(folder, "config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    options = ("--quiet", "--no-checkout", "--filter", "blob:none", "--branch", "main")
    git(tmp_path, "clone", *options, f"file://{folder}", str(clone))
    git(clone, "config", "protocol.file.allow", "always")
    git(clone, "config", "remote.origin.uploadpack", f"touch '{mark}'; git-upload-pack")
    with pytest.raises(RevisionError, match=r"git lacks the contents of .* as a partial clone"):
        tree_of(clone).copy(["m/a.yaml"], tmp_path / "out")
    assert not mark.exists()


def forge(folder: Path, name: bytes, content: bytes) -> None:
    """Commit a file whose name no work tree can have."""
    (folder / "blob").write_bytes(content)
    blob = bytes.fromhex(git(folder, "hash-object", "-w", "blob"))
    (folder / "tree").write_bytes(b"100644 " + name + b"\0" + blob)
    tree = git(folder, "hash-object", "-w", "--literally", "-t", "tree", "tree")
    commit = git(folder, "commit-tree", "-m", "forged", tree)
    git(folder, "update-ref", "refs/heads/main", commit)


@pytest.mark.parametrize("name", ["../escaped", "{tmp}/escaped", ".git/escaped", "a//escaped"])
def test_forged_names_are_not_extracted(folder: Path, tmp_path: Path, name: str) -> None:
    forge(folder, name.replace("{tmp}", str(tmp_path)).encode(), b"x")
    tree = tree_of(folder)
    assert tree.blobs == {}
    tree.copy(matching(tree, "."), tmp_path / "out")
    assert not (tmp_path / "escaped").exists()


LINKS = {
    "m/a.yaml": "m/a.yaml",
    "link.yaml": "m/a.yaml",
    "folder/a.yaml": "m/a.yaml",
    "folder/deep/b": "m/deep/b",
    "to-folder/a.yaml": "m/a.yaml",
    "out.yaml": "/etc/passwd",
    "up/x": "../x",
}


@pytest.mark.parametrize("path", LINKS)
def test_links_of_files_and_folders_are_followed(folder: Path, path: str) -> None:
    for name, target in {"folder": "m", "to-folder": "folder", "up": ".."}.items():
        (folder / name).symlink_to(target)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "links")
    assert tree_of(folder).follow(path) == LINKS[path]


def test_links_in_a_circle_end(folder: Path) -> None:
    (folder / "one").symlink_to("two")
    (folder / "two").symlink_to("one")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "links")
    assert not {"one", "two"} & tree_of(folder).blobs.keys()


def test_files_below_folders_are_all_files_at_any_depth(tree: Tree) -> None:
    assert files_below(tree, {"m/deep", "nowhere"}) == ["m/deep/b [1].yaml"]
    assert sorted(files_below(tree, {"m"})) == ["m/a.yaml", "m/deep/b [1].yaml"]
    assert set(files_below(tree, {"."})) == set(tree.blobs)


def test_files_of_submodules_are_read_from_their_own_commits(folder: Path, tmp_path: Path) -> None:
    inner = GitRepository.make(tmp_path / "inner", {"x/y.csv": "old"})
    add = ("submodule", "add", "--quiet", str(inner.folder), "sub")
    git(folder, "-c", "protocol.file.allow=always", *add)
    git(folder, "commit", "--quiet", "--message", "submodule")
    sub = GitRepository(folder / "sub")
    sub.write({"x/y.csv": "new"})
    sub.commit()
    tree = tree_of(folder)
    tree.copy(["sub/x/y.csv", "m/a.yaml"], tmp_path / "out")
    assert (tmp_path / "out" / "sub" / "x" / "y.csv").read_text() == "old"
    assert (tmp_path / "out" / "m" / "a.yaml").exists()
    assert tree.missing == {}
    git(folder, "submodule", "deinit", "--quiet", "--force", "sub")
    assert tree_of(folder).missing == {"sub": inner.git("rev-parse", "HEAD")}


def test_only_submodules_that_are_not_checked_out_are_missing(tmp_path: Path) -> None:
    inner = GitRepository.make(tmp_path / "inner", {"a.yaml": "a: 1"})
    outer = GitRepository.make(tmp_path / "outer", {"b.yaml": "b: 1"})
    assert missing_paths(outer.folder) == {}
    for path in ("sub/one", "two"):
        add = ("submodule", "add", "--quiet", str(inner.folder), path)
        outer.git("-c", "protocol.file.allow=always", *add)
    outer.commit()
    outer.git("submodule", "deinit", "--quiet", "two")
    assert missing_paths(outer.folder) == {"two": inner.git("rev-parse", "HEAD")}


def test_files_that_a_sparse_checkout_leaves_out_are_missing(tmp_path: Path) -> None:
    files = {"a.yaml": "", "d/b.csv": "", "d/c.csv": ""}
    origin = GitRepository.make(tmp_path / "origin", files)
    origin.git("sparse-checkout", "set", "--no-cone", "/*", "!/d/b.csv")
    (origin.folder / "d" / "c.csv").unlink()
    assert missing_paths(origin.folder) == {"d/b.csv": ""}
    other = tmp_path / "\udcff"
    origin.git("worktree", "add", "--quiet", str(other), "-b", "other")
    git(other, "sparse-checkout", "set", "--no-cone", "/*", "!/a.yaml")
    assert missing_paths(other) == {"a.yaml": ""}


def test_folder_without_git_has_no_submodules(tmp_path: Path) -> None:
    (tmp_path / ".gitmodules").write_text("[submodule]")
    assert missing_paths(tmp_path) == {}


@pytest.mark.parametrize(
    ("pattern", "contains"),
    [
        ("sub/m/*.yaml", True),
        ("s*/m/a.yaml", True),
        ("**/*.yaml", True),
        ("sub", True),
        (".", True),
        ("other/*.yaml", False),
        ("sub2/*.yaml", False),
        ("../sub/*.yaml", False),
    ],
)
def test_pattern_may_name_files_of_a_submodule(pattern: str, contains: bool) -> None:
    assert may_contain("sub/m", pattern) == contains
