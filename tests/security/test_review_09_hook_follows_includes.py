"""The pre-commit hook runs whatever a commit changes: the index may include manifests anywhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.git_repository import GitRepository
from tests.review_flow.test_pre_commit_hooks import (
    CATALOG,
    HOOKS,
    UNKNOWN_KEY,
    User,
    outcomes,
    pre_commit,
)

INDEX = {"datasets.yaml": "version: 1\ninclude: ['evals/**/*.y*ml', shared.yml]\n"}
MANIFEST = CATALOG["registry/qa.yaml"]


@pytest.fixture
def user(tmp_path: Path) -> User:
    """Give a repository whose manifests are outside of `registry/`, all committed and pinned."""
    user = User(tmp_path / "user", tmp_path / "home")
    user.repository.git("rm", "--quiet", "-r", "registry")
    other = MANIFEST.replace("  qa:", "  other:")
    user.repository.write({**INDEX, "evals/a/qa.yml": MANIFEST, "shared.yml": other})
    user.lock()
    user.repository.commit()
    return user


def test_problem_in_a_manifest_outside_registry_fails(user: User) -> None:
    names = ("evals/a/qa.yml", "evals/new.yaml", "shared.yml")
    for name in names:
        text = UNKNOWN_KEY["registry/qa.yaml"].replace("  qa:", f"  {Path(name).stem}:")
        user.repository.write({name: text})
    code, out = user.run()
    assert (code, outcomes(out)[0]) == (1, "Failed"), out
    for name in names:
        assert re.search(rf"^{re.escape(name)}:4:5 .*unknown key 'licence'", out, re.MULTILINE), out


def test_commit_that_only_deletes_a_data_file_fails(user: User) -> None:
    user.repository.git("rm", "--quiet", "data/qa.csv")
    code, out = user.run()
    assert (code, outcomes(out)) == (1, ["Failed", "Failed"]), out
    assert "no file 'data/qa.csv'" in out


def test_commit_of_other_files_passes(user: User) -> None:
    user.repository.write({"src/x.py": "print()\n"})
    code, out = user.run()
    assert (code, outcomes(out)) == (0, ["Passed", "Passed"]), out


def test_hook_works_in_try_repo(user: User, tmp_path: Path) -> None:
    system = HOOKS.read_text(encoding="utf-8").replace("language: python\n", "language: system\n")
    hooks = GitRepository.make(tmp_path / "hooks", {HOOKS.name: system})
    user.repository.write({"evals/a/qa.yml": UNKNOWN_KEY["registry/qa.yaml"]})
    user.repository.git("add", "--all")
    arguments = ("try-repo", str(hooks.folder), "registry-validate")
    done = pre_commit(*arguments, cwd=user.repository.folder, home=tmp_path / "try")
    assert done.returncode == 1
    assert "evals/a/qa.yml:4:5" in done.stdout, done.stdout
