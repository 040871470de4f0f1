"""The local files of a dataset, as a diff compares them."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from registry.boundary.boundary import UNBOUNDED, Boundary
from registry.cli import main
from registry.diff.local_files import (
    FileDigest,
    common_digests,
    digest_of_file,
    files_of,
    local_patterns,
    moved_files,
)
from registry.errors import ReachError
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


POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 3\n"


@pytest.mark.parametrize(
    ("text", "is_pointer"),
    [
        (POINTER, True),
        (f"{POINTER}q,a\n", False),
        (f"# {POINTER}", False),
        (POINTER.replace("oid", "x y\noid"), False),
        (POINTER.removesuffix("size 3\n"), False),
        ("abc", False),
    ],
)
def test_pointer_of_git_lfs_is_the_complete_file(
    tmp_path: Path, text: str, is_pointer: bool
) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text, encoding="utf-8")
    found = digest_of_file(str(path), UNBOUNDED)
    assert found.own == f"sha256:{sha256(text.encode()).hexdigest()}"
    assert found.pointed == (f"sha256:{'a' * 64}" if is_pointer else "")


def test_pointer_in_place_of_data_is_a_change() -> None:
    data, pointer = FileDigest("d"), FileDigest("p", "d")
    assert common_digests({"x": pointer}, {"x": data}) == ({"x": "d"}, {"x": "d"})
    assert common_digests({"x": pointer}, {"x": pointer}) == ({"x": "d"}, {"x": "d"})
    assert common_digests({}, {"x": pointer}) == ({}, {"x": "d"})
    # Without Git LFS, what is read from now on is the text of the pointer.
    assert common_digests({"x": data}, {"x": pointer}) == ({"x": "d"}, {"x": "p"})


def test_files_outside_are_not_listed(tmp_path: Path) -> None:
    for name in ("in/a.csv", "out/b.csv"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("q\n")
    (tmp_path / "in" / "link.csv").symlink_to(tmp_path / "out" / "b.csv")
    boundary = Boundary().allowing([str(tmp_path / "in")])
    for pattern in ("in/*.csv", "in"):
        with pytest.raises(ReachError, match="outside the catalog's folder"):
            files_of(f"{tmp_path}/{pattern}", boundary)
    (tmp_path / "in" / "link.csv").unlink()
    for pattern in ("in/*.csv", "in"):
        assert files_of(f"{tmp_path}/{pattern}", boundary) == [f"{tmp_path}/in/a.csv"]
    for pattern in ("*/*.csv", "out/b.csv", "out", "in/../out/*"):
        assert files_of(f"{tmp_path}/{pattern}", boundary) == []


def test_moved_files_are_paired_one_to_one_by_their_bytes() -> None:
    old = {"a": "1", "b": "1", "c": "2", "same": "3"}
    new = {"d": "1", "e": "1", "f": "1", "g": "4", "same": "3"}
    assert moved_files(old, new) == {"d": "a", "e": "b"}
