"""What a catalog says of itself, and what git does."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.base.git import Repository
from registry.catalog.catalog import Catalog
from registry.plugins.site.about import About, about
from tests.git_repository import GitRepository

CATALOG = """
catalog:
  title: Our evaluations
  description: What we measure.
  logo: LOGO
  repository: https://example.org/owner/name/
"""


def of(root: Path, logo: str = "logo.png") -> About:
    index = root / "datasets.yaml"
    if "catalog:" not in (text := index.read_text("utf-8")):
        index.write_text(text + CATALOG.replace("LOGO", logo), "utf-8")
    return about(Catalog.open(root, keep=False))


def test_index_names_the_catalog(root: Path) -> None:
    (root / "logo.png").write_bytes(b"\x89PNG")
    found = of(root)
    assert (found.title, found.description) == ("Our evaluations", "What we measure.")
    assert found.logo == "data:image/png;base64,iVBORw=="
    assert found.repository == "https://example.org/owner/name"
    assert found.commit == found.file_url("sets/qa.yaml", 3) == ""


def test_catalog_without_the_key_has_the_name_of_its_folder(root: Path) -> None:
    assert about(Catalog.open(root, keep=False)).title == root.name


@pytest.mark.parametrize(
    "logo",
    [
        "../outside.png",
        "none.png",
        "data/qa.csv",
        "large.png",
        ".",
        '"a\\0.png"',
        "x" * 300 + ".png",
    ],
)
def test_what_is_no_small_picture_of_the_catalog_is_no_logo(root: Path, logo: str) -> None:
    (root.parent / "outside.png").write_bytes(b"\x89PNG")
    (root / "large.png").write_bytes(bytes(50_001))
    assert of(root, logo).logo == ""


def test_git_tells_the_commit_and_the_last_changes(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of(root)
    verbs: list[str] = []
    repository = GitRepository(root)
    repository.git("init", "--quiet")
    repository.commit()
    commit = repository.git("rev-parse", "HEAD")
    found = of(root)
    git = Repository.git

    def counted(own: Repository, *words: str) -> str:
        verbs.append(words[0])
        return git(own, *words)

    monkeypatch.setattr(Repository, "git", counted)
    assert of(root) == found
    assert verbs == ["show"], "the log of a commit is read once"
    assert found.commit == commit
    assert found.changes == {"datasets.yaml": found.date, "sets/qa.yaml": found.date}
    expected = f"https://example.org/owner/name/blob/{commit}/sets/qa.yaml#L3"
    assert found.file_url("sets/qa.yaml", 3) == expected
    assert found.file_url("sets/\udcff.yaml", 3) == expected.replace("qa.yaml", "%FF.yaml")
