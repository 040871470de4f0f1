"""Objects in a folder."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from registry.errors import CacheError
from registry.plugins.remote_cache.folder_store import FolderStore
from tests.plugins.remote_cache.store_contract import check_store


def test_it_is_a_store(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    check_store(FolderStore(folder), tmp_path)
    # Folders and files under other names are removed, too.
    assert [path.name for path in (folder / "v3").rglob("*")] == []


def test_of_many_writers_one_is_first(tmp_path: Path) -> None:
    def write(number: int) -> bool:
        return FolderStore(tmp_path).write_new("v3/a/entry.json", b"%d" % number)

    with ThreadPoolExecutor(8) as pool:
        firsts = [number for number, is_new in enumerate(pool.map(write, range(32))) if is_new]
    (first,) = firsts
    assert FolderStore(tmp_path).read("v3/a/entry.json", 10) == b"%d" % first


def test_a_folder_that_is_removed_meanwhile_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = Path.mkdir

    def mkdir(self: Path, *arguments: Any, **options: Any) -> None:
        make(self, *arguments, **options)
        monkeypatch.undo()
        FolderStore(tmp_path).remove("v3/a/old")  # as `prune` of another machine does

    monkeypatch.setattr(Path, "mkdir", mkdir)
    FolderStore(tmp_path).write("v3/a/new", b"1")
    assert FolderStore(tmp_path).read("v3/a/new", 9) == b"1"


def test_without_hard_links_what_is_there_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: object, target: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    store = FolderStore(tmp_path)
    assert store.write_new("a", b"1")
    assert not store.write_new("a", b"2")
    assert store.read("a", 9) == b"1"


def test_a_folder_that_is_not_mounted_is_not_an_empty_cache(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "missing")
    for ask in (
        lambda: store.read("a", 1),
        lambda: store.size("a"),
        lambda: store.write("a", b""),
        lambda: list(store.objects()),
    ):
        with pytest.raises(CacheError, match="there is no such folder"):
            ask()
    assert not (tmp_path / "missing").exists()


def test_a_folder_that_can_not_be_listed_is_no_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FolderStore(tmp_path)
    store.write("v2/a/entry.json", b"ours")
    for error in (FileNotFoundError, PermissionError):  # one is gone since it was listed
        monkeypatch.setattr(os, "scandir", Mock(side_effect=error))
        with pytest.raises(PermissionError) if error is PermissionError else nullcontext():
            assert list(store.objects()) == []
