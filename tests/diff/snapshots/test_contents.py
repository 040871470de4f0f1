"""What is read of a checkout, by whose rules, and how its files are compared."""

from __future__ import annotations

import hashlib
from hashlib import sha256
from pathlib import Path

import pytest

from registry.boundary.boundary import UNBOUNDED, Boundary
from registry.cli import main
from registry.diff.checkout import checkout_of, folder_checkout
from registry.diff.snapshots.contents import (
    Contents,
    FileDigest,
    changed_files,
    common_digests,
    differing_digests,
    digest_of_file,
    files_of,
    local_patterns,
    moved_files,
    read_contents,
)
from registry.errors import ReachError
from registry.manifest.models import to_spec
from tests.git_repository import GitRepository, write_files

MANIFEST = """\
version: 1
datasets:
  d: {source: {type: hf, path: ./data, split: train}, fields: {input: q, target: a}}
"""

EVALS = {
    "evals/datasets.yaml": "version: 1\npaths: [../shared, ../../outer]\ninclude: [m/*.yaml]\n",
    "evals/m/a.yaml": (
        "datasets:\n"
        "  own: {source: {type: csv, path: own.csv}}\n"
        "  shared: {source: {type: csv, path: ../shared/s.csv}}\n"
        "  outer: {source: {type: csv, path: ../../outer/o.csv}}\n"
    ),
    "evals/own.csv": "q\n1\n",
    "shared/s.csv": "q\n2\n",
}

FILES = {"datasets.yaml": "version: 1\n", "a": "1", "b": "1", "folder/c": "1"}


def catalog(folder: Path, **files: str) -> Path:
    (folder / "data" / ".git").mkdir(parents=True)
    (folder / "datasets.yaml").write_text(MANIFEST, encoding="utf-8")
    for name, text in {"a.csv": "q,a\n1,2\n", **files}.items():
        (folder / "data" / name).write_text(text, encoding="utf-8")
    return folder


def test_files_that_pinning_leaves_out_are_no_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = catalog(tmp_path / "base")
    head = catalog(tmp_path / "head", **{".DS_Store": "x", ".git/HEAD": "y"})
    assert main(["diff", str(base), str(head)]) == 0, capsys.readouterr().out
    other = catalog(tmp_path / "other", **{"b.csv": "q,a\n3,4\n"})
    assert main(["diff", str(base), str(other)]) == 1


def test_patterns_are_the_local_paths_of_all_sources() -> None:
    part = {"type": "csv", "path": ["/c/a.csv", "https://host/b.csv", "file:///c/d/*.csv"]}
    keys = {
        "source": part,
        "concat": [part, {"type": "hf", "path": "a/b", "split": "t"}],
        "join": {"source": {"type": "hf", "path": "/c/folder", "split": "t"}, "on": "x", "into": "y"},
    }  # fmt: skip
    found = local_patterns(to_spec({"name": "d", "folder": Path("/c"), **keys}))
    assert found == ["/c/a.csv", "/c/d/*.csv", "/c/folder"]


POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 3\n"


@pytest.mark.parametrize(
    ("text", "is_pointer"),
    [
        (POINTER, True),
        (f"{POINTER}q,a\n", False),
        (f"# {POINTER}", False),
        (POINTER.replace("oid", "x y\noid"), False),
        (POINTER.removesuffix("size 3\n"), False),
        ("abc", False),
    ],
)
def test_pointer_of_git_lfs_is_the_complete_file(
    tmp_path: Path, text: str, is_pointer: bool
) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text, encoding="utf-8")
    found = digest_of_file(str(path), UNBOUNDED)
    assert found.own == f"sha256:{sha256(text.encode()).hexdigest()}"
    assert found.pointed == (f"sha256:{'a' * 64}" if is_pointer else "")


def test_pointer_in_place_of_data_is_a_change() -> None:
    data, pointer = FileDigest("d"), FileDigest("p", "d")
    assert common_digests({"x": pointer}, {"x": data}) == ({"x": "d"}, {"x": "d"})
    assert common_digests({"x": pointer}, {"x": pointer}) == ({"x": "d"}, {"x": "d"})
    assert common_digests({}, {"x": pointer}) == ({}, {"x": "d"})
    # Without Git LFS, what is read from now on is the text of the pointer.
    assert common_digests({"x": data}, {"x": pointer}) == ({"x": "d"}, {"x": "p"})


