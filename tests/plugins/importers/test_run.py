"""Files of several kinds in one run."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.errors import ManifestError
from registry.plugins.importers import KINDS
from registry.plugins.importers.models import ImportOptions
from registry.plugins.importers.run import import_files
from tests.plugins.importers.support import write


def test_a_folder_skips_what_is_of_no_kind(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", "group: g\ntask: [x]\n")
    write(tmp_path, "b.yaml", "x: 1\n")
    (found,) = import_files([tmp_path], ImportOptions())
    assert (found.kind, found.file.name) == ("lm-eval", "a.yaml")


def test_a_file_of_a_folder_that_cannot_be_read_does_not_stop_the_others(tmp_path: Path) -> None:
    broken = write(tmp_path, "a.yaml", "a: {{ x }}: - b")
    write(tmp_path, "b.yaml", "include: gone.yaml\n")
    write(tmp_path, "c.yaml", "group: g\ntask: [x]\n")
    first, second, third = import_files([tmp_path], ImportOptions())
    assert (first.kind, first.imported.refused[0].name) == (None, "a.yaml")
    assert first.imported.refused[0].why.startswith(f"{broken}:1: not YAML: ")
    assert "gone.yaml: can't read the file" in second.imported.refused[0].why
    assert third.kind == "lm-eval"
    with pytest.raises(ManifestError, match="not YAML"):
        list(import_files([tmp_path, broken], ImportOptions()))


def test_a_named_file_must_be_of_a_kind(tmp_path: Path) -> None:
    file = write(tmp_path, "b.yaml", "x: 1\n")
    with pytest.raises(ManifestError, match=r"--from takes eval\.yaml, lm-eval"):
        list(import_files([file], ImportOptions()))
    (found,) = import_files([file], ImportOptions(), kind="lm-eval")
    assert found.imported.datasets == ()


def test_every_kind_has_a_module() -> None:
    folder = Path(__file__).parents[3] / "src" / "registry" / "plugins" / "importers"
    assert all((folder / f"{module}.py").is_file() for module in KINDS.values())
