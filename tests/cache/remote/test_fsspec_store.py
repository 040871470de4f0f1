"""Objects behind fsspec: S3, and file systems without a conditional request."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from registry.cache.remote.fsspec_store import FsspecStore, _time_of
from registry.cache.remote.stores import open_store
from registry.errors import CacheError
from tests.cache.remote.store_contract import check_store
from tests.conftest import S3


def test_s3(s3: S3, tmp_path: Path) -> None:
    s3.bucket("shared-cache")
    check_store(FsspecStore("s3://shared-cache/inner/folder"), tmp_path)


def test_of_many_writers_s3_chooses_one(s3: S3) -> None:
    s3.bucket("shared-cache")
    store = FsspecStore("s3://shared-cache")

    def write(number: int) -> bool:
        return store.write_new("v2/a/entry.json", b"%d" % number)

    with ThreadPoolExecutor(4) as pool:
        firsts = [number for number, is_new in enumerate(pool.map(write, range(12))) if is_new]
    (first,) = firsts
    assert store.read("v2/a/entry.json", 10) == b"%d" % first


def test_a_missing_bucket_is_no_empty_cache(s3: S3) -> None:
    store = FsspecStore("s3://no-such-bucket/x")
    with pytest.raises(CacheError, match="there is no such bucket"):
        store.read("a", 1)


@pytest.fixture
def webdav(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Start a WebDAV server, and set what its client needs."""
    wsgi = pytest.importorskip("wsgidav.wsgidav_app", reason="wsgidav is not installed")
    cheroot = pytest.importorskip("cheroot.wsgi", reason="cheroot is not installed")
    pytest.importorskip("webdav4.fsspec", reason="webdav4[fsspec] is not installed")
    (tmp_path / "served").mkdir()
    app = wsgi.WsgiDAVApp(
        {
            "provider_mapping": {"/": str(tmp_path / "served")},
            "simple_dc": {"user_mapping": {"*": True}},
            "verbose": 0,
            "logging": {"enable": False},
        }
    )
    server = cheroot.Server(("127.0.0.1", 0), app)
    server.prepare()
    thread = Thread(target=server.serve)
    thread.start()
    import fsspec.config

    monkeypatch.setitem(
        fsspec.config.conf, "webdav", {"base_url": f"http://127.0.0.1:{server.bind_addr[1]}"}
    )
    yield "webdav://team/cache"
    server.stop()
    thread.join()


def test_webdav(webdav: str, tmp_path: Path) -> None:
    check_store(open_store(webdav), tmp_path)


def test_a_file_system_that_renames(tmp_path: Path) -> None:
    from fsspec.implementations.memory import MemoryFileSystem

    MemoryFileSystem.store.clear()
    MemoryFileSystem.pseudo_dirs[:] = [""]
    check_store(FsspecStore("memory://shared"), tmp_path)


def test_of_two_writers_that_rename_the_slower_one_gives_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fsspec.implementations.memory import MemoryFileSystem

    MemoryFileSystem.store.clear()
    store = FsspecStore("memory://shared")
    is_faster = True

    def move(_: object, source: str, target: str) -> None:
        if is_faster:
            MemoryFileSystem().pipe_file(target, b"of the other")
        raise RuntimeError("the name is taken")

    monkeypatch.setattr(MemoryFileSystem, "mv", move)
    store.write("v2/a/entry.json", b"ours")
    assert store.read("v2/a/entry.json", 100) == b"of the other"
    assert [one.name for one in store.objects()] == ["v2/a/entry.json"]
    is_faster = False
    with pytest.raises(RuntimeError, match="the name is taken"):
        store.write("v2/a/entry.json", b"ours")
    assert list(store.objects()) == []


NOW = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.mark.parametrize(
    "info",
    [
        {"LastModified": NOW},
        {"mtime": NOW.timestamp()},
        {"modified": NOW},
        {"updated": "2026-11-22T00:00:00Z"},
    ],
)
def test_times_of_file_systems(info: dict[str, Any]) -> None:
    assert _time_of(info) == NOW.timestamp()


def test_without_times_nothing_has_an_age() -> None:
    with pytest.raises(CacheError, match="when its objects were written"):
        _time_of({"size": 1})
