"""The page on reviews shows the actual output of the commands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from registry.cli import main
from registry.diff.severity import ChangeClass

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "review.md").read_text(encoding="utf-8")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def git(*arguments: str) -> None:
    names = {"GIT_AUTHOR_NAME": "T", "GIT_COMMITTER_NAME": "T"}
    mails = {"GIT_AUTHOR_EMAIL": "t@example.org", "GIT_COMMITTER_EMAIL": "t@example.org"}
    hermetic = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    environment = {**os.environ, **names, **mails, **hermetic}
    subprocess.run(["git", *arguments], env=environment, check=True, capture_output=True)


def test_review_example_matches_the_command_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "registry" / "data", tmp_path / "c" / "registry" / "data")
    shutil.copy(ROOT / "registry" / "demo.yaml", tmp_path / "c" / "registry")
    shutil.copy(ROOT / "datasets.yaml", tmp_path / "c")
    monkeypatch.chdir(tmp_path / "c")
    git("init", "--quiet", "--initial-branch", "main")
    git("add", "--all")
    git("commit", "--quiet", "--message", "before")
    data = Path("registry", "data", "demo-mcq.csv")
    edit(data, "made for driving in a nail", "made to drive in a nail")
    edit(Path("registry", "demo.yaml"), "limit: 10", "limit: 12")
    assert main(["diff", "--build"]) == 1
    (example,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    commit = re.compile(r"\([0-9a-f]{7}\)")
    assert commit.sub("(…)", capsys.readouterr().out) == commit.sub("(…)", example)


def test_change_classes_are_listed_in_order_of_severity() -> None:
    rows = PAGE.partition("| class |")[2].partition("\n\n")[0].splitlines()[2:]
    assert tuple(row.split(" | ")[0].removeprefix("| ") for row in rows) == tuple(ChangeClass)
