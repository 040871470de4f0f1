"""The Makefile, the workflow of the tests and pyproject.toml name the same versions of Python."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import REPOSITORY

PROJECT: Any = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
WORKFLOW: Any = yaml.safe_load(
    (REPOSITORY / ".github" / "workflows" / "tests.yml").read_text("utf-8")
)
PYTHONS = re.findall(r"Python :: (3\.\d+)$", "\n".join(PROJECT["classifiers"]), re.MULTILINE)


def commands(*arguments: str) -> str:
    """Return what make would run in an empty checkout."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    done = subprocess.run(
        ["make", "--dry-run", "--always-make", *arguments],
        cwd=REPOSITORY,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout


def test_all_supported_versions_are_tested() -> None:
    tested = WORKFLOW["jobs"]["tests"]["strategy"]["matrix"]["python"]
    assert tested == PYTHONS
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"


def test_every_part_of_the_workflow_is_a_target() -> None:
    for part in WORKFLOW["jobs"]["parts"]["strategy"]["matrix"]["part"]:
        assert commands(part)


def test_workflow_installs_what_the_tests_run() -> None:
    steps = [str(step.get("run")) for step in WORKFLOW["jobs"]["tests"]["steps"]]
    (installed,) = [one for one in steps if "apt-get install" in one]
    assert {"strace", "zsh", "fish"} <= set(installed.split())


def test_every_python_has_an_environment_of_its_own() -> None:
    default, named = commands("check"), commands("check", "PYTHON=/opt/bin/python3.12")
    assert ".venv/bin/python -m pytest" in default
    assert ".venv-python3.12/bin/python -m pytest" in named
    assert not re.search(r"\.venv[ /]", named), "the environment of the default Python is untouched"


def test_lowest_versions_have_an_environment_of_their_own() -> None:
    text = commands("lowest")
    assert "--resolution lowest-direct" in text
    assert ".venv-lowest/bin/python -m pytest" in text
    assert not re.search(r"\.venv[ /]", text)


def test_tools_that_read_datasets_have_exact_versions() -> None:
    text = commands("interop")
    pinned = set(re.findall(r"\s([\w-]+)==\d[\d.]*\d(?=\s)", text))
    assert {"pyarrow", "pandas", "datasets", "polars", "duckdb", "mlcroissant"} <= pinned
    assert ".venv-interop/bin/python -m pytest" in text
    assert not re.search(r"\.venv[ /]", text)


def test_browser_has_an_environment_with_exact_versions() -> None:
    text = commands("browser")
    pinned = set(re.findall(r"\s([\w-]+)==\d[\d.]*\d(?=\s)", text))
    assert pinned == {"playwright", "axe-playwright-python", "cmarkgfm", "pillow"}
    assert ".venv-browser/bin/python -m pytest" in text
    assert not re.search(r"\.venv[ /]", text)


def test_quick_part_names_tests() -> None:
    (line,) = [one for one in commands("quick").splitlines() if "-m pytest" in one]
    named = re.findall(r"tests/\S+", line)
    assert len(named) > 5
    assert [one for one in named if not Path(REPOSITORY, one).exists()] == []


def test_newest_python_runs_the_quick_part_in_an_environment_of_its_own() -> None:
    text = commands("newest", "NEWEST=/opt/bin/python3.13")
    (line,) = [one for one in text.splitlines() if "-m pytest" in one]
    quick = commands("quick", "WORKERS=0").splitlines()
    (quick_line,) = [one for one in quick if "-m pytest" in one]
    assert line == quick_line.replace(".venv/", ".venv-python3.13/")
    assert "REGISTRY_EXAMPLES=few" in text
    assert not re.search(r"\.venv[ /]", text)


@pytest.mark.parametrize(
    "target",
    ["lint", "audit", "test", "parity", "inspect", "interop", "browser", "lowest", "newest"],
)
def test_ci_runs_the_target(target: str) -> None:
    text = (REPOSITORY / ".ci" / "run").read_text("utf-8")
    assert re.search(rf"^[^#]*\bmake\b.*\b{target}\b", text, re.MULTILINE)
