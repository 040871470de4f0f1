"""Files that commands create: complete, or an error that says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.cli.new_file import write_new
from registry.errors import ManifestError


def test_folders_are_created(tmp_path: Path) -> None:
    write_new(tmp_path / "a" / "b.yaml", "é\n")
    assert (tmp_path / "a" / "b.yaml").read_text(encoding="utf-8") == "é\n"


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.symlink_to(tmp_path / "gone")
    with pytest.raises(ManifestError, match=r"a\.yaml already exists and is not overwritten"):
        write_new(file, "x")
    assert not (tmp_path / "gone").exists()


def test_a_place_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for target in (tmp_path / "file" / "a.yaml", tmp_path / "file" / "b" / "a.yaml"):
        with pytest.raises(
            ManifestError,
            match=r"can't write .*a\.yaml: .*file is a file, so it can't be the folder \(name another\)",
        ):
            write_new(target, "x")
    assert (tmp_path / "file").read_text() == "mine"
