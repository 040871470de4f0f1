"""Files and folders are written atomically, and a lock makes other processes wait."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from registry.base import fs
from registry.base.fs import (
    HashedFile,
    best_effort_path,
    claim,
    file_sha256,
    is_disk_fault,
    make_durable,
    read_best_effort,
    remove_leftovers,
    write_atomic,
    write_best_effort,
    write_cached,
)
from registry.cache.folders import publish_folder, temporary_folder
from tests.cache.test_folders import failing, finished

BODY = b'{"a": 1}\n{"b": 2}\n'


DISK_FAULTS = [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG]
OTHER_ERRORS = [
    *map(failing, (errno.EACCES, errno.EROFS, errno.ENOENT)),
    *(OSError("no number"), ValueError(errno.ENOSPC)),
]


def test_disk_faults() -> None:
    assert all(is_disk_fault(failing(number)) for number in DISK_FAULTS)
    assert not any(map(is_disk_fault, OTHER_ERRORS))


@pytest.mark.parametrize("parts", [[], [b""], [b"abc"], [b"abc", b"", b"d" * 3_000_000]])
def test_a_hashed_file_has_the_digest_of_its_bytes(tmp_path: Path, parts: list[bytes]) -> None:
    path = tmp_path / "file"
    with HashedFile(path) as file:
        assert file.writable()
        assert [file.write(part) for part in parts] == [len(part) for part in parts]
        assert file.tell() == sum(map(len, parts))
    assert path.read_bytes() == b"".join(parts)
    assert file.sha256 == file_sha256(path) == hashlib.sha256(b"".join(parts)).hexdigest()


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 16, 17, 100])
def test_the_digest_of_a_file_is_that_of_all_its_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(fs, "_HASHED_BYTES", 8)
    data = bytes(range(size))
    (tmp_path / "a").write_bytes(data)
    assert fs.file_sha256(tmp_path / "a") == hashlib.sha256(data).hexdigest()
    with (tmp_path / "a").open("rb") as file:
        file.read(3)
        assert fs.stream_sha256(file) == hashlib.sha256(data[3:]).hexdigest()


def test_hashed_file_counts_bytes_not_items(tmp_path: Path) -> None:
    with HashedFile(tmp_path / "file") as file:
        assert file.write(memoryview(bytes(16)).cast("q")) == 16
    assert (tmp_path / "file").stat().st_size == 16
    with pytest.raises(FileExistsError):
        HashedFile(tmp_path / "file")


def test_a_partial_write_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with HashedFile(tmp_path / "file") as file:
        write = file._file.write
        monkeypatch.setattr(file, "_file", Partial(file._file, lambda data: write(data[:3])))
        assert file.write(b"0123456789") == 10
        monkeypatch.undo()
    assert (tmp_path / "file").read_bytes() == b"0123456789"


class Partial:
    """A file that writes what a function writes."""

    def __init__(self, file: Any, write: Callable[[Any], int]) -> None:
        self.close, self.tell, self.write = file.close, file.tell, write


def test_a_file_is_written_with_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "file"
    write_atomic(path, lambda file: file.write(b"new"))
    assert path.read_bytes() == b"new"
    path.chmod(0o600)
    write_atomic(path, lambda file: file.write(b"newer"))
    assert (path.read_bytes(), path.stat().st_mode & 0o7777) == (b"newer", 0o600)
    assert os.listdir(path.parent) == ["file"]


def test_a_pipe_is_not_replaced_also_behind_a_link(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for name in ("pipe", "link"):
        with pytest.raises(FileExistsError, match=f"it is a device or a pipe: .*{name}"):
            write_atomic(tmp_path / name, lambda file: file.write(b"new"))
    for folder in (tmp_path, Path()):
        with pytest.raises(IsADirectoryError):
            write_atomic(folder, lambda file: file.write(b"new"))
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)
    assert sorted(os.listdir(tmp_path)) == ["link", "pipe"]


def test_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(file: Any) -> None:
        file.write(b"half")
        raise KeyError

    with pytest.raises(KeyError):
        write_atomic(path, fail)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_reader_sees_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    seen: list[bytes] = []

    def write(file: Any) -> None:
        file.write(b"new")
        file.flush()
        seen.append(path.read_bytes())

    with path.open("rb") as opened:
        write_atomic(path, write)
        assert (seen, opened.read(), path.read_bytes()) == ([b"old"], b"old", b"new")


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of what is synced and renamed, in this order."""
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("names of descriptors are looked up in /proc")
    events: list[str] = []
    sync, replace = os.fsync, Path.replace

    def note_sync(descriptor: int) -> None:
        events.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name.partition(".f")[0])
        sync(descriptor)

    def note_replace(path: Path, target: Path) -> Path:
        events.append("rename")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(Path, "replace", note_replace)
    return events


