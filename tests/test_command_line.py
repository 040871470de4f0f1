"""A command that is forked must do what it does as a process, or the tests that use it can't fail."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import install, run

INDEX = """\
version: 1
datasets:
  here: {source: {type: csv, path: data.csv}, fields: {input: q, target: a}}
  gone: {source: {type: csv, path: gone.csv}}
  ours: {source: {type: csv, path: data.csv}, mapper: "ours:sample"}
trust: ["ours:sample"]
"""


MAPPER = "from registry import Sample\ndef sample(record): return Sample(input='ours')\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a catalog of a file, of one that is missing, and with a mapper of a package."""
    (tmp_path / "datasets.yaml").write_text(INDEX)
    (tmp_path / "data.csv").write_text("q,a\n1,2\n")
    return tmp_path


COMMANDS: list[list[str]] = [
    ["list"],
    ["preview", "here"],
    ["show", "gone"],
    ["sync", "here"],
    ["nonsense"],
    [],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_the_outcome_is_that_of_a_process(folder: Path, arguments: list[str]) -> None:
    command = [sys.executable, "-I", "-m", "registry", *arguments]
    pipe = subprocess.PIPE
    done = subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, check=False
    )
    again = {"REGISTRY_CACHE_DIR": str(folder / "again")}
    ran = run(folder, *arguments, environment=again)
    assert ran.code == done.returncode
    for ours, theirs in ((ran.out, done.stdout), (ran.err, done.stderr)):
        # How long a build took differs.
        assert re.sub(r"\d+\.\d s", "TIME", ours) == re.sub(r"\d+\.\d s", "TIME", theirs.decode())


def test_a_command_sees_only_its_own_environment(folder: Path) -> None:
    one = {"REGISTRY_CACHE_DIR": str(folder / "one")}
    assert run(folder, "sync", "here", environment=one).code == 0
    assert (folder / "one").is_dir()
    assert str(folder / "one") not in run(folder, "cache", "path").out


def test_packages_of_one_command_are_not_those_of_the_next(folder: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "ours.py").write_text(MAPPER)
    found = run(folder, "preview", "ours", site=site)
    assert (found.code, "ours" in found.out) == (0, True), found.text
    assert run(folder, "preview", "ours").code == 1


def test_a_command_that_takes_too_long_is_killed(folder: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run(folder, "sync", timeout=0.001)
    assert run(folder, "list").code == 0


def test_an_installed_command_is_one_of_a_shell(folder: Path, tmp_path: Path) -> None:
    install(tmp_path)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "ours.py").write_text(MAPPER)
    line = "REGISTRY_CACHE_DIR=one registry preview ours | head -n 2; registry nonsense; echo $?"
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", f"cd {folder}; {line}"],
        env={**os.environ, "PATH": path, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert "no command 'nonsense'" in done.stderr
    assert done.stdout == "── sample 1\nours\n2\n"
    assert (folder / "one").is_dir()
