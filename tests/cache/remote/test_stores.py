"""Which store a URL opens, and what of it messages show."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.cache.remote.folder_store import FolderStore
from registry.cache.remote.fsspec_store import FsspecStore
from registry.cache.remote.stores import open_store, shown_without_secrets
from registry.errors import CacheError


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
