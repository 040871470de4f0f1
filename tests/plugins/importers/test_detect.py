"""Kinds of files by name and content."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.errors import ManifestError
from registry.plugins.importers.detect import detect_kind, files_of
from tests.plugins.importers.support import write


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("eval.yaml", "tasks: [{}]", "eval.yaml"),
        ("arc.yaml", "task: arc\ndataset_path: x", "lm-eval"),
        ("datasets.yaml", "version: 1\ninclude: [registry/*.yaml]", None),
        ("catalog.yml", "sources: {a: {driver: csv}}", "intake"),
        ("catalog.yml", "a: {type: pandas.CSVDataset}\n_b: 1", "kedro"),
        ("other.yaml", "a: 1", None),
        ("other.yaml", "[]", None),
        ("README.md", "---\nconfigs: []\n---\n", "hub-readme"),
        ("README.md", "# Hello", None),
        ("c.json", '{"@type": "sc:Dataset", "recordSet": []}', "croissant"),
        ("data.json", "[1]", None),
        ("task.py", "from inspect_ai.dataset import csv_dataset\ncsv_dataset('x')", "inspect"),
        ("other.py", "print()", None),
    ],
)
def test_kinds(tmp_path: Path, name: str, text: str, kind: str | None) -> None:
    assert detect_kind(write(tmp_path, name, text)) == kind


def test_a_folder_gives_its_files_in_order(tmp_path: Path) -> None:
    for name in ("b/x.yaml", "a.yml", "c.txt", ".git/y.yaml", "b/__pycache__/z.py"):
        write(tmp_path, name, "")
    found = [file.relative_to(tmp_path).as_posix() for file in files_of(tmp_path)]
    assert found == ["a.yml", "b/x.yaml"]


def test_a_path_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="no such file or folder"):
        list(files_of(tmp_path / "gone"))
