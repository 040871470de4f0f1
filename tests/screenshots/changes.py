"""Catalogs with something to show: the built-in datasets, mistakes, and changes to review."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.conftest import REPOSITORY

__all__ = ["broken_catalog", "builtin_catalog", "changed_catalog"]

_INDEX = "version: 1\ninclude: [registry/*.yaml]\n"
# So that the commit has the same name each time.
_DATES = {f"GIT_{who}_DATE": "2026-01-01T00:00:00Z" for who in ("AUTHOR", "COMMITTER")}
_BROKEN = """\
datasets:
  capitals:
    description: Questions about capitals.
    license: cc0-1.0
    tags: [geography, mcq]
    source:
      type: csv
      path: registry/data/capitals.csv
      delimeter: ";"
    fields:
      input: question
      choices: [A, B, C, D]
      target: {from: answer, do: [uper]}
    shuffle: true
    limit: ten
"""


def builtin_catalog(folder: Path) -> Path:
    """Write a catalog that has the built-in datasets."""
    folder.mkdir()
    text = "version: 1\ninclude: [package:registry]\n"
    (folder / "datasets.yaml").write_text(text, encoding="utf-8")
    return folder


def broken_catalog(folder: Path) -> Path:
    """Write a catalog whose manifest has mistakes."""
    (folder / "registry").mkdir(parents=True)
    (folder / "datasets.yaml").write_text(_INDEX, encoding="utf-8")
    (folder / "registry" / "capitals.yaml").write_text(_BROKEN, encoding="utf-8")
    return folder


def changed_catalog(folder: Path) -> Path:
    """Commit the demo datasets, and change their manifest and their data."""
    shutil.copytree(REPOSITORY / "registry" / "data", folder / "registry" / "data")
    manifest = folder / "registry" / "demo.yaml"
    shutil.copy(REPOSITORY / "registry" / "demo.yaml", manifest)
    (folder / "datasets.yaml").write_text(_INDEX, encoding="utf-8")
    for words in (
        ["init", "--quiet", "--initial-branch", "main"],
        ["add", "--all"],
        ["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "--quiet", "-m", "Demo"],
    ):
        subprocess.run(["git", *words], cwd=folder, env={**os.environ, **_DATES}, check=True)
    text = manifest.read_text(encoding="utf-8")
    _write(manifest, text, "seed: 42", "seed: 43")
    data = folder / "registry" / "data" / "demo-mcq.csv"
    for old, new in (
        ("two and a half hours", "three and a half hours"),
        ("In which country is the city of", "Which country has the city of"),
        ("150,130,250,120,A", "210,130,250,120,A"),
    ):
        _write(data, data.read_text(encoding="utf-8"), old, new)
    return folder


def _write(file: Path, text: str, old: str, new: str) -> None:
    if old not in text:
        raise ValueError(f"{file} has no {old!r}")
    file.write_text(text.replace(old, new), encoding="utf-8")
