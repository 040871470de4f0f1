"""What the caller and the workers of a cluster agree on, whichever cluster it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.plugins.cluster.agreement import SampleStore, facts


def test_place_is_the_shared_folder_or_the_own_one(tmp_path: Path, cache_dir: Path) -> None:
    assert SampleStore(folder=tmp_path, marker=tmp_path, push=False).cache().root == tmp_path
    assert SampleStore(folder=None, marker=tmp_path, push=True).cache().root == cache_dir


def test_facts_have_only_a_digest_of_the_remote_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert facts().remote == ""
    monkeypatch.setenv("REGISTRY_REMOTE_CACHE", "s3://user:password@host/bucket")
    assert facts().remote.startswith("sha256:")
    assert facts(tmp_path / "none").sees is False
    (tmp_path / "marker").touch()
    assert facts(tmp_path / "marker").sees is True