def test_files_outside_are_not_listed(tmp_path: Path) -> None:
    for name in ("in/a.csv", "out/b.csv"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("q\n")
    (tmp_path / "in" / "link.csv").symlink_to(tmp_path / "out" / "b.csv")
    boundary = Boundary().allowing([str(tmp_path / "in")])
    for pattern in ("in/*.csv", "in"):
        with pytest.raises(ReachError, match="outside the catalog's folder"):
            files_of(f"{tmp_path}/{pattern}", boundary)
    (tmp_path / "in" / "link.csv").unlink()
    for pattern in ("in/*.csv", "in"):
        assert files_of(f"{tmp_path}/{pattern}", boundary) == [f"{tmp_path}/in/a.csv"]
    for pattern in ("*/*.csv", "out/b.csv", "out", "in/../out/*"):
        assert files_of(f"{tmp_path}/{pattern}", boundary) == []


def test_moved_files_are_paired_one_to_one_by_their_bytes() -> None:
    old = {"a": "1", "b": "1", "c": "2", "same": "3"}
    new = {"d": "1", "e": "1", "f": "1", "g": "4", "same": "3"}
    assert moved_files(old, new) == {"d": "a", "e": "b"}


# --- the contents of a checkout ---


@pytest.fixture
def evals(tmp_path: Path) -> GitRepository:
    (tmp_path / "outer").mkdir()
    (tmp_path / "outer" / "o.csv").write_text("q\n3\n")
    return GitRepository.make(tmp_path / "repository", EVALS)


def contents(evals: GitRepository, rules: str | None = None) -> Contents:
    path = None
    if rules is not None:
        path = evals.folder / ".git" / "rules.yaml"
        path.write_text(rules)
    return read_contents(folder_checkout(evals.folder / "evals/datasets.yaml", "x"), path)


def test_revision_has_the_digests_of_the_working_tree(evals: GitRepository, tmp_path: Path) -> None:
    index = evals.folder / "evals" / "datasets.yaml"
    committed = read_contents(checkout_of("main", index, tmp_path / "temporary" / "base")).files
    present = contents(evals).files
    names = {name: list(files) for name, files in present.items()}
    assert names == {
        "own": ["own.csv"],
        "shared": ["../shared/s.csv"],
        # Outside of the evals no path is relative to it.
        "outer": [str(tmp_path / "outer" / "o.csv")],
    }
    assert committed == present


def test_rules_of_another_index_forbid_files(evals: GitRepository) -> None:
    found = contents(evals, rules="version: 1\npaths: [../shared]\n")
    assert {name: bool(files) for name, files in found.files.items()} == {
        "own": True,
        "shared": True,
        "outer": False,
    }
    assert list(found.forbidden) == ["outer"]
    assert found.problems == ()


def test_file_that_cannot_be_read_is_a_problem(
    evals: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str, boundary: Boundary) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("registry.diff.snapshots.contents.digest_of_file", refuse)
    problems = contents(evals).problems
    assert {problem.message for problem in problems} == {"can't be read: Permission denied"}
    assert {problem.file for problem in problems} >= {"evals/own.csv", "shared/s.csv"}


def test_invalid_index_has_nothing_but_problems(evals: GitRepository) -> None:
    evals.write({"evals/datasets.yaml": "version: ["})
    found = contents(evals)
    assert (found.catalog, dict(found.specs)) == (None, {})
    assert {problem.file for problem in found.problems} == {"evals/datasets.yaml"}


def test_files_are_named_relative_to_the_repository_or_their_package(
    evals: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path / "site", {"theirs/datasets.yaml": "version: 1\n"})
    monkeypatch.syspath_prepend(tmp_path / "site")
    index = EVALS["evals/datasets.yaml"].replace("[m/*.yaml]", "[m/*.yaml, package:theirs]")
    evals.write({"evals/datasets.yaml": index})
    found = contents(evals)
    assert found.file_name(f"{tmp_path}/site/theirs/m/a.yaml") == "package:theirs/m/a.yaml"
    assert found.file_name(str(evals.folder / "shared" / "s.csv")) == "shared/s.csv"


def test_only_named_datasets_are_resolved(evals: GitRepository) -> None:
    checkout = folder_checkout(evals.folder / "evals/datasets.yaml", "x")
    found = read_contents(checkout, names={"own", "nowhere"})
    assert found.catalog is not None
    assert (set(found.specs), set(found.files)) == ({"own"}, {"own"})
    assert set(found.catalog.entries) == {"own", "shared", "outer"}


# --- any files of two checkouts ---


def sides(repository: GitRepository, folder: str = "base") -> tuple[Contents, Contents]:
    index = repository.folder / "datasets.yaml"
    base = checkout_of("main", index, repository.folder.parent / folder)
    return read_contents(base), read_contents(folder_checkout(index, "work tree"))


def changed(base: Contents, head: Contents) -> set[str]:
    return changed_files(base, head, base.checkout.paths | head.checkout.paths)


def test_revision_and_work_tree_are_compared_by_bytes(repository: GitRepository) -> None:
    repository.write({"a": "2", "new": "", "datasets.yaml": "version: 1 \n"})
    (repository.folder / "b").unlink()
    base, head = sides(repository)
    assert changed(base, head) == {"a", "b", "new"}
    digests = differing_digests(base, head, {"a", "b", "new"})
    assert [[one is None for one in digests[name]] for name in ("a", "b", "new")] == [
        [False, False],
        [False, True],
        [True, False],
    ]


def test_attributes_of_git_hide_nothing(repository: GitRepository) -> None:
    repository.write({".gitattributes": "* text eol=lf\n"})
    (repository.folder / "a").write_bytes(b"1\r\n")
    repository.git("config", "core.autocrlf", "true")
    assert changed(*sides(repository)) == {"a", ".gitattributes"}


def test_link_that_leads_outside_is_not_read(repository: GitRepository) -> None:
    outside = repository.folder.parent / "outside"
    outside.mkdir()
    (outside / "c").write_text("1", encoding="utf-8")
    (repository.folder / "folder/c").unlink()
    (repository.folder / "folder").rmdir()
    (repository.folder / "folder").symlink_to(outside)
    (repository.folder / "a").unlink()
    (repository.folder / "a").symlink_to("../outside/c")
    base, head = sides(repository)
    assert {"a", "folder/c"} <= changed(base, head)
    assert differing_digests(base, head, {"a"})["a"][1] == "link to ../outside/c"
    repository.commit()
    assert changed(*sides(repository, "later")) == set()


def test_pointer_of_git_lfs_equals_what_it_names(repository: GitRepository) -> None:
    oid = hashlib.sha256(b"data").hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 4\n"
    repository.write({"b": pointer})
    repository.commit()
    repository.write({"b": "data"})
    base, head = sides(repository)
    assert changed(base, head) == {"b"}
    assert differing_digests(base, head, {"b"}) == {}
