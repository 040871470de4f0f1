"""Best-effort files are read exactly as written, or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from registry.base.best_effort import (
    best_effort_path,
    hashed_path,
    read_best_effort,
    write_best_effort,
)

BODY = b'{"a": 1}\n{"b": 2}\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "index" / "x.catalog"
    write_best_effort(path, BODY)
    return path


@pytest.mark.parametrize("body", [b"", b"\n", BODY, bytes(range(256)), b"x" * 100_000])
def test_body_is_read_with_its_checksum(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "folder" / "x"
    write_best_effort(path, body)
    found = read_best_effort(path)
    assert found is not None
    assert (found[:-8], len(found)) == (body, len(body) + 8)


def test_writing_replaces_and_leaves_no_other_file(file: Path) -> None:
    write_best_effort(file, b"new\n")
    assert (read_best_effort(file) or b"").startswith(b"new\n")
    assert os.listdir(file.parent) == [file.name]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut": lambda data: data[:-1],
    "cut before the checksum": lambda data: data[:-8],
    "cut within the body": lambda data: data[:5],
    "longer": lambda data: data + b"0",
    "zeroed": lambda data: bytes(len(data)),
    "one byte changed": lambda data: data.replace(b"1", b"2", 1),
    "other checksum": lambda data: data[:-8] + b"00000000",
    "no checksum": lambda data: data[:-8] + b"no digit",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_counts_as_missing(file: Path, damage: str) -> None:
    file.write_bytes(DAMAGES[damage](file.read_bytes()))
    assert read_best_effort(file) is None


def test_unreadable_file_counts_as_missing(tmp_path: Path) -> None:
    assert read_best_effort(tmp_path / "missing") is None
    assert read_best_effort(tmp_path) is None


def test_unwritable_file_is_ignored(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_bytes(b"")
    write_best_effort(blocked / "below" / "x", BODY)
    assert os.listdir(tmp_path) == ["file"]


def test_a_path_is_named_by_the_hash_of_its_subject(tmp_path: Path) -> None:
    name = "83695715434eb0d5d5b75fd9ae281347293ca89187fe5d5b9df0a94df51d048a"
    path = hashed_path(Path("/catalog/datasets.yaml"), tmp_path, "catalog")
    assert path == tmp_path / f"{name}.catalog"
    assert hashed_path(Path("/other/datasets.yaml"), tmp_path, "catalog") != path
    assert hashed_path(Path("/catalog/datasets.yaml"), tmp_path, "check") != path


def test_a_subject_may_have_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    path = hashed_path(Path(os.fsdecode(b"/caf\xe9")), tmp_path, "x")
    write_best_effort(path, BODY)
    assert read_best_effort(path) is not None


def test_catalog_files_are_in_the_index_folder_of_the_cache(tmp_path: Path) -> None:
    index = Path("/catalog/datasets.yaml")
    folder = tmp_path / "v2" / "index"
    assert best_effort_path(index, tmp_path, "check") == hashed_path(index, folder, "check")