def test_a_file_of_the_user_is_synced_before_and_after_its_rename(
    tmp_path: Path, synced: list[str]
) -> None:
    write_atomic(tmp_path / "a" / "file", lambda file: file.write(b"new"))
    assert synced == ["", "rename", "a"]  # the temporary file has a dot and a number


@pytest.mark.parametrize("number", [errno.EINVAL, errno.EIO])
def test_only_a_broken_disk_is_an_error_of_syncing_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):  # as file systems of other machines do
            raise failing(number)

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="Input/output") if number == errno.EIO else nullcontext():
        write_atomic(tmp_path / "file", lambda file: file.write(b"new"))
    assert (tmp_path / "file").read_bytes() == b"new"


def test_nothing_of_the_cache_is_synced_unless_asked_for(tmp_path: Path, synced: list[str]) -> None:
    target = tmp_path / "v1" / "samples" / "x"
    write_cached(tmp_path / "v1" / "state", lambda file: file.write(b"new"))
    publish_folder(finished(tmp_path, b"new"), target)
    assert synced == ["rename"]
    make_durable([target, tmp_path / "v1" / "state", tmp_path / "v1" / "gone"], tmp_path)
    assert synced[1:3] == ["file", "x"]
    assert synced[3:] == ["state", "samples", "v1", tmp_path.name]


# --- what a killed process leaves ---


def test_what_is_being_written_can_not_be_claimed(tmp_path: Path) -> None:
    seen: list[bool | None] = []

    def write(file: Any) -> None:
        for path in tmp_path.iterdir():
            with claim(path) as is_free:
                seen.append(is_free)

    write_cached(tmp_path / "file", write)
    write_atomic(tmp_path / "other", write)
    assert seen.count(False) == 2
    with temporary_folder(tmp_path / "tmp") as folder:
        with claim(folder) as is_free:
            assert is_free is False
        (folder / "inner").write_bytes(b"")
    assert seen.count(True) == 1  # the finished file


def test_what_nobody_writes_can_be_claimed_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    for name in ("file", "folder"):
        with claim(tmp_path / name) as first, claim(tmp_path / name) as second:
            assert (first, second) == (True, False)


def test_nobody_can_tell_who_holds_a_link_or_nothing(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    for name in ("link", "missing"):
        with claim(tmp_path / name) as is_free:
            assert is_free is None


def test_only_leftovers_of_the_same_file_are_removed(tmp_path: Path) -> None:
    number = "0123456789abcdef" * 2
    kept = {"file", ".file", f".other.{number}", f".file.{number}0", f"file.{number}"}
    for name in (*kept, f".file.{number}"):
        (tmp_path / name).write_bytes(b"")
    remove_leftovers(tmp_path / "file")
    assert set(os.listdir(tmp_path)) == kept
    (tmp_path / f".file.{number}").write_bytes(b"")
    write_atomic(tmp_path / "file", lambda file: file.write(b"new"))
    assert set(os.listdir(tmp_path)) == kept


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


def test_a_file_that_can_not_be_read_or_written_is_ignored(tmp_path: Path) -> None:
    assert read_best_effort(tmp_path / "missing") is None
    assert read_best_effort(tmp_path) is None
    blocked = tmp_path / "file"
    blocked.write_bytes(b"")
    write_best_effort(blocked / "below" / "x", BODY)
    assert os.listdir(tmp_path) == ["file"]


def test_files_of_a_catalog_are_named_by_the_hash_of_its_index(tmp_path: Path) -> None:
    name = "83695715434eb0d5d5b75fd9ae281347293ca89187fe5d5b9df0a94df51d048a"
    path = best_effort_path(Path("/catalog/datasets.yaml"), tmp_path, "catalog")
    assert path == tmp_path / "v3" / "index" / f"{name}.catalog"
    not_utf8 = best_effort_path(Path(os.fsdecode(b"/caf\xe9")), tmp_path, "x")
    write_best_effort(not_utf8, BODY)
    assert read_best_effort(not_utf8) is not None
