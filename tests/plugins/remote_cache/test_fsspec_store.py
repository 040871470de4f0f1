"""Objects behind fsspec: S3, and file systems without a conditional request."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from registry.errors import CacheError
from registry.plugins.remote_cache.fsspec_store import FsspecStore, _time_of
from registry.plugins.remote_cache.stores import LimitedStore, open_store
from tests.conftest import S3
from tests.plugins.remote_cache.store_contract import check_store
from tests.servers.stores import KINDS, StoreServers


def test_s3(s3: S3, tmp_path: Path) -> None:
    s3.bucket("remote-cache")
    check_store(FsspecStore("s3://remote-cache/inner/folder"), tmp_path)


def test_of_many_writers_s3_chooses_one(s3: S3) -> None:
    s3.bucket("remote-cache")
    store = FsspecStore("s3://remote-cache")

    def write(number: int) -> bool:
        return store.write_new("v3/a/entry.json", b"%d" % number)

    with ThreadPoolExecutor(4) as pool:
        firsts = [number for number, is_new in enumerate(pool.map(write, range(12))) if is_new]
    (first,) = firsts
    assert store.read("v3/a/entry.json", 10) == b"%d" % first


def test_a_missing_bucket_is_no_empty_cache(s3: S3) -> None:
    store = FsspecStore("s3://no-such-bucket/x")
    with pytest.raises(CacheError, match="there is no such bucket"):
        store.read("a", 1)


def test_a_server_that_does_not_answer_is_no_empty_cache() -> None:
    store = FsspecStore("http://127.0.0.1:1/x")
    for ask in (lambda: store.size("a"), lambda: list(store.objects())):
        with pytest.raises(OSError, match="Cannot connect to host"):
            ask()


@pytest.fixture(params=KINDS)
def url(
    request: pytest.FixtureRequest, store_servers: StoreServers, monkeypatch: pytest.MonkeyPatch
) -> str:
    """Give an empty place on the server of each kind."""
    return store_servers.open(request.param, monkeypatch)


# aiohttp has it of the bodies that gcsfs and adlfs send; Python shows it to nobody.
LARGE_BODIES = pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")


@LARGE_BODIES
def test_other_servers(url: str, tmp_path: Path) -> None:
    check_store(open_store(url), tmp_path)


@pytest.mark.parametrize("kind", ["gcs", "azure", "sftp"])
def test_of_many_writers_each_finds_a_complete_object(
    kind: str, store_servers: StoreServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = store_servers.open(kind, monkeypatch)
    shared = LimitedStore(url, 30)
    texts = [b"%d" % number * 10_000 for number in range(8)]

    def write(text: bytes) -> bool:
        shared.call(lambda store, _: store.write("v3/a/data", text))
        return shared.call(lambda store, _: store.write_new("v3/a/entry.json", text))

    with ThreadPoolExecutor(4) as pool:
        firsts = [
            text for text, is_new in zip(texts, pool.map(write, texts), strict=True) if is_new
        ]
    store = open_store(url)
    assert {one.name for one in store.objects()} == {"v3/a/data", "v3/a/entry.json"}
    assert store.read("v3/a/data", 1 << 20) in texts
    assert store.read("v3/a/entry.json", 1 << 20) in firsts
    if kind != "sftp":
        assert len(firsts) == 1


@pytest.mark.parametrize("kind", ["gcs", "azure"])
def test_a_missing_bucket_of_others_is_no_empty_cache(
    kind: str, store_servers: StoreServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = store_servers.open(kind, monkeypatch)
    assert open_store(url).read("a", 1) is None
    with pytest.raises(CacheError, match="there is no such bucket"):
        open_store(url.replace("remote-", "missing-")).read("a", 1)


@pytest.fixture
def memory() -> FsspecStore:
    """Give a file system without a conditional request, which renames."""
    MemoryFileSystem.store.clear()
    MemoryFileSystem.pseudo_dirs[:] = [""]
    return FsspecStore("memory://shared")


def test_a_file_system_that_renames(memory: FsspecStore, tmp_path: Path) -> None:
    check_store(memory, tmp_path)


def test_a_folder_that_can_not_be_listed_is_no_empty_one(
    memory: FsspecStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.write("v2/a/entry.json", b"ours")
    found = MemoryFileSystem.ls

    def ls(self: Any, path: str, **options: Any) -> Any:
        if path.endswith("/a"):
            raise PermissionError(path)
        return found(self, path, **options)

    monkeypatch.setattr(MemoryFileSystem, "ls", ls)
    with pytest.raises(PermissionError):
        list(memory.objects())


def test_of_two_writers_that_rename_the_slower_one_gives_way(
    memory: FsspecStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_faster = True

    def move(_: object, source: str, target: str) -> None:
        if is_faster:
            MemoryFileSystem().pipe_file(target, b"of the other")
        raise RuntimeError("the name is taken")

    monkeypatch.setattr(MemoryFileSystem, "mv", move)
    memory.write("v3/a/entry.json", b"ours")
    assert memory.read("v3/a/entry.json", 100) == b"of the other"
    assert [one.name for one in memory.objects()] == ["v3/a/entry.json"]
    is_faster = False
    with pytest.raises(RuntimeError, match="the name is taken"):
        memory.write("v3/a/entry.json", b"ours")
    assert list(memory.objects()) == []


def test_a_name_that_other_writers_take_and_leave_again_is_tried_again(
    memory: FsspecStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    move, turns = MemoryFileSystem.mv, iter(range(10))

    def busy_move(self: Any, source: str, target: str) -> None:
        if next(turns, None) is not None:  # it was removed again before anybody can see it
            raise RuntimeError("the name is taken")
        move(self, source, target)

    monkeypatch.setattr(MemoryFileSystem, "mv", busy_move)
    memory.write("v3/a/entry.json", b"ours")
    assert memory.read("v3/a/entry.json", 100) == b"ours"
    assert [one.name for one in memory.objects()] == ["v3/a/entry.json"]


NOW = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.mark.parametrize(
    "info",
    [
        *({"LastModified": NOW}, {"mtime": NOW.timestamp()}, {"modified": NOW}),
        {"updated": "2026-11-22T00:00:00Z"},
    ],
)
def test_times_of_file_systems(info: dict[str, Any]) -> None:
    assert _time_of(info) == NOW.timestamp()


def test_without_times_nothing_has_an_age() -> None:
    with pytest.raises(CacheError, match="when its objects were written"):
        _time_of({"size": 1})
