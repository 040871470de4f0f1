"""Folders of the cache appear and disappear in one step; `meta.json` is checked for its kind."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

import msgspec
import pytest

from registry.base.cache_access import create_file
from registry.cache.folders import (
    check_meta,
    checksum,
    finish_files,
    kept_inode,
    publish_folder,
    remove_folder,
    seal,
    temporary_folder,
    unseal,
)
from registry.errors import CacheError

FINGERPRINT = "sha256:ab"
META = {
    "fingerprint": FINGERPRINT,
    "files": {"rows.npy": {"size": 3, "sha256": "c"}},
    "first_bad": None,
    "checksums": {},
    "samples": "",
}
DATA = {"text": "é", "number": 1, "list": [1, {"x": None}]}
# Numbers and text that not every parser reads, as `meta.json` quotes values of samples.
ODD = {"text": "\ud800", "number": 1 << 70, "list": [1e300, -0.0, float("inf")]}


def failing(*numbers: int) -> OSError:
    return OSError(numbers[0], os.strerror(numbers[0]))


def finished(parent: Path, content: bytes) -> Path:
    folder = parent / content.decode()
    folder.mkdir()
    (folder / "file").write_bytes(content)
    return folder


def test_temporary_folder_is_private_and_removed_with_its_content(tmp_path: Path) -> None:
    parent = tmp_path / "v1" / "tmp"
    with temporary_folder(parent) as first, temporary_folder(parent) as second:
        assert first != second
        assert {first, second} == set(parent.iterdir())
        (first / "file").write_bytes(b"x")
    assert list(parent.iterdir()) == []
    with pytest.raises(KeyError), temporary_folder(parent):
        raise KeyError
    assert list(parent.iterdir()) == []


def test_only_disk_faults_and_a_folder_that_can_not_be_created_are_cache_errors(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_bytes(b"")
    message = r"^can't write to the cache in .*REGISTRY_CACHE_DIR"
    with pytest.raises(CacheError, match=message), temporary_folder(tmp_path / "file"):
        pass
    message = f"^can't write to the cache in {tmp_path}: .*No space.*cache prune"
    with pytest.raises(CacheError, match=message), temporary_folder(tmp_path):
        raise failing(errno.ENOSPC)
    with pytest.raises(PermissionError), temporary_folder(tmp_path):
        raise failing(errno.EACCES)


def test_the_folder_above_may_be_created_by_another_thread_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, target = finished(tmp_path, b"new"), tmp_path / "samples" / "x"
    rename = os.rename

    def late(source: Path, name: Path) -> None:
        if not name.parent.exists():
            name.parent.mkdir()
            raise failing(errno.ENOENT)
        rename(source, name)

    monkeypatch.setattr(os, "rename", late)
    publish_folder(folder, target)
    assert (target / "file").read_bytes() == b"new"


def test_finished_files_get_their_mode_and_are_measured(tmp_path: Path) -> None:
    folder = finished(tmp_path, b"new")
    (folder / "file").chmod(0o644)  # of a library
    create_file(folder / "own").close()
    assert finish_files(folder) == {"file": 3, "own": 0}
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_a_folder_that_is_gone_can_not_be_finished(tmp_path: Path) -> None:
    with pytest.raises(CacheError, match=f"^can't write to the cache in {tmp_path}/gone: "):
        finish_files(tmp_path / "gone")


@pytest.mark.parametrize("kind", ["files", "folders", "file", "link", "nothing"])
def test_whatever_is_at_a_path_is_removed(tmp_path: Path, kind: str) -> None:
    path, outside = tmp_path / "path", tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    if kind == "file":
        path.touch()
    elif kind == "link":
        path.symlink_to(outside)
    elif kind != "nothing":
        (path / "inner" if kind == "folders" else path).mkdir(parents=True)
        (path / "inner" / "file" if kind == "folders" else path / "file").touch()
        (path / "link").symlink_to(outside)
    remove_folder(path, tmp_path / "tmp")
    assert not os.path.lexists(path)
    assert not (tmp_path / "tmp").exists() or os.listdir(tmp_path / "tmp") == []
    assert (outside / "kept").exists()


def test_a_folder_is_moved_into_place_unless_another_is_there(tmp_path: Path) -> None:
    first, target = finished(tmp_path, b"first"), tmp_path / "v1" / "samples" / "x"
    publish_folder(first, target)
    assert not first.exists()
    publish_folder(finished(tmp_path, b"second"), target)
    assert (target / "file").read_bytes() == b"first"
    (tmp_path / "x").write_bytes(b"")
    with pytest.raises(CacheError, match=f"^can't write to the cache in {tmp_path}: .*Not a direc"):
        publish_folder(finished(tmp_path, b"new"), tmp_path / "x")


def test_a_kept_inode_is_not_reused(tmp_path: Path) -> None:
    path = tmp_path / "entry"
    for make in (Path.mkdir, Path.touch, lambda path: path.symlink_to("nothing")):
        make(path)
        with kept_inode(path) as kept:
            for _ in range(20):
                (path.rmdir if path.is_dir() else path.unlink)()
                make(path)
                assert path.lstat().st_ino != kept
        (path.rmdir if path.is_dir() else path.unlink)()
    for name in ("nothing", "entry/nothing"):
        with kept_inode(tmp_path / name) as kept:
            assert kept is None


def test_sizes_of_the_files_are_returned() -> None:
    assert check_meta(META, "views", FINGERPRINT) == {"rows.npy": 3}


def test_meta_of_another_kind_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        check_meta(META, "records", FINGERPRINT)


def test_meta_of_another_entry_is_refused() -> None:
    with pytest.raises(ValueError, match="it describes sha256:ab"):
        check_meta(META, "views", "sha256:cd")


def test_checksum_is_that_of_xxh3() -> None:
    assert checksum(b"") == 0x2D06800538D394C2
    assert checksum(memoryview(b"abc")[1:]) == checksum(b"bc") != checksum(b"cb")


@pytest.mark.parametrize("data", [DATA, ODD])
def test_sealed_data_is_json_and_restored(data: dict[str, Any]) -> None:
    assert unseal(seal(data)) == data
    assert json.loads(seal(data)) == {**data, "checksum": seal(data)[13:29].decode()}


@pytest.mark.parametrize("bit", range(8))
def test_every_flipped_bit_is_found(bit: int) -> None:
    text = seal(DATA)
    for position in range(len(text)):
        damaged = bytearray(text)
        damaged[position] ^= 1 << bit
        with pytest.raises(ValueError, match="checksum"):
            unseal(bytes(damaged))


@pytest.mark.parametrize("text", [b"", b"{}", b"[" * 100_000, seal(DATA)[:-1], seal(DATA) + b" "])
def test_other_text_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match="checksum"):
        unseal(text)
