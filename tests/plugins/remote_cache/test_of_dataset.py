"""The remote cache of the environment, and what proves its entries."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from registry.boundary.boundary import Boundary
from registry.cache.cache import Cache
from registry.plugins.remote_cache.of_dataset import (
    RemoteSamples,
    open_remote_cache,
    remote_samples_of,
)
from registry.progress import silent
from registry.settings import Remote
from tests.plugins.remote_cache.test_remote_cache import FINGERPRINT, entry, remote


def samples(tmp_path: Path, url: str, *, offline: bool = False, reviewed: Any = None) -> Any:
    return remote_samples_of(
        Cache(tmp_path),
        Remote(url=url),
        dataset="d",
        reviewed=reviewed,
        boundary=Boundary(),
        offline=offline,
    )


def test_one_per_setting() -> None:
    remote = Remote(url="/shared", keys=(("ci", "0123456789abcdef"),))
    assert open_remote_cache(remote) is open_remote_cache(Remote(url="/shared", keys=remote.keys))
    assert open_remote_cache(remote) is not open_remote_cache(Remote(url="/shared"))


@pytest.mark.parametrize(("url", "is_asked"), [("s3://bucket", False), ("/shared", True)])
def test_offline_only_a_folder_is_asked(tmp_path: Path, url: str, is_asked: bool) -> None:
    assert (samples(tmp_path, url, offline=True) is not None) == is_asked


def test_a_view_with_ids_of_its_own_proves_nothing(tmp_path: Path) -> None:
    def pinned(*, auto_id: bool) -> int | None:
        spec = SimpleNamespace(view=SimpleNamespace(auto_id=auto_id))
        reviewed = (spec, SimpleNamespace(samples=7))
        found: int | None = samples(tmp_path, "/shared", reviewed=reviewed)._pinned
        return found

    assert (pinned(auto_id=False), pinned(auto_id=True)) == (7, None)


def test_it_fetches_what_it_has_once(tmp_path: Path) -> None:
    folder = tmp_path / "remote"
    folder.mkdir()
    one = remote(folder)
    one.push(entry(tmp_path))
    samples = RemoteSamples(one, dataset="d", pinned=2, check=lambda _: None)
    assert samples.has(FINGERPRINT)
    for path in folder.rglob("entry.json"):
        path.unlink()
    assert samples.has(FINGERPRINT)  # not asked again

    cache = Cache(tmp_path / "reader")
    assert samples.fetch(cache, FINGERPRINT, limit=None, report=silent) is not None
    # If it is gone after this, a plan must come to another decision.
    assert not samples.has(FINGERPRINT)
    assert samples.fetch(cache, FINGERPRINT, limit=None, report=silent) is None
