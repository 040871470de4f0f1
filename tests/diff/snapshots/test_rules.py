"""The index that a change is judged by."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.catalog.catalog import Catalog
from registry.diff.snapshots.rules import open_rules
from registry.errors import RevisionError
from tests.git_repository import GitRepository

INDEX = "version: 1\ntrust: ['os:getcwd']\n"


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    made = GitRepository.make(tmp_path / "repository", {"datasets.yaml": INDEX})
    made.write({"datasets.yaml": "version: 1\ntrust: ['os:remove']\n"})
    return made


def trust(repository: GitRepository, base: str) -> frozenset[str]:
    index = repository.folder / "datasets.yaml"
    with open_rules(base, index) as rules:
        return Catalog.open(index, rules_from=rules.index).boundary.trust


def test_rules_are_those_of_the_revision(repository: GitRepository) -> None:
    assert trust(repository, "main") == {"os:getcwd"}


def test_rules_are_those_of_the_folder(repository: GitRepository, tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "datasets.yaml").write_text("version: 1\ntrust: ['os:listdir']\n")
    assert trust(repository, str(tmp_path / "base")) == {"os:listdir"}


def test_invalid_index_permits_nothing(repository: GitRepository) -> None:
    repository.write({"datasets.yaml": f"{INDEX}bogus: 1\n"})
    repository.commit()
    repository.write({"datasets.yaml": INDEX})
    assert trust(repository, "main") == frozenset()
    with open_rules("main", repository.folder / "datasets.yaml") as rules:
        assert (rules.is_valid, rules.checkout.label[:6]) == (False, "main (")


def test_rules_are_temporary(repository: GitRepository) -> None:
    with open_rules("main", repository.folder / "datasets.yaml") as rules:
        assert rules.index.exists()
    assert not rules.index.exists()


def test_unknown_base_is_an_error(repository: GitRepository) -> None:
    with pytest.raises(RevisionError), open_rules("mian", repository.folder / "datasets.yaml"):
        pass
