"""Which store a URL opens, and what of it messages show."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from registry.errors import CacheError
from registry.plugins.remote_cache.folder_store import FolderStore, Store
from registry.plugins.remote_cache.fsspec_store import FsspecStore
from registry.plugins.remote_cache.stores import (
    LimitedStore,
    NoAnswerError,
    open_store,
    public_url,
    shown_without_secrets,
)


def test_paths_are_folders_and_urls_are_file_systems(tmp_path: Path) -> None:
    assert isinstance(open_store(str(tmp_path)), FolderStore)
    assert isinstance(open_store(f"file://{tmp_path}"), FolderStore)
    assert isinstance(open_store("memory://x"), FsspecStore)


@pytest.mark.parametrize("url", ["nowhere://x", "gs://bucket/x"])
def test_a_missing_package_is_named(url: str) -> None:
    with pytest.raises(CacheError, match=r"can't open (nowhere|gs)://.*(not known|gcsfs)"):
        open_store(url)


SIGNED = "https://user:p%40ss@host/x?key=k123&sig=a%2Fb"


@pytest.mark.parametrize(
    ("url", "text", "shown"),
    [
        ("sftp://user:pa5@host/x", "no sftp://user:pa5@host/x by pa5", "no sftp://host/x by …"),
        # Parts of a URL are secret however a library shows them.
        (SIGNED, "no login with p@ss", "no login with …"),
        (SIGNED, "no login with p%40ss", "no login with …"),
        (SIGNED, "GET /x?sig=a/b&key=k123 failed", "GET /x?sig=…&key=… failed"),
        (SIGNED, "sig a/b, which is a%2Fb, is invalid", "sig …, which is …, is invalid"),
        (SIGNED, "key=k123", "key=…"),
        ("https://t0ken@host/x", "https://t0ken@host/ refuses t0ken", "https://…@host/ refuses …"),
        ("webdav://me:se/cret@host/x", "no login with se/cret@", "no login with …@"),
        ("https://host/x#s3cret", "no x#s3cret", "no x#…"),
        ("https://[::1/x", "can't open https://", "can't open https://"),
        ("/shared/team@site", "no /shared/team@site", "no /shared/team@site"),
    ],
)
def test_a_message_of_a_library_has_no_secret(url: str, text: str, shown: str) -> None:
    assert shown_without_secrets(text, url) == shown


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("/shared/what?", "/shared/what?"),
        ("s3://bucket/folder", "s3://bucket/folder"),
        ("webdav://user:pass@host/folder?token=secret", "webdav://host/folder?…"),
        ("abfs://container/folder?sig=secret#part", "abfs://container/folder?…"),
        ("https://host/folder?token=secret", "https://host/folder?…"),
        ("webdav://user:se/cret@host/folder", "webdav://***"),
        ("webdav://user:se?cret@host/folder", "webdav://***"),
        ("file:///shared/team@site", "file:///shared/team@site"),
    ],
)
def test_place_is_shown_without_secrets(url: str, shown: str) -> None:
    assert public_url(url) == shown


def failing(error: Exception) -> None:
    raise error


def test_a_result_comes_back(tmp_path: Path) -> None:
    (tmp_path / "name").write_bytes(b"data")
    assert LimitedStore(str(tmp_path), 5).call(lambda store, _: store.read("name", 9)) == b"data"


@pytest.mark.parametrize(
    ("url", "message"),
    [("nowhere://x", "can't open nowhere://"), ("/no/such/folder", "there is no such folder")],
)
def test_the_first_call_opens_it(url: str, message: str) -> None:
    one = LimitedStore(url, 5)
    with pytest.raises(NoAnswerError, match=f"^{message}"):
        one.call(lambda store, _: store.read("name", 9))


def test_an_error_of_a_library_is_named_without_secrets() -> None:
    url = "memory://user:password@host/x"
    one = LimitedStore(url, 5)
    assert "password" not in one.shown
    with pytest.raises(NoAnswerError) as raised:
        one.call(lambda *_: failing(KeyError(f"{url} refuses password")))
    assert str(raised.value).startswith("KeyError: ")
    assert "password" not in str(raised.value)


def test_the_time_limit_is_named() -> None:
    end = threading.Event()

    def hang(_: Store, __: object) -> None:
        end.wait()

    with pytest.raises(NoAnswerError, match=r"no progress for 0\.1 seconds"):
        LimitedStore("memory://x", 0.05).call(hang, factor=2)
    end.set()


class OneConnection(FolderStore):
    """A store whose library permits one call at a time."""

    is_concurrent = False


def opened(monkeypatch: pytest.MonkeyPatch, kind: type[FolderStore], root: Path) -> list[Store]:
    """Have stores of a kind opened; return those that have been."""
    stores: list[Store] = []

    def open_one(_: str) -> Store:
        stores.append(kind(root))
        return stores[-1]

    monkeypatch.setattr("registry.plugins.remote_cache.stores.open_store", open_one)
    return stores


@pytest.mark.parametrize(("kind", "count"), [(FolderStore, 1), (OneConnection, 2)])
def test_calls_at_the_same_time_share_a_store_if_its_library_permits_it(
    kind: type[FolderStore], count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = opened(monkeypatch, kind, tmp_path)
    one = LimitedStore("nowhere://x", 30)

    def outer(store: Store, _: object) -> Store:
        assert one.call(lambda inner, _: inner is store) is (count == 1)
        return store

    for _ in range(3):
        assert one.call(outer) in stores
    assert len(stores) == count


@pytest.mark.parametrize("kind", [FolderStore, OneConnection])
def test_a_store_that_failed_is_opened_again(
    kind: type[FolderStore], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = opened(monkeypatch, kind, tmp_path)
    one = LimitedStore("nowhere://x", 30)
    with pytest.raises(NoAnswerError, match="the connection is lost"):
        one.call(lambda *_: failing(OSError("the connection is lost")))
    assert one.call(lambda store, _: store) is stores[1]


def test_another_process_opens_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stores = opened(monkeypatch, FolderStore, tmp_path)
    one = LimitedStore("nowhere://x", 30)
    assert one.call(lambda store, _: store) is one.call(lambda store, _: store) is stores[0]
    monkeypatch.setattr("registry.plugins.remote_cache.stores.os.getpid", lambda: -1)
    assert one.call(lambda store, _: store) is stores[1]
