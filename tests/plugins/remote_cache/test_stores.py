"""Which store a URL opens, and what of it messages show."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.errors import CacheError
from registry.plugins.remote_cache.folder_store import FolderStore
from registry.plugins.remote_cache.fsspec_store import FsspecStore
from registry.plugins.remote_cache.stores import open_store, public_url, shown_without_secrets


def test_paths_are_folders_and_urls_are_file_systems(tmp_path: Path) -> None:
    assert isinstance(open_store(str(tmp_path)), FolderStore)
    assert isinstance(open_store(f"file://{tmp_path}"), FolderStore)
    assert isinstance(open_store("memory://x"), FsspecStore)


@pytest.mark.parametrize("url", ["nowhere://x", "gs://bucket/x"])
def test_a_missing_package_is_named(url: str) -> None:
    with pytest.raises(CacheError, match=r"can't open (nowhere|gs)://.*(not known|gcsfs)"):
        open_store(url)


def test_messages_have_no_secret() -> None:
    url = "sftp://user:pa55word@host/folder"
    text = shown_without_secrets(f"can't reach {url} with pa55word", url)
    assert text == "can't reach sftp://host/folder with …"


@pytest.mark.parametrize(
    "text",
    [
        "no login with p@ss",
        "no login with p%40ss",
        "GET /x?sig=a/b&key=k123 failed",
        "sig a/b, which is a%2Fb, is invalid",
        "key=k123",
    ],
)
def test_parts_of_a_url_are_secret_however_a_library_shows_them(text: str) -> None:
    url = "https://user:p%40ss@host/x?key=k123&sig=a%2Fb"
    shown = shown_without_secrets(text, url)
    assert "…" in shown
    assert not any(one in shown for one in ("p@ss", "p%40ss", "k123", "a/b", "a%2Fb"))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("/shared/what?", "/shared/what?"),
        ("s3://bucket/folder", "s3://bucket/folder"),
        ("webdav://user:pass@host/folder?token=secret", "webdav://host/folder?…"),
        ("abfs://container/folder?sig=secret#part", "abfs://container/folder?…"),
        ("https://host/folder?token=secret", "https://host/folder?…"),
    ],
)
def test_place_is_shown_without_secrets(url: str, shown: str) -> None:
    assert public_url(url) == shown
