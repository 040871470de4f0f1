"""The local files of a dataset, as a diff compares them."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.boundary.boundary import UNBOUNDED
from registry.cli import main
from registry.diff.local_files import digest_of_file, local_patterns
from registry.manifest.models import to_spec

MANIFEST = """\
version: 1
datasets:
  d: {source: {type: hf, path: ./data, split: train}, fields: {input: q, target: a}}
"""


def catalog(folder: Path, **files: str) -> Path:
    (folder / "data" / ".git").mkdir(parents=True)
    (folder / "datasets.yaml").write_text(MANIFEST, encoding="utf-8")
    for name, text in {"a.csv": "q,a\n1,2\n", **files}.items():
        (folder / "data" / name).write_text(text, encoding="utf-8")
    return folder


def test_files_that_pinning_leaves_out_are_no_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = catalog(tmp_path / "base")
    head = catalog(tmp_path / "head", **{".DS_Store": "x", ".git/HEAD": "y"})
    assert main(["diff", str(base), str(head)]) == 0, capsys.readouterr().out
    other = catalog(tmp_path / "other", **{"b.csv": "q,a\n3,4\n"})
    assert main(["diff", str(base), str(other)]) == 1


def test_patterns_are_the_local_paths_of_all_sources() -> None:
    part = {"type": "csv", "path": ["/c/a.csv", "https://host/b.csv", "file:///c/d/*.csv"]}
    keys = {
        "source": part,
        "concat": [part, {"type": "hf", "path": "a/b", "split": "t"}],
        "join": {"source": {"type": "hf", "path": "/c/folder", "split": "t"}, "on": "x", "into": "y"},
    }  # fmt: skip
    found = local_patterns(to_spec({"name": "d", "folder": Path("/c"), **keys}))
    assert found == ["/c/a.csv", "/c/d/*.csv", "/c/folder"]


def test_pointer_of_git_lfs_has_the_digest_that_it_names(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 3\n"
    path.write_text(pointer, encoding="utf-8")
    assert digest_of_file(str(path), UNBOUNDED) == f"sha256:{'a' * 64}"
    path.write_bytes(b"abc")
    assert digest_of_file(str(path), UNBOUNDED).startswith("sha256:ba7816bf")
