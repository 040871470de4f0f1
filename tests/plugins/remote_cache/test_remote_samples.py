"""An entry of a dataset is looked up once, and fetched once."""

from __future__ import annotations

from pathlib import Path

from registry.cache.cache import Cache
from registry.plugins.remote_cache.remote_samples import RemoteSamples
from registry.progress import silent
from tests.plugins.remote_cache.test_remote_cache import FINGERPRINT, entry, remote


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
