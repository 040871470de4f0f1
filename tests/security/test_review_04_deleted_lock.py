"""Row 4 of the review flow: a change deletes `datasets.lock`, and nothing failed."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from registry.cli import main
from tests.command_line import run
from tests.git_repository import HERMETIC, GitRepository
from tests.review_flow.composite_action import Action, Done, install

CATALOG = {
    "datasets.yaml": "version: 1\ninclude: [m/*.yaml]\n",
    "m/qa.yaml": "datasets:\n  qa: {source: {type: csv, path: qa.csv}}\n",
    "qa.csv": "input,target\nOne?,1\n",
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Action, Done]:
    return install(tmp_path_factory.mktemp("runner"))


def compare_lock(
    installed: tuple[Action, Done], folder: Path, repository: GitRepository, root: str = "."
) -> tuple[int, str]:
    """Run the steps `base` and `lock` on what is checked out; return the code and log of `lock`."""
    action, known = installed
    action = replace(action, temp=folder / "temp")
    how: dict[str, Any] = {"inputs": {"root": root}, "environment": {"GITHUB_BASE_REF": "main"}}
    outputs = dict(known.outputs)
    for step in ("base", "lock"):
        done = action.run(repository.folder, only=step, known=outputs, **how)
        outputs.update(done.outputs)
    return done.codes["lock"], done.logs["lock"]


def make(folder: Path, root: str, *, locked: bool) -> GitRepository:
    files = {f"{root}/{name}": text for name, text in CATALOG.items()}
    repository = GitRepository.make(folder / "repository", files)
    if locked:
        assert main(["lock", "--root", str(repository.folder / root)]) == 0
        repository.commit()
    repository.git("update-ref", "refs/remotes/origin/main", "HEAD")
    repository.git("switch", "--quiet", "--create", "topic")
    return repository


@pytest.mark.parametrize("root", [".", "evals", "evals/datasets.yaml"])
def test_deleting_the_lockfile_fails(
    installed: tuple[Action, Done], tmp_path: Path, root: str
) -> None:
    folder = root.removesuffix("/datasets.yaml")
    repository = make(tmp_path, folder, locked=True)
    assert compare_lock(installed, tmp_path, repository, root)[0] == 0
    (repository.folder / folder / "datasets.lock").unlink()
    repository.commit()
    code, log = compare_lock(installed, tmp_path, repository, root)
    assert code == 1
    assert "::error title=registry lock::this change deletes the lockfile" in log


def test_a_dangling_link_in_its_place_fails(installed: tuple[Action, Done], tmp_path: Path) -> None:
    repository = make(tmp_path, ".", locked=True)
    lock = repository.folder / "datasets.lock"
    lock.unlink()
    lock.symlink_to("nowhere")
    repository.commit()
    assert compare_lock(installed, tmp_path, repository)[0] == 1


def test_a_bare_repository_in_the_change_does_not_answer_for_the_base(
    installed: tuple[Action, Done], tmp_path: Path
) -> None:
    repository = make(tmp_path, "evals", locked=True)
    planted = GitRepository.make(tmp_path / "planted", {"x": "y"})
    planted.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare"))
    for name in ("HEAD", "config", "packed-refs"):
        shutil.copy(tmp_path / "bare" / name, repository.folder / "evals")
    repository.write({"evals/objects/x": "", "evals/refs/x": ""})
    (repository.folder / "evals" / "datasets.lock").unlink()
    repository.commit()
    assert compare_lock(installed, tmp_path, repository, "evals")[0] != 0


def test_a_catalog_without_a_lockfile_passes(
    installed: tuple[Action, Done], tmp_path: Path
) -> None:
    repository = make(tmp_path, ".", locked=False)
    code, log = compare_lock(installed, tmp_path, repository)
    assert (code, log.startswith("There is no lockfile to compare")) == (0, True)


def test_check_without_a_lockfile_is_a_difference(tmp_path: Path) -> None:
    repository = GitRepository.make(tmp_path / "repository", CATALOG)
    done = run(repository.folder, "lock", "--check")
    assert done.code == 1
    assert done.out == "datasets.lock: there is no lockfile (`registry lock` writes one)\n"


def test_check_by_the_rules_of_a_base_says_that_the_change_deletes_it(tmp_path: Path) -> None:
    lock = {"datasets.lock": "version: 1\ndatasets: {}\n"}
    repository = GitRepository.make(tmp_path / "repository", {**CATALOG, **lock})
    (repository.folder / "datasets.lock").unlink()
    done = run(repository.folder, "lock", "--check", "--config-from", "main", environment=HERMETIC)
    assert done.code == 1, done
    assert "the base has one: the change deletes it, and every pin" in done.out
