"""Who may read and write the cache, whatever the umask."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from registry import get_dataset
from registry.base import cache_access as cache_format
from registry.base.cache_access import (
    create_file,
    make_folder,
    make_new_folder,
    refuse_unsafe_cache,
    versioned_folder,
)
from registry.base.fs import best_effort_path, set_cached_mode
from registry.cache.cache import Cache
from registry.errors import CacheError
from tests.conftest import OneDataset


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    old = os.umask(request.param)
    yield
    os.umask(old)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("umask")
def test_folders_and_files_are_private(tmp_path: Path) -> None:
    make_folder(tmp_path / "a" / "b")
    create_file(tmp_path / "a" / "b" / "file").close()
    assert [mode(tmp_path / name) for name in ("a", "a/b", "a/b/file")] == [0o700, 0o700, 0o600]


@pytest.mark.usefixtures("umask")
@pytest.mark.parametrize("by", ["variable", "parent"])
def test_a_group_shares_them_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    if by == "variable":
        monkeypatch.setenv("REGISTRY_CACHE_GROUP", "1")
    else:
        tmp_path.chmod(0o2770)
    make_folder(tmp_path / "a" / "b")
    create_file(tmp_path / "a" / "b" / "file").close()
    assert [mode(tmp_path / name) for name in ("a", "a/b", "a/b/file")] == [0o2770, 0o2770, 0o660]


def test_a_folder_that_exists_is_kept_unless_it_must_be_new(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir(mode=0o755)
    make_folder(tmp_path / "a")
    assert mode(tmp_path / "a") == 0o755
    make_new_folder(tmp_path / "a" / "b")
    with pytest.raises(FileExistsError):
        make_new_folder(tmp_path / "a" / "b")


def test_a_file_of_a_library_gets_the_mode(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch(mode=0o666)
    set_cached_mode(path)
    assert mode(path) == 0o600


@pytest.mark.parametrize("planted", ["file", "link", "dangling link"])
def test_nothing_that_exists_is_opened(tmp_path: Path, planted: str) -> None:
    path, target = tmp_path / "path", tmp_path / "target"
    if planted != "dangling link":
        target.write_text("kept", encoding="utf-8")
    if planted == "file":
        target.rename(path)
    else:
        path.symlink_to(target)
    with pytest.raises(FileExistsError):
        create_file(path)
    assert path.exists() == (planted != "dangling link")


def test_a_cache_that_everyone_can_write_is_refused(tmp_path: Path) -> None:
    refuse_unsafe_cache(tmp_path / "missing")
    refuse_unsafe_cache(tmp_path)
    tmp_path.chmod(0o777)
    with pytest.raises(CacheError, match=f"writable by every user .*chmod o-w {tmp_path}"):
        refuse_unsafe_cache(tmp_path)


def test_a_cache_that_someone_makes_meanwhile_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads and processes open the same new cache at once; one of them makes its folder."""
    access = os.access

    def made_after_the_look(path: Path, mode: int) -> bool:
        readable = access(path, mode)
        path.mkdir(exist_ok=True)
        return readable

    monkeypatch.setattr(os, "access", made_after_the_look)
    assert versioned_folder(tmp_path).is_dir()


def test_a_cache_of_another_user_is_refused_unless_its_group_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    if tmp_path.stat().st_uid == 0:
        refuse_unsafe_cache(tmp_path)  # root's is trusted
        os.chown(tmp_path, 4712, -1)
    with pytest.raises(CacheError, match=r"belongs to another user .*set REGISTRY_CACHE_GROUP=1"):
        refuse_unsafe_cache(tmp_path)
    monkeypatch.setenv("REGISTRY_CACHE_GROUP", "1")
    refuse_unsafe_cache(tmp_path)


def test_entries_and_best_effort_files_are_in_the_folder_of_the_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cache_format.versioned_folder(tmp_path) == tmp_path / "v3"
    monkeypatch.setattr(cache_format, "CACHE_FORMAT", 7)
    assert Cache(tmp_path).blob("0") == tmp_path / "v7" / "blobs" / "0"
    catalog = best_effort_path(tmp_path / "datasets.yaml", tmp_path, "catalog")
    assert catalog.parent == tmp_path / "v7" / "index"


def test_new_version_writes_nothing_to_the_old_folder(
    one_dataset: OneDataset, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_format, "CACHE_FORMAT", 7)
    root = one_dataset({"type": "json", "path": "data.jsonl"})
    (root / "data.jsonl").write_text('{"q": "x", "a": "y"}\n', encoding="utf-8")
    get_dataset("data", root=root)
    assert [path.name for path in cache_dir.iterdir()] == ["v7"]
