"""The example of a plugin is installed as any package is, and its format and command work."""

from __future__ import annotations

import os
import subprocess
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from tests.conftest import REPOSITORY

EXAMPLE = REPOSITORY / "examples" / "plugin"


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """Make an environment that has what this one has, and the example beside it."""
    folder = tmp_path / "environment"
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "registry.pth").write_text(
        f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n", encoding="utf-8"
    )
    (wheel,) = WheelBuilder(str(EXAMPLE)).build(directory=str(tmp_path), versions=["standard"])
    # What an installer does with a wheel that has only modules.
    zipfile.ZipFile(wheel).extractall(site)
    return folder / "bin" / "python"


def run(python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(python), "-m", "registry", *arguments]
    environment = {**os.environ, "REGISTRY_ROOT": str(REPOSITORY)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_example_adds_a_format_and_a_command(python: Path, tmp_path: Path) -> None:
    file = tmp_path / "demo.md"
    exported = run(python, "export", "demo-mcq-small", "--out", str(file))
    assert (exported.returncode, exported.stderr) == (0, "")
    lines = file.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "| id | input | target |"
    assert len(lines) == 2 + 10
    found = run(python, "longest", "demo-mcq-small")
    assert found.returncode == 0
    assert any(found.stdout.strip().removesuffix("\n").split(": ")[1] in line for line in lines)
    listed = run(python, "--help").stdout
    assert "longest" in listed
    assert "From registry-markdown." in listed
    assert "plugin markdown" in run(python, "doctor", "--offline").stdout


def test_example_is_short() -> None:
    lines = (EXAMPLE / "registry_markdown.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 60
