"""Fixtures of the command line: a way to run it, and two catalogs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from registry.cli import main
from tests.cli.invocation import INDEX, QA, THEIRS, Invocation, Run, write
from tests.conftest import REPOSITORY


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in this process."""

    def call(*arguments: str) -> Invocation:
        code = main(list(arguments))
        result = Invocation(code, *capsys.readouterr())
        assert "Traceback" not in result.err
        return result

    return call


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the demo datasets alone into the current folder; the whole catalog is slow to read."""
    folder = tmp_path / "demo"
    shutil.copytree(REPOSITORY / "registry" / "data", folder / "registry" / "data")
    shutil.copy(REPOSITORY / "registry" / "demo.yaml", folder / "registry")
    shutil.copy(REPOSITORY / "datasets.yaml", folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a small catalog into the current folder; `write` adds manifests to its `m/`."""
    folder = tmp_path / "catalog"
    (folder / "m").mkdir(parents=True)
    (folder / "datasets.yaml").write_text(INDEX, encoding="utf-8")
    (folder / "qa.csv").write_text("q,a\nOne?,1\nTwo?,2\nThree?,3\n", encoding="utf-8")
    write(folder, "qa", QA)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def shipped(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Include the catalog of a package in the small one; return the folder of the package."""
    package = tmp_path / "installed" / "shipped_sets"
    (package / "m").mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('it was imported')", encoding="utf-8")
    (package / "datasets.yaml").write_text("version: 1\ninclude: [m/*.yaml]\n", encoding="utf-8")
    (package / "theirs.csv").write_text("q,a\nFour?,4\nFive?,5\n", encoding="utf-8")
    write(package, "theirs", THEIRS)
    monkeypatch.syspath_prepend(package.parent)
    index = INDEX.replace("[m/*.yaml]", "[m/*.yaml, 'package:shipped_sets']")
    (own / "datasets.yaml").write_text(index, encoding="utf-8")
    return package
