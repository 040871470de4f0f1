"""Attack 3: the commands that we show, and that people paste into CI, import from the checkout."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.git_repository import write_files
from tests.review_flow.composite_action import install
from tests.security.audit import run_audited

PLANTED = "import pathlib; (pathlib.Path(__file__).parent / 'RAN').touch()\n"
SHADOWS = ("registry/__init__.py", "registry/__main__.py")
PATTERNS = ("*.md", "*.yml", ".*.yaml", "docs/**/*.md", ".github/**/*.*", "src/**/*.py")
SHOWN = [*(path for one in PATTERNS for path in REPOSITORY.glob(one)), REPOSITORY / "datasets.lock"]
# That a text names the danger is fine: these say what must not be run.
WARNINGS = {
    "CHANGELOG.md", "SECURITY.md", "src/registry/__main__.py", "src/registry/base/locations.py",
    "src/registry/lint/stray_files.py",
}  # fmt: skip


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a catalog whose folder of manifests is a package of our name."""
    files = {
        "datasets.yaml": "version: 1\ninclude: [registry/*.yaml]\n",
        "registry/one.yaml": "datasets: {}\n",
        **dict.fromkeys(SHADOWS, PLANTED),
    }
    return write_files(tmp_path / "checkout", files)


def test_validate_reports_a_package_that_would_shadow_ours(checkout: Path) -> None:
    done = run_audited(["validate"], folder=checkout)
    assert done.code == 1
    assert not (checkout / "registry" / "RAN").exists()
    for name in SHADOWS:
        assert f"{name}:1:1: Python would import or run this file" in done.out


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
