"""What is read of a checkout, and by whose rules."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from registry.boundary.boundary import Boundary
from registry.diff.checkout import checkout_of, folder_checkout
from registry.diff.snapshots.contents import Contents, read_contents
from registry.settings import builtin_root
from tests.git_repository import GitRepository

FILES = {
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


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    (tmp_path / "outer").mkdir()
    (tmp_path / "outer" / "o.csv").write_text("q\n3\n")
    return GitRepository.make(tmp_path / "repository", FILES)


def contents(repository: GitRepository, rules: str | None = None) -> Contents:
    path = None
    if rules is not None:
        path = repository.folder / ".git" / "rules.yaml"
        path.write_text(rules)
    return read_contents(folder_checkout(repository.folder / "evals/datasets.yaml", "x"), path)


def test_revision_has_the_digests_of_the_working_tree(
    repository: GitRepository, tmp_path: Path
) -> None:
    index = repository.folder / "evals" / "datasets.yaml"
    committed = read_contents(checkout_of("main", index, tmp_path / "temporary" / "base")).files
    present = contents(repository).files
    names = {name: list(files) for name, files in present.items()}
    assert names == {
        "own": ["own.csv"],
        "shared": ["../shared/s.csv"],
        # Outside of the repository no path is relative to it.
        "outer": [str(tmp_path / "outer" / "o.csv")],
    }
    assert committed == present


def test_rules_of_another_index_forbid_files(repository: GitRepository) -> None:
    found = contents(repository, rules="version: 1\npaths: [../shared]\n")
    assert {name: bool(files) for name, files in found.files.items()} == {
        "own": True,
        "shared": True,
        "outer": False,
    }
    assert list(found.forbidden) == ["outer"]
    assert found.problems == ()


def test_file_that_cannot_be_read_is_a_problem(
    repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str, boundary: Boundary) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("registry.diff.snapshots.contents.digest_of_file", refuse)
    problems = contents(repository).problems
    assert {problem.message for problem in problems} == {"can't be read: Permission denied"}
    assert {problem.file for problem in problems} >= {"evals/own.csv", "shared/s.csv"}


def test_invalid_index_has_nothing_but_problems(repository: GitRepository) -> None:
    repository.write({"evals/datasets.yaml": "version: ["})
    found = contents(repository)
    assert (found.catalog, dict(found.specs)) == (None, {})
    assert {problem.file for problem in found.problems} == {"evals/datasets.yaml"}


def test_files_are_named_relative_to_the_repository_or_their_package(
    repository: GitRepository,
) -> None:
    index = FILES["evals/datasets.yaml"].replace("[m/*.yaml]", "[m/*.yaml, package:registry]")
    repository.write({"evals/datasets.yaml": index})
    found = contents(repository)
    shipped = os.path.join(builtin_root().parent, "registry", "demo.yaml")
    assert found.file_name(shipped) == "package:registry/registry/demo.yaml"
    assert found.file_name(str(repository.folder / "shared" / "s.csv")) == "shared/s.csv"


def test_only_named_datasets_are_resolved(repository: GitRepository) -> None:
    checkout = folder_checkout(repository.folder / "evals/datasets.yaml", "x")
    found = read_contents(checkout, names={"own", "nowhere"})
    assert found.catalog is not None
    assert (set(found.specs), set(found.files)) == ({"own"}, {"own"})
    assert set(found.catalog.entries) == {"own", "shared", "outer"}
