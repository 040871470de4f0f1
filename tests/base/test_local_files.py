"""Names are possible on every platform; only files are opened, and by no link that leads out."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from registry.base.local_files import (
    ABSENT,
    INODE_MASK,
    NAME_PATTERN,
    FileState,
    file_stem,
    is_device,
    is_open_at,
    name_fault,
    open_beside,
    open_regular,
)
from registry.manifest.schema import read_schema

if TYPE_CHECKING:
    from collections.abc import Callable

VALID = ["a", "0", "mmlu-small", "mmlu_small", "a.b", "a..b", "console", "com", "com10", "a-"]
INVALID = {
    "Windows reserves it for a device": ["con", "CON", "nul.csv", "aux.tar.gz", "com1", "lpt9."],
    "it must not end with a dot": ["a."],
    "use at most 128 characters": ["x" * 129],
    "use lower-case letters, digits, '.', '-' and '_'": [
        *("MMLU", "a b", "a\n", "../a", ".a", "-a", "", "ａ"),
    ],
}


@pytest.mark.parametrize("name", [*VALID, "x" * 128])
def test_valid_names(name: str) -> None:
    assert name_fault(name) == ""


@pytest.mark.parametrize(
    ("name", "fault"), [(name, fault) for fault, names in INVALID.items() for name in names]
)
def test_invalid_names(name: str, fault: str) -> None:
    assert name_fault(name) == fault


def test_schemas_have_the_same_pattern() -> None:
    # That of the lock has more, see tests/manifest/test_schema.py.
    patterns = read_schema("manifest")["$defs"]["datasets"]["patternProperties"]
    assert list(patterns) == [NAME_PATTERN], json.dumps(NAME_PATTERN)


def test_split_and_member_have_names_of_files() -> None:
    stems = [file_stem(name) for name in ("qa", "qa:dev", "group/qa")]
    assert stems == ["qa", "qa+dev", "group+qa"]


@pytest.mark.parametrize(
    "file", ["con", "NUL", "aux.txt", "Lpt1.tar.gz", "com\u00b9", "COM\u00b2.csv", "prn .csv"]
)
def test_files_of_devices(file: str) -> None:
    assert is_device(file)


@pytest.mark.parametrize("file", ["", "icon", "con-1.csv", "com", "com10.csv", "x.con", "com*"])
def test_other_files(file: str) -> None:
    assert not is_device(file)


def test_a_file_and_a_link_beside_it_are_opened(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "b").symlink_to("a")
    for opener in (open_regular, open_beside):
        with opener(tmp_path / "b") as file:
            assert file.read() == b"a"


@pytest.mark.parametrize("opener", [open_regular, open_beside])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, opener: type) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(OSError, match="a device, pipe or socket"):
            opener(Path(path))
    with pytest.raises(IsADirectoryError):
        opener(tmp_path)
    with pytest.raises(FileNotFoundError):
        opener(tmp_path / "missing")


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hunter2")
    (tmp_path / "catalog").mkdir()
    link = tmp_path / "catalog" / "datasets.lock"
    link.symlink_to(tmp_path / "secret")
    with pytest.raises(OSError, match=r"it is a link to .*secret, outside its folder") as caught:
        open_beside(link)
    assert "hunter2" not in str(caught.value)
    with pytest.raises(OSError, match="symbolic link"):
        open_regular(link, follow=False)


@pytest.mark.parametrize("change", ["nothing", "removed", "replaced", "moved", "linked"])
def test_an_open_file_is_known_at_its_path(tmp_path: Path, change: str) -> None:
    folder = tmp_path.resolve() / "folder"
    folder.mkdir()
    path = folder / "file"
    path.touch()
    with open_regular(path) as file:
        if change == "removed":
            path.unlink()
        elif change == "replaced":
            (folder / "new").touch()
            (folder / "new").rename(path)
        elif change == "moved":
            folder.rename(tmp_path / "other")
        elif change == "linked":
            folder.rename(tmp_path / "other")
            folder.symlink_to("other")
        assert is_open_at(file, str(path)) == (change == "nothing")


def test_a_folder_that_is_a_link_for_a_moment_leads_to_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = tmp_path.resolve()
    inside, outside = top / "inside", top / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "file").touch()
    look = os.stat

    def look_at_the_wrong_moment(path: str, **options: Any) -> os.stat_result:
        inside.rename(top / "aside")
        inside.symlink_to(outside)
        try:
            return look(path, **options)
        finally:
            inside.unlink()
            (top / "aside").rename(inside)

    with open_regular(outside / "file") as file:
        monkeypatch.setattr(os, "stat", look_at_the_wrong_moment)
        found = is_open_at(file, str(inside / "file"))
        monkeypatch.undo()
    assert not found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return path


def test_a_path_and_its_stat_have_the_same_state(file: Path) -> None:
    stat = file.stat()
    state = FileState.of(file)
    assert state == FileState.of(str(file)) == FileState.of(stat)
    assert state[:3] == (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
    assert FileState(*json.loads(json.dumps(state))) == state


def rewrite(file: Path) -> None:
    file.write_bytes(b"new")


def replace(file: Path) -> None:
    other = file.with_name("other")
    other.write_bytes(b"new")
    other.rename(file)


@pytest.mark.parametrize("edit", [rewrite, replace])
def test_an_edit_of_equal_size_with_the_old_time_changes_the_state(
    file: Path, edit: Callable[[Path], None]
) -> None:
    before = FileState.of(file)
    time.sleep(0.02)  # a file system's clock ticks every few milliseconds
    edit(file)
    os.utime(file, ns=(before.mtime_ns, before.mtime_ns))
    after = FileState.of(file)
    assert (after.size, after.mtime_ns) == (before.size, before.mtime_ns)
    assert after != before


def test_a_missing_file_is_absent_or_an_error(tmp_path: Path) -> None:
    assert FileState.or_absent(tmp_path / "none") == ABSENT
    with pytest.raises(FileNotFoundError):
        FileState.of(tmp_path / "none")


def test_an_inode_of_64_bits_fits_a_signed_integer() -> None:
    stat = os.stat_result((0, (1 << 64) - 1, *[0] * 8))
    assert FileState.of(stat).inode == INODE_MASK == (1 << 63) - 1


@pytest.mark.parametrize(
    ("age", "racy"), [(0, True), (1.9, True), (-1.9, True), (2.5, False), (-2.5, False)]
)
def test_a_file_is_racy_for_two_seconds_around_its_time(
    monkeypatch: pytest.MonkeyPatch, age: float, racy: bool
) -> None:
    monkeypatch.setattr("time.time", lambda: 1_700_000_000 + age)
    state = FileState(1, 1_700_000_000 * 10**9, 0, 1)
    assert state.is_racy() == racy
