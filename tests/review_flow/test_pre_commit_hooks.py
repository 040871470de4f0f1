"""The pre-commit hooks: valid for pre-commit, and run by it on a repository with a catalog.

Their environments can't be installed without a network, so that the repository of hooks that is
used here says `language: system` in place of `python`; all else is as it ships.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import yaml

from registry.cli import main
from tests.conftest import REPOSITORY
from tests.git_repository import HERMETIC, GitRepository

HOOKS = REPOSITORY / ".pre-commit-hooks.yaml"
PAGE = (REPOSITORY / "docs" / "reference" / "review.md").read_text(encoding="utf-8")
CATALOG = {
    "datasets.yaml": "version: 1\ninclude: [registry/*.yaml]\n",
    "registry/qa.yaml": """\
datasets:
  qa:
    description: Questions.
    license: mit
    source: {type: csv, path: data/qa.csv}
    fields: {input: q, target: a}
""",
    "data/qa.csv": "q,a\nOne?,1\nTwo?,2\n",
}
UNKNOWN_KEY = {"registry/qa.yaml": CATALOG["registry/qa.yaml"].replace("license", "licence")}


def pre_commit(*arguments: str, cwd: Path, home: Path) -> subprocess.CompletedProcess[str]:
    scripts = sysconfig.get_path("scripts")
    environment = {
        **os.environ,
        **HERMETIC,
        "PATH": os.pathsep.join((scripts, os.environ["PATH"])),
        "PRE_COMMIT_HOME": str(home),
        "PRE_COMMIT_COLOR": "never",
    }
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", *arguments],
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )


def configuration(hooks: GitRepository) -> str:
    """Return the example of the manual, with the local repository of hooks."""
    (text,) = re.findall(r"```yaml\n(# \.pre-commit-config\.yaml\n.*?)```", PAGE, re.DOTALL)
    config = yaml.safe_load(text)
    config["repos"][0].update(repo=str(hooks.folder), rev=hooks.git("rev-parse", "HEAD"))
    return yaml.safe_dump(config)


class User:
    """A repository with a catalog and the hooks."""

    def __init__(self, folder: Path, home: Path) -> None:
        text = HOOKS.read_text(encoding="utf-8")
        assert text.count("language: python\n") == 2
        system = text.replace("language: python\n", "language: system\n")
        hooks = GitRepository.make(home / "hooks", {HOOKS.name: system})
        self.home = home / "pre-commit"
        self.repository = GitRepository.make(folder, CATALOG)
        self.repository.write({".pre-commit-config.yaml": configuration(hooks)})

    def lock(self) -> None:
        assert main(["lock", "--root", str(self.repository.folder)]) == 0

    def run(self, *arguments: str) -> tuple[int, str]:
        self.repository.git("add", "--all")
        done = pre_commit("run", *arguments, cwd=self.repository.folder, home=self.home)
        return done.returncode, done.stdout


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path / "user", tmp_path / "home")


def outcomes(out: str) -> list[str]:
    """Return the result of each hook, in order."""
    return re.findall(
        r"\.(Passed|Failed|Skipped)$", out.replace("(no files to check)", "."), re.MULTILINE
    )


def test_hooks_are_valid_for_pre_commit(tmp_path: Path) -> None:
    done = pre_commit("validate-manifest", str(HOOKS), cwd=REPOSITORY, home=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")


def test_problem_fails_with_its_place_and_a_hint(user: User) -> None:
    user.lock()
    user.repository.write(UNKNOWN_KEY)
    code, out = user.run("--all-files")
    assert (code, outcomes(out)) == (1, ["Failed", "Failed"]), out
    assert "- hook id: registry-validate\n- exit code: 1\n" in out
    assert re.search(
        r"^registry/qa\.yaml:4:5 .*unknown key 'licence'.*'license'", out, re.MULTILINE
    ), out


def test_changed_data_file_fails_only_the_lock_hook(user: User) -> None:
    user.lock()
    user.repository.commit()
    user.repository.write({"data/qa.csv": "q,a\nOne?,2\n"})
    code, out = user.run()
    assert (code, outcomes(out)) == (1, ["Passed", "Failed"]), out
    assert "data/qa.csv differs from its pin (`registry lock --upgrade qa --root .`" in out


def test_missing_lock_fails_with_a_hint(user: User) -> None:
    code, out = user.run("--all-files")
    assert (code, outcomes(out)) == (1, ["Passed", "Failed"]), out
    assert "datasets.lock: there is no lockfile (`registry lock --root .` writes one)" in out


def test_repository_without_a_catalog_fails(user: User) -> None:
    user.repository.git("mv", "datasets.yaml", "elsewhere.yaml")
    code, out = user.run("--all-files")
    assert (code, outcomes(out)) == (1, ["Failed", "Failed"]), out
    assert "datasets.yaml" in out


def test_args_select_a_catalog_in_a_subfolder(user: User) -> None:
    (user.repository.folder / "evals").mkdir()
    user.repository.git("mv", "datasets.yaml", "registry", "data", "evals")
    config = user.repository.folder / ".pre-commit-config.yaml"
    data = yaml.safe_load(config.read_text(encoding="utf-8"))
    for hook in data["repos"][0]["hooks"]:
        hook["args"] = ["--root", "evals"]
    config.write_text(yaml.safe_dump(data), encoding="utf-8")
    assert main(["lock", "--root", str(user.repository.folder / "evals")]) == 0
    code, out = user.run("--all-files")
    assert (code, outcomes(out)) == (0, ["Passed", "Passed"]), out


def test_both_hooks_always_run() -> None:
    for hook in yaml.safe_load(HOOKS.read_text(encoding="utf-8")):
        assert (hook["always_run"], hook["pass_filenames"]) == (True, False)
        assert hook["entry"].startswith("registry ")  # never `python -m`, which imports from here
