"""Entries of the changelog: each file of `changes` has a known kind, and sentences for users."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

CONFIG = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["tool"]["towncrier"]
KINDS = [kind["directory"] for kind in CONFIG["type"]]
FRAGMENTS = sorted(
    path
    for path in (REPOSITORY / "changes").iterdir()
    if path.name not in {"README.md", ".gitignore"}
)
LONGEST = 600
MOST_LINES = 120  # of the part on the first release, which is all there is


def faults(name: str, text: str) -> list[str]:
    """Return what is wrong with an entry, for its author."""
    found = []
    if not re.fullmatch(rf"\+[a-z0-9-]+\.({'|'.join(KINDS)})\.md", name):
        found.append(f"the name is not +SLUG.KIND.md, with KIND of {', '.join(KINDS)}")
    if not re.match(r"[A-Z`\[]", text):
        found.append("it does not begin as a sentence does")
    if not text.rstrip().endswith((".", ").")) or text.rstrip().endswith(".."):
        found.append("it does not end with a full stop")
    if len(text) > LONGEST:
        found.append(f"it has more than {LONGEST} characters")
    if re.search(r"^(#|[-*] )", text, re.MULTILINE):
        found.append("it is text without headings and lists")
    return found


def test_entries_are_sentences_of_a_known_kind() -> None:
    found = {path.name: faults(path.name, path.read_text("utf-8")) for path in FRAGMENTS}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("+a.new.md", "A text.", "KIND"),
        ("a.added.md", "A text.", "KIND"),
        ("+a.added.md", "", "begin"),
        ("+a.added.md", "a text.", "begin"),
        ("+a.added.md", "A text", "full stop"),
        ("+a.added.md", "- A text.", "lists"),
        ("+a.added.md", "A text. " * 100, "characters"),
    ],
)
def test_faults_of_entries_are_found(name: str, text: str, fault: str) -> None:
    assert any(fault in one for one in faults(name, text))


def test_entries_become_a_part_above_the_earlier_ones(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(REPOSITORY / name, tmp_path)
    for number, kind in enumerate(KINDS):
        (tmp_path / "changes").mkdir(exist_ok=True)
        (tmp_path / "changes" / f"+{number}.{kind}.md").write_text(f"Text {number}.\n", "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "towncrier", "build", "--yes", "--version", "9.9.9"],
        cwd=tmp_path, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    before = (REPOSITORY / "CHANGELOG.md").read_text("utf-8")
    after = (tmp_path / "CHANGELOG.md").read_text("utf-8")
    head, _, earlier = before.partition("release notes start -->\n")
    assert after.startswith(head)
    assert after.endswith(earlier.lstrip("\n"))
    part = after.removeprefix(head).removesuffix(earlier.lstrip("\n"))
    assert re.findall(r"^## 9\.9\.9 \(.+\)$|^### \w+$|^- Text \d\.$", part, re.MULTILINE)[1:] == [
        line
        for number, kind in enumerate(KINDS)
        for line in (f"### {kind.title()}", f"- Text {number}.")
    ]


def test_changelog_is_short_enough_to_be_read() -> None:
    first = (REPOSITORY / "CHANGELOG.md").read_text("utf-8").partition("### What 0.1.0")[2]
    assert 0 < len(first.splitlines()) <= MOST_LINES
