"""One cache version: every file of the cache is in that version's folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry import get_dataset
from registry.base import cache_format
from registry.base.best_effort import best_effort_path
from registry.cache.cache import Cache
from tests.conftest import OneDataset


def test_different_version_has_a_different_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cache_format.versioned_folder(tmp_path) == tmp_path / "v2"
    monkeypatch.setattr(cache_format, "CACHE_FORMAT", 3)
    assert cache_format.versioned_folder(tmp_path) == tmp_path / "v3"


def test_entries_and_best_effort_files_share_the_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
