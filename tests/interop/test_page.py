"""Every block of docs/reference/interop.md runs, where the tools that it imports are installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interop.page import PAGE, Section, sections

SECTIONS = sections(PAGE.read_text(encoding="utf-8"))


@pytest.mark.filterwarnings(  # mlcroissant uses both
    "ignore:ConjunctiveGraph is deprecated", "ignore:The inplace keyword"
)
@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.title)
def test_blocks_of_a_section_run(
    section: Section, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if section.missing:
        pytest.skip(f"not installed: {', '.join(section.missing)}")
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    names: dict[str, object] = {}
    for language, text in section.blocks:
        if language == "python":
            exec(compile(text, f"docs/reference/interop.md: {section.title}", "exec"), names)
        else:
            run_shell(text)


def run_shell(text: str) -> None:
    """Run a script in which `registry` is the command of this environment."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(
        ["sh", "-e"],
        input=text,
        env={**os.environ, "PATH": path},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_sections_are_found_with_their_blocks_and_missing_packages() -> None:
    text = (
        "# Page\n\n## One\n\n```python\nimport json\nfrom no_such.inner import x\n```\n\n### Two\n"
    )
    (section,) = sections(text + "\n```sh\ntrue\n```\n\n## Three\n")[:1]
    assert (section.title, section.missing) == ("One", ["no_such"])
    assert [one.title for one in sections(text + "\n```sh\ntrue\n```\n")] == ["One", "Two"]


def test_page_has_the_four_sections() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    named = [line for line in lines if line.startswith("## ")]
    wanted = ["## Arrow and frames", "## Tools that speak fsspec", "## Export", "## Import"]
    assert [line for line in named if line in wanted] == wanted
