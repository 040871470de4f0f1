"""The page on reviews shows the actual output of the commands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from registry.cli import main
from tests.cli.conftest import demo
from tests.git_repository import GitRepository

__all__ = ["demo"]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "review.md").read_text(encoding="utf-8")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_review_example_matches_the_command_output(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    GitRepository.of(demo).commit()
    data = Path("registry", "data", "demo-mcq.csv")
    edit(data, "made for driving in a nail", "made to drive in a nail")
    edit(Path("registry", "demo.yaml"), "limit: 10", "limit: 12")
    assert main(["diff", "--build"]) == 1
    (example,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    commit = re.compile(r"\([0-9a-f]{7}\)")
    assert commit.sub("(…)", capsys.readouterr().out) == commit.sub("(…)", example)
