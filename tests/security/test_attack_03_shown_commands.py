"""Attack 3: the commands that we show, and that people paste into CI, import from the checkout."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.review_flow.composite_action import install

PLANTED = "import pathlib; (pathlib.Path(__file__).parent / 'RAN').touch()\n"
SHOWN = [
    *REPOSITORY.glob("*.md"),
    *REPOSITORY.glob("*.yml"),
    *REPOSITORY.glob(".*.yaml"),
    *(REPOSITORY / "docs").rglob("*.md"),
    *(REPOSITORY / ".github").rglob("*.*"),
    *(REPOSITORY / "src").rglob("*.py"),
    REPOSITORY / "datasets.lock",
]
# That a text names the danger is fine: these say what must not be run.
WARNINGS = {
    "CHANGELOG.md", "SECURITY.md", "src/registry/__main__.py", "src/registry/base/packages.py",
    "src/registry/lint/stray_files.py",
}  # fmt: skip


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a catalog whose folder of manifests is a package of our name."""
    folder = tmp_path / "checkout"
    (folder / "registry").mkdir(parents=True)
    (folder / "datasets.yaml").write_text("version: 1\ninclude: [registry/*.yaml]\n", "utf-8")
    for name in ("__init__.py", "__main__.py"):
        (folder / "registry" / name).write_text(PLANTED, "utf-8")
    return folder


def test_the_commands_that_are_shown_run_the_installed_package(
    tmp_path: Path, checkout: Path
) -> None:
    _, done = install(tmp_path)
    programs = Path(done.outputs["steps.install.outputs.folder"]) / "bin"
    mark = checkout / "registry" / "RAN"
    for command in ([programs / "registry"], [programs / "python", "-I", "-m", "registry"]):
        listed = subprocess.run([*command, "list"], cwd=checkout, capture_output=True, check=False)
        assert listed.stdout.startswith(b"dataset"), listed.stderr
        assert not mark.exists()
    # What they protect from:
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONSAFEPATH"}
    subprocess.run(
        [programs / "python", "-m", "registry", "list"], cwd=checkout, env=environment, check=False
    )
    assert mark.exists()


def test_no_page_or_message_shows_another_command() -> None:
    pattern = re.compile(r"python3?(?: -(?!I\b)\w+)* -m registry\b(?!\.)")
    assert pattern.search("python -m registry list")
    assert not pattern.search("python -I -m registry list")
    found = [
        path.relative_to(REPOSITORY).as_posix()
        for path in SHOWN
        if pattern.search(path.read_text(encoding="utf-8"))
    ]
    assert set(found) <= WARNINGS
